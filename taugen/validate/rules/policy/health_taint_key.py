"""The key of a health taint is one that its setter may use.

The runner's account may touch only taints whose key begins with taugen.dev/gpu-health: that is how it can't remove somebody else's. Where
the platform has the Node Readiness Controller, that sets the taints, and refuses keys without its own prefix.

Breaks:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      actions: [{condition: GpuXid, taint: {effect: NoSchedule, key: tern.example/broken}}]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Mends:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      actions: [{condition: GpuXid, taint: {effect: NoSchedule, key: taugen.dev/gpu-health-xid}}]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Source: NodeReadinessRule CRD v1alpha1 (taint key must start with readiness.k8s.io/)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.health import DEFAULT_KEYS, READINESS_PREFIX, TAINT_PREFIX
from taugen.policy.health_nodes import by_readiness
from taugen.policy.set import Policy

ID = "health-taint-key"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    readiness = by_readiness(policy)
    prefix, setter = (READINESS_PREFIX, "readiness") if readiness else (TAINT_PREFIX, "runner")
    origin = None
    if readiness and policy.platform is not None:
        origin = policy.platform.span(("versions", "nodeReadinessController"), key=True)
    for item in policy.each("HealthPolicy"):
        for at, action in enumerate(item.spec.actions):
            key = action.taint.key if action.taint is not None else None
            if key is not None and not key.startswith(prefix):
                who = "the Node Readiness Controller" if readiness else "the check runner"
                message = f"{who} sets taints whose key begins with {prefix}, not {key}"
                hint = f"write {DEFAULT_KEYS[setter]}, or remove key"
                yield item.finding(ID, ("actions", at, "taint", "key"), message, hint=hint, origin=origin)
