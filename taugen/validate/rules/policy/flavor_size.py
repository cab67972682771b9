"""A flavor has at most 8 labels and 8 taints.

The ResourceFlavor is refused with more.

Breaks:

    kind: Flavor
    metadata: {name: spare}
    spec:
      gpuClass: l40s-48gb
      clusters: [fjord]
      nodeLabels: {tern.example/nodes: l40s}
      nodeTaints:
        - {key: nvidia.com/gpu, effect: NoSchedule}
        - {key: tern.example/t1, effect: NoSchedule}
        - {key: tern.example/t2, effect: NoSchedule}
        - {key: tern.example/t3, effect: NoSchedule}
        - {key: tern.example/t4, effect: NoSchedule}
        - {key: tern.example/t5, effect: NoSchedule}
        - {key: tern.example/t6, effect: NoSchedule}
        - {key: tern.example/t7, effect: NoSchedule}
        - {key: tern.example/t8, effect: NoSchedule}

Mends:

    kind: Flavor
    metadata: {name: spare}
    spec:
      gpuClass: l40s-48gb
      clusters: [fjord]
      nodeLabels: {tern.example/nodes: l40s}
      nodeTaints:
        - {key: nvidia.com/gpu, effect: NoSchedule}
        - {key: tern.example/t1, effect: NoSchedule}
        - {key: tern.example/t2, effect: NoSchedule}
        - {key: tern.example/t3, effect: NoSchedule}
        - {key: tern.example/t4, effect: NoSchedule}
        - {key: tern.example/t5, effect: NoSchedule}
        - {key: tern.example/t6, effect: NoSchedule}
        - {key: tern.example/t7, effect: NoSchedule}

Source: Kueue resourceflavor_types.go (maxProperties and maxItems of nodeLabels and nodeTaints)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "flavor-size"

_MOST = 8


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for flavor in policy.each("Flavor"):
        for field in ("nodeLabels", "nodeTaints"):
            count = len(getattr(flavor.spec, field))
            if count > _MOST:
                message = f"{flavor.label} has {count} {field}, but Kueue takes {_MOST}"
                yield flavor.finding(ID, (field,), message, hint="keep those that tell its nodes from others", key=True)
