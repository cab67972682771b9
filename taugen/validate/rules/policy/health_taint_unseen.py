"""A taint of health is one that Kueue sees in the flavors of its class.

With a topology Kueue counts the nodes that can take pods, and a taint that comes later takes the node out of the count. Without one it
counts quota alone: while a node is tainted its GPUs are still given away, and the pods that were admitted for them stay Pending.

Breaks:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      actions: [{condition: GpuXid, taint: {effect: NoSchedule}}]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Mends:

    kind: HealthPolicy
    metadata: {name: h200}
    spec:
      gpuClasses: [h200-141gb]
      actions: [{condition: GpuXid, taint: {effect: NoSchedule}}]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Source: Kueue tas_flavor_snapshot.go (schedulable nodes, untolerated taints); Kueue issue 10116
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy

ID = "health-taint-unseen"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule: a note, for each flavor one."""
    for item in policy.each("HealthPolicy"):
        at = next((n for n, a in enumerate(item.spec.actions) if a.taint is not None and a.taint.effect != "PreferNoSchedule"), None)
        if at is None:
            continue
        for _, flavor in sorted(policy.flavors.items()):
            if flavor.spec.gpuClass in item.spec.gpuClasses and flavor.spec.topology is None:
                message = f"{flavor.label} has no topology: Kueue goes on giving away the GPUs of nodes that are tainted"
                hint = "give the flavor a Topology with the level kubernetes.io/hostname, or keep a quota of spare nodes"
                origin = flavor.span()
                yield item.finding(ID, ("actions", at, "taint"), message, hint=hint, severity=Severity.NOTE, origin=origin, key=True)
