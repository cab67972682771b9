"""A GPU class has one HealthPolicy.

Two runners on one node would set and clear each other's conditions and taints.

Breaks:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}
    ---
    kind: HealthPolicy
    metadata: {name: spare}
    spec:
      gpuClasses: [l40s-48gb]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Mends:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}
    ---
    kind: HealthPolicy
    metadata: {name: spare}
    spec:
      gpuClasses: [h200-141gb]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Span
from taugen.policy.set import Policy

ID = "health-class-twice"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, at the second mention, with the place of the first."""
    seen: dict[str, tuple[str, Span]] = {}
    for item in policy.each("HealthPolicy"):
        for at, gpu_class in enumerate(item.spec.gpuClasses):
            here = item.span(("gpuClasses", at))
            label, first = seen.setdefault(gpu_class, (item.label, here))
            if first != here:
                message = f"GPU class {gpu_class} belongs to {label} already"
                yield item.finding(ID, ("gpuClasses", at), message, hint="remove it from one of the two", origin=first)
