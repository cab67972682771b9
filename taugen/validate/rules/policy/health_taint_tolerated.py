"""No pod of a run tolerates a health taint.

GPU pods get the tolerations of the taints of the flavors that they may get. A flavor of the class that lists the taint of health would so
let new pods onto the node that the taint is to keep them off.

Breaks:

    kind: Flavor
    metadata: {name: l40s}
    spec:
      gpuClass: l40s-48gb
      clusters: [fjord]
      nodeLabels: {tern.example/nodes: l40s}
      nodeTaints: [{key: nvidia.com/gpu, effect: NoSchedule}, {key: taugen.dev/gpu-health, effect: NoSchedule}]
    ---
    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      actions: [{condition: GpuXid, taint: {effect: NoSchedule}}]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Mends:

    kind: Flavor
    metadata: {name: l40s}
    spec:
      gpuClass: l40s-48gb
      clusters: [fjord]
      nodeLabels: {tern.example/nodes: l40s}
      nodeTaints: [{key: nvidia.com/gpu, effect: NoSchedule}]
    ---
    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      actions: [{condition: GpuXid, taint: {effect: NoSchedule}}]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Source: this project (tolerations of pods follow the flavors)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.health_nodes import taint_key
from taugen.policy.set import Policy

ID = "health-taint-tolerated"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, at the action, with the flavor's taint as the place of the limit."""
    for item in policy.each("HealthPolicy"):
        for at, action in enumerate(item.spec.actions):
            if action.taint is None:
                continue
            key = taint_key(policy, action.taint)
            for _, flavor in sorted(policy.flavors.items()):
                for number, taint in enumerate(flavor.spec.nodeTaints):
                    same = (taint.key, taint.effect) == (key, action.taint.effect)
                    if same and flavor.spec.gpuClass in item.spec.gpuClasses:
                        message = f"{flavor.label} lists the taint {key}:{taint.effect}: pods of runs would tolerate it"
                        hint = f"remove it from nodeTaints of {flavor.label}"
                        origin = flavor.span(("nodeTaints", number))
                        yield item.finding(ID, ("actions", at, "taint"), message, hint=hint, origin=origin, key=True)
