"""Images of node health are allowed, and pinned as the platform asks.

They run with more rights than any run does: what they are must not change by itself, and come from where the platform allows. A policy
that asks for a check of DCGM needs a runner image with dcgmi.

Breaks:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      maxTainted: 1
      images: {runner: 'quay.io/someone/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Mends:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      maxTainted: 1
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Source: distribution reference grammar
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.validate.rules.policy import _images

ID = "health-image"

_UNPINNED = {"required": Severity.ERROR, "warn": Severity.WARNING}

_NAMES = ("runner", "nodeProblemDetector", "dcgmExporter")


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("HealthPolicy"):
        for name in _NAMES:
            reference = getattr(item.spec.images, name)
            if reference is not None:
                yield from _images.judged(policy, item, ("images", name), reference, rule=ID, unpinned=_UNPINNED)
