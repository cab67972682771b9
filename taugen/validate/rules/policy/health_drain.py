"""A taint that ends running work is meant to.

NoExecute evicts what runs on the node. A gang on it fails as a whole and comes back as a new attempt at best. That has to be said twice:
by the effect, and by running: drain.

Breaks:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      actions: [{condition: GpuXid, taint: {effect: NoExecute}}]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Mends:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      running: drain
      actions: [{condition: GpuXid, taint: {effect: NoExecute}}]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Source: Kubernetes taint eviction; batch Job controller (evicted pods count as failed)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy

ID = "health-drain"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("HealthPolicy"):
        drains = [at for at, a in enumerate(item.spec.actions) if a.taint is not None and a.taint.effect == "NoExecute"]
        if item.spec.running == "leave":
            for at in drains:
                message = "NoExecute ends what runs on the node, but running is leave"
                origin = item.span(("running",)) if "running" in item.spec.model_fields_set else None
                hint = "write NoSchedule, or running: drain"
                yield item.finding(ID, ("actions", at, "taint", "effect"), message, hint=hint, origin=origin)
        elif not drains:
            message = "running is drain, but no taint has the effect NoExecute: nothing is drained"
            hint = "write effect: NoExecute for the conditions that have to end running work, or remove the line"
            yield item.finding(ID, ("running",), message, hint=hint, severity=Severity.WARNING)
