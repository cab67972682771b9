"""A CPU flavor has no taints.

Pods that ask for no GPU carry no tolerations: CPU runs, Ray heads, submitters. Kueue never gives them a tainted flavor, and the scheduler
no tainted node.

Breaks:

    kind: Flavor
    metadata: {name: spare}
    spec:
      nodeLabels: {tern.example/nodes: general}
      nodeTaints: [{key: tern.example/batch, effect: NoSchedule}]

Mends:

    kind: Flavor
    metadata: {name: spare}
    spec:
      nodeLabels: {tern.example/nodes: general}

Source: Kueue flavorassigner.go (untolerated taint in flavor)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.nodes import has_gpus, pools_of, repels, show, shut
from taugen.policy.set import Policy

ID = "cpu-flavor-tainted"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, one for each flavor."""
    for _, flavor in sorted(policy.flavors.items()):
        if has_gpus(policy, flavor):
            continue
        own = shut(policy, flavor)
        if own is not None:
            message = f"{flavor.label} has no GPUs and the taint {show(flavor.spec.nodeTaints[own])}: no pod would ever get it"
            hint = "remove the taint, or write gpuClass if its nodes have GPUs"
            yield flavor.finding(ID, ("nodeTaints", own), message, hint=hint)
            continue
        for cluster, at, pool in pools_of(policy, flavor):
            taint = next((t for t in pool.taints if repels(t)), None)
            if taint is not None:
                origin = cluster.span(("nodePools", at, "taints"), key=True)
                nodes = f"the nodes of {flavor.label} (pool {pool.name} of cluster {cluster.name})"
                message = f"{nodes} have the taint {show(taint)}, which CPU pods don't tolerate"
                hint = "take the taint off the nodes, or leave them out by nodeLabels"
                yield flavor.finding(ID, ("nodeLabels",), message, hint=hint, origin=origin, key=True)
                break
