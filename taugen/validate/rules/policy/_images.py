"""Images that policy itself runs.

In: a reference, where it stands, how much a missing digest matters. Out: findings of the rule that asks: no reference, not from where the
platform allows, not pinned.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from taugen.diag import Diagnostic, Severity
from taugen.policy import model
from taugen.policy.set import Item, Policy
from taugen.validate.rules.document import _images
from taugen.words import Path
from taugen.words.errors import shown


def judged(
    policy: Policy, item: Item[Any], path: Path, reference: str, *, rule: str, unpinned: Mapping[str, Severity]
) -> Iterator[Diagnostic]:
    """What is wrong with an image of policy; `unpinned` is by Platform.images.digests."""
    platform = policy.platform
    images = platform.spec.images if platform is not None else model.Images()
    image = _images.read(reference)
    if image is None:
        message = f"{shown(reference)} is no image reference"
        yield item.finding(rule, path, message, hint="write registry/name@sha256:digest, in lower case")
    elif not _images.allowed(policy, image):
        message = f"{reference} is not in a place that images.allow lists ({', '.join(images.allow or ['none'])})"
        origin = platform.span(("images", "allow"), key=True) if platform is not None else None
        yield item.finding(rule, path, message, hint="use an image from there, or add its place to the list", origin=origin)
    elif image.digest is None:
        message = f"{reference} has no digest: what it names can change"
        yield item.finding(rule, path, message, hint="write name@sha256:digest", severity=unpinned[images.digests])
