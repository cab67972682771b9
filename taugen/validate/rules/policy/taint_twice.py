"""No taint stands twice.

Kubernetes tells taints apart by key and effect, and refuses two of the same.

Breaks:

    kind: Flavor
    metadata: {name: spare}
    spec:
      gpuClass: l40s-48gb
      clusters: [fjord]
      nodeLabels: {tern.example/nodes: l40s}
      nodeTaints:
        - {key: nvidia.com/gpu, effect: NoSchedule}
        - {key: nvidia.com/gpu, value: l40s, effect: NoSchedule}

Mends:

    kind: Flavor
    metadata: {name: spare}
    spec:
      gpuClass: l40s-48gb
      clusters: [fjord]
      nodeLabels: {tern.example/nodes: l40s}
      nodeTaints:
        - {key: nvidia.com/gpu, effect: NoSchedule}
        - {key: nvidia.com/gpu, value: l40s, effect: NoExecute}

Source: Kubernetes core validation.go (validateNodeTaints); Kueue resourceflavor_webhook.go
"""

from collections.abc import Iterator
from typing import Any

from taugen.diag import Diagnostic
from taugen.policy import model
from taugen.policy.nodes import pools
from taugen.policy.set import Item, Policy
from taugen.words import Path

ID = "taint-twice"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for flavor in policy.each("Flavor"):
        yield from _twice(flavor, ("nodeTaints",), flavor.spec.nodeTaints)
    for cluster in policy.each("Cluster"):
        for _, at, pool in pools(cluster):
            yield from _twice(cluster, ("nodePools", at, "taints"), pool.taints)


def _twice(item: Item[Any], path: Path, taints: list[model.Taint]) -> Iterator[Diagnostic]:
    seen: dict[tuple[str, str], int] = {}
    for at, taint in enumerate(taints):
        first = seen.setdefault((taint.key, taint.effect), at)
        if first != at:
            message = f"there is a taint {taint.key} with effect {taint.effect} already"
            yield item.finding(ID, (*path, at, "key"), message, hint="keep one of the two", origin=item.span((*path, first, "key")))
