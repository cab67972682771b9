"""Images come from the registries that the platform allows.

An image is code that runs with the workspace's data and secrets. The list is matched by whole path components of the full reference, so
that `registry.example.evil.test` is not `registry.example`.

Breaks:

    runtime: {image: "evil.example/miner:1"}

Mends:

    runtime: {image: "registry.acme.example/vision/torch:2.9.1"}

Source: Platform.spec.images.allow.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules.document import _images as images

ID = "image-registry"

_SHOWN = 8


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """Every image of the document that can be read."""
    platform = policy.platform
    allow = platform.spec.images.allow if platform is not None else None
    if platform is None or allow is None:
        return
    for path, reference in images.of(doc):
        image = images.read(reference)
        if image is None or images.allowed(policy, image):
            continue
        known = ", ".join(allow[:_SHOWN]) + (f" and {len(allow) - _SHOWN} more" if len(allow) > _SHOWN else "")
        text = f"{'/'.join(image.parts)} is not from an allowed registry: {known or 'none is allowed'}"
        origin = platform.span(("images", "allow"), key=True)
        yield doc.finding(ID, path, text, hint="take the image from there, or have the platform team add its registry", origin=origin)
