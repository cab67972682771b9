"""A flavor has nodes.

Kueue writes the labels of the flavor into the pods that it admits there. If no node has them all, the pods stay Pending, hold their
quota, and nothing says why.

Breaks:

    kind: Flavor
    metadata: {name: spare}
    spec:
      clusters: [mesa]
      nodeLabels: {tern.example/nodes: generic}

Mends:

    kind: Flavor
    metadata: {name: spare}
    spec:
      clusters: [mesa]
      nodeLabels: {tern.example/nodes: general}

Source: Kueue podset.go (nodeSelector from the flavor); seen with Kueue 0.19.2
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy import model
from taugen.policy.nodes import nodeless
from taugen.policy.set import Item, Policy, node_labels

ID = "flavor-without-nodes"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, one for each flavor. Clusters that list no node pools say nothing."""
    for _, flavor in sorted(policy.flavors.items()):
        clusters = nodeless(policy, flavor)
        if clusters:
            yield _finding(flavor, clusters)


def _finding(flavor: Item[model.Flavor], clusters: list[Item[model.Cluster]]) -> Diagnostic:
    """At the label that the nearest pool lacks."""
    wanted = flavor.spec.nodeLabels
    pools = [(c, p) for c in clusters for p in c.spec.nodePools]
    cluster, pool = max(pools, key=lambda entry: (*_nearness(wanted, entry[1]), entry[1].name))
    labels = node_labels(pool)
    lacks = [key for key in wanted if labels.get(key) != wanted[key]]
    text = ", ".join(f"{key}={value}" for key, value in wanted.items())
    message = f"no node pool of cluster {' or '.join(c.name for c in clusters)} has the labels of {flavor.label}: {text}"
    has = ", ".join(f"{key}={labels[key]}" if key in labels else f"no {key}" for key in lacks)
    origin = cluster.span(("nodePools", cluster.spec.nodePools.index(pool), "labels"), key=True)
    return flavor.finding(ID, ("nodeLabels", lacks[0]), message, hint=f"the nearest is pool {pool.name}, which has {has}", origin=origin)


def _nearness(wanted: dict[str, str], pool: model.NodePool) -> tuple[int, float]:
    """How many labels a pool has as wanted, and how alike the values of the others are: `generl` means the pool of `general`."""
    from difflib import SequenceMatcher

    labels = node_labels(pool)
    alike = sum(SequenceMatcher(None, labels.get(key, ""), value).ratio() for key, value in wanted.items())
    return sum(labels.get(key) == value for key, value in wanted.items()), alike
