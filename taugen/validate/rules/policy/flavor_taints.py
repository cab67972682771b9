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
from taugen.policy import model
from taugen.policy.nodes import has_gpus, pools_of, repels, show
from taugen.policy.set import Item, Policy
from taugen.words import Path

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
                path, hint = _mend(flavor, taint)
                yield flavor.finding(ID, path, message, hint=hint, origin=origin, key=path == ("nodeTaints",))


def _mend(flavor: Item[model.Flavor], taint: model.Taint) -> tuple[Path, str]:
    """Where to write what: the taint that has the key and effect with another value is the one that is meant, as nodes have each once."""
    for at, own in enumerate(flavor.spec.nodeTaints):
        if (own.key, own.effect) == (taint.key, taint.effect):
            path: Path = ("nodeTaints", at, "value") if own.value is not None else ("nodeTaints", at)
            return path, f"write value: {taint.value}" if taint.value else "remove its value"
    value = f", value: {taint.value}" if taint.value else ""
    return ("nodeTaints",), f"add {{key: {taint.key}{value}, effect: {taint.effect}}} to nodeTaints"
