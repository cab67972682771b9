"""A GPU flavor carries the taints of its nodes.

The GPU pods of a run get the tolerations of the taints of the flavors that they may get. A taint of the nodes that the flavor does not
say would keep pods off that Kueue has already admitted: Pending, with their quota held.

Breaks:

    kind: Flavor
    metadata: {name: spare}
    spec:
      gpuClass: h200-141gb
      clusters: [mesa]
      nodeLabels: {tern.example/nodes: h200}
      nodeTaints: [{key: nvidia.com/gpu, value: h100, effect: NoSchedule}]

Mends:

    kind: Flavor
    metadata: {name: spare}
    spec:
      gpuClass: h200-141gb
      clusters: [mesa]
      nodeLabels: {tern.example/nodes: h200}
      nodeTaints: [{key: nvidia.com/gpu, value: h200, effect: NoSchedule}]

Source: Kueue flavorassigner.go (taints of a flavor); seen with Kueue 0.19.2
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.nodes import has_gpus, pools_of, repels, show
from taugen.policy.set import Policy

ID = "flavor-taints"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, each missing taint once."""
    for _, flavor in sorted(policy.flavors.items()):
        if not has_gpus(policy, flavor):
            continue
        has = {(t.key, t.value or "", t.effect) for t in flavor.spec.nodeTaints}
        for cluster, at, pool in pools_of(policy, flavor):
            for number, taint in enumerate(pool.taints):
                identity = (taint.key, taint.value or "", taint.effect)
                if not repels(taint) or identity in has:
                    continue
                has.add(identity)
                origin = cluster.span(("nodePools", at, "taints", number))
                nodes = f"its nodes (pool {pool.name} of cluster {cluster.name})"
                message = f"{flavor.label} lacks the taint {show(taint)} of {nodes}: its pods would stay Pending"
                value = f", value: {taint.value}" if taint.value else ""
                hint = f"add {{key: {taint.key}{value}, effect: {taint.effect}}} to nodeTaints"
                yield flavor.finding(ID, ("nodeTaints",), message, hint=hint, origin=origin, key=True)
