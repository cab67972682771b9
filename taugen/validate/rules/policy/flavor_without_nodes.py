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
from taugen.policy.set import Item, Policy, matches, node_labels

ID = "flavor-without-nodes"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, one for each flavor. Clusters that list no node pools say nothing."""
    for _, flavor in sorted(policy.flavors.items()):
        named = flavor.spec.clusters
        known = [c for name, c in sorted(policy.clusters.items()) if c.spec.nodePools and (named is None or name in named)]
        empty = [c for c in known if not any(matches(flavor.spec, pool) for pool in c.spec.nodePools)]
        anywhere = named is None and (len(empty) < len(policy.clusters) or policy.lost("Cluster"))
        if empty and not anywhere:
            yield _finding(flavor, empty)


def _finding(flavor: Item[model.Flavor], clusters: list[Item[model.Cluster]]) -> Diagnostic:
    """At the label that the nearest pool lacks."""
    wanted = flavor.spec.nodeLabels
    pools = [(sum(node_labels(p).get(k) == v for k, v in wanted.items()), p.name, c, p) for c in clusters for p in c.spec.nodePools]
    _, name, cluster, pool = max(pools, key=lambda entry: (entry[0], entry[1]))
    labels = node_labels(pool)
    lacks = [key for key in wanted if labels.get(key) != wanted[key]]
    text = ", ".join(f"{key}={value}" for key, value in wanted.items())
    message = f"no node pool of cluster {' or '.join(c.name for c in clusters)} has the labels of {flavor.label}: {text}"
    has = ", ".join(f"{key}={labels[key]}" if key in labels else f"no {key}" for key in lacks)
    origin = cluster.span(("nodePools", cluster.spec.nodePools.index(pool), "labels"), key=True)
    return flavor.finding(ID, ("nodeLabels", lacks[0]), message, hint=f"the nearest is pool {name}, which has {has}", origin=origin)
