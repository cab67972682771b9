"""The nodes that policy describes hold all workers of the run at once.

Quota is policy, not capacity: with fewer nodes the run is admitted and its pods wait for nodes that don't come.

Breaks:

    compute: {gpus: 4, workers: 5}

Mends:

    compute: {gpus: 4, workers: 2}

Source: Cluster.spec.nodePools; Kueue admits by quota alone (flavorassigner.go).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.resolve.run import ResolvedRun
from taugen.validate.rules.run import _nodes as nodes

ID = "nodes-too-few"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """Workers against the node pools of each flavor that they may get."""
    if run.nodes == 1:
        return
    wanted = nodes.requests(run)
    held = [(nodes.held(flavor.pools, wanted), flavor.name) for flavor in nodes.flavors(run, policy)]
    known = [(most, name) for most, name in held if most is not None]
    if not known or len(known) < len(held) or max(known)[0] >= run.nodes:
        return
    most, name = max(known)
    text = f"the nodes of flavor {name} on {run.cluster} hold {most} such pods, and the run has {run.nodes}"
    origin = policy.clusters[run.cluster].span(("nodePools",), key=True)
    yield run.doc.finding(ID, nodes.count_path(run), text, hint=f"ask for {most} or less", severity=Severity.WARNING, origin=origin)
