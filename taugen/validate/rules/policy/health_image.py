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
from taugen.policy import model
from taugen.policy.set import Policy
from taugen.validate.rules.document import _images
from taugen.words.errors import shown

ID = "health-image"

_NAMES = ("runner", "nodeProblemDetector", "dcgmExporter")


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    platform = policy.platform
    images = platform.spec.images if platform is not None else model.Images()
    for item in policy.each("HealthPolicy"):
        for name in _NAMES:
            reference = getattr(item.spec.images, name)
            if reference is None:
                continue
            path = ("images", name)
            image = _images.read(reference)
            if image is None:
                message = f"{shown(reference)} is no image reference"
                yield item.finding(ID, path, message, hint="write registry/name@sha256:digest, in lower case")
            elif not _images.allowed(policy, image):
                message = f"{reference} is not in a place that images.allow lists ({', '.join(images.allow or ['none'])})"
                origin = platform.span(("images", "allow"), key=True) if platform is not None else None
                yield item.finding(ID, path, message, hint="use an image from there, or add its place to the list", origin=origin)
            elif image.digest is None:
                severity = Severity.ERROR if images.digests == "required" else Severity.WARNING
                message = f"{reference} has no digest: what it names can change"
                yield item.finding(ID, path, message, hint="write name@sha256:digest", severity=severity)
