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
    """Findings of the rule. Clusters that list no node pools say nothing."""
    for _, flavor in sorted(policy.flavors.items()):
        named = flavor.spec.clusters
        known = [c for name, c in sorted(policy.clusters.items()) if c.spec.nodePools and (named is None or name in named)]
        empty = [c for c in known if not any(matches(flavor.spec, pool) for pool in c.spec.nodePools)]
        if named is not None:
            for cluster in empty:
                path = ("clusters", named.index(cluster.name))
                yield flavor.finding(
                    ID, path, _message(flavor, [cluster]), hint=_hint(flavor, [cluster]), origin=cluster.span(("nodePools",), key=True)
                )
        elif empty and len(empty) == len(policy.clusters) and not policy.lost("Cluster"):
            yield flavor.finding(ID, ("nodeLabels",), _message(flavor, empty), hint=_hint(flavor, empty), key=True)


def _message(flavor: Item[model.Flavor], clusters: list[Item[model.Cluster]]) -> str:
    wanted = ", ".join(f"{key}={value}" for key, value in flavor.spec.nodeLabels.items())
    where = f"cluster {clusters[0].name}" if len(clusters) == 1 else "any cluster"
    return f"no node pool of {where} has the labels of {flavor.label}: {wanted}"


def _hint(flavor: Item[model.Flavor], clusters: list[Item[model.Cluster]]) -> str:
    """The pool that comes nearest."""
    wanted = flavor.spec.nodeLabels
    pools = [(sum(node_labels(p).get(k) == v for k, v in wanted.items()), p.name, p) for c in clusters for p in c.spec.nodePools]
    _, name, pool = max(pools, key=lambda entry: (entry[0], entry[1]))
    labels = node_labels(pool)
    has = ", ".join(f"{key}={labels[key]}" if key in labels else f"no {key}" for key in wanted if labels.get(key) != wanted[key])
    return f"the nearest is pool {name}, which has {has}"
