"""An image is named by its digest.

A tag can be moved: the next attempt of the same run, or another node, then runs something else. A warning, or an error where the platform
demands digests.

Breaks:

    runtime: {image: "registry.acme.example/vision/torch:2.9.1"}

Mends:

    runtime: {image: "registry.acme.example/vision/torch:2.9.1@sha256:0123…"}

Source: Platform.spec.images.digests; OCI distribution specification, tags are mutable.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity, has_errors
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules.document import _images as images

ID = "image-tag"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """The run's own image; images that must have a digest anyway have a rule of their own."""
    runtime = doc.spec.runtime
    reference = runtime.image if runtime is not None else None
    image = images.read(reference) if reference is not None else None
    if image is None or image.digest is not None or not images.allowed(policy, image):
        return
    platform = policy.platform
    required = platform is not None and platform.spec.images.digests == "required"
    if not required and has_errors(doc.findings):
        return  # advice waits until the document can be read
    tag = f"the tag {image.tag}" if image.tag is not None else "no tag, which means latest,"
    text = f"the image has {tag} and no digest: it can change under the run"
    origin = platform.span(("images", "digests")) if platform is not None and required else None
    hint = f"write {reference}@sha256:… (`crane digest {reference}` or the registry's page shows it)"
    severity = Severity.ERROR if required else Severity.WARNING
    yield doc.finding(ID, ("runtime", "image"), text, hint=hint, severity=severity, origin=origin)
