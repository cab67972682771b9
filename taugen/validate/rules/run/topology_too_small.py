"""All pods fit into one domain of the topology that they must share.

A required topology is never relaxed: if no domain holds all pods, the run waits for ever.

Breaks:

    compute: {gpus: 8, workers: 2}
    policy: {topology: same-host}

Mends:

    compute: {gpus: 8, workers: 2}
    policy: {preferred_topology: same-host}

Source: Kueue tas_flavor_snapshot.go (required podset topology).
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.resolve.flavors import FlavorView
from taugen.resolve.run import ResolvedRun
from taugen.validate.rules.run import _nodes as nodes
from taugen.words import Path

ID = "topology-too-small"

HOST = "kubernetes.io/hostname"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """Workers against the largest domain, where policy describes the nodes of each."""
    wish = run.placement.topology
    if wish is None or wish[0] != "required" or run.nodes == 1:
        return
    wanted = nodes.requests(run)
    found = [_largest(flavor, wish[1], wanted) for flavor in nodes.flavors(run, policy)]
    known = [most for most in found if most is not None]
    if not known or len(known) < len(found) or max(known) >= run.nodes:
        return
    order: tuple[Path, ...] = (("policy", "topology"), ("execution", "nodes"), ("compute", "workers"))
    path = next((p for p in order if run.doc.has(p)), ("policy", "profile"))
    text = f"all {run.nodes} pods must share one {wish[1]}, and the largest holds {max(known)} of them"
    hint = f"ask for {max(known)} or less, or for a wider topology" if max(known) else "ask for less, or for a wider topology"
    yield run.doc.finding(ID, path, text, hint=hint, origin=policy.clusters[run.cluster].span(("nodePools",), key=True))


def _largest(flavor: FlavorView, label: str, wanted: Mapping[str, Decimal]) -> int | None:
    """Pods in the largest domain; None where policy does not say which nodes share one."""
    if not flavor.pools:
        return None
    if label == HOST:
        each = [nodes.per_node(pool, wanted) for pool in flavor.pools if pool.count]
        return None if any(most is None for most in each) else max((most for most in each if most is not None), default=0)
    if any(label not in pool.labels for pool in flavor.pools):
        return None
    domains = [[p for p in flavor.pools if p.labels[label] == value] for value in {p.labels[label] for p in flavor.pools}]
    held = [nodes.held(pools, wanted) for pools in domains]
    return None if any(most is None for most in held) else max(most for most in held if most is not None)
