"""An image that code or files are copied from is pinned by its digest.

What is copied becomes the program: under a tag, each attempt of one run could be another program.

Breaks:

    run:
      source: {image: "registry.acme.example/vision/code:main", path: /src}

Mends:

    run:
      source: {image: "registry.acme.example/vision/code@sha256:0123…", path: /src}

Source: TauGrid's rule for run.source.image and image_assets (core/runconfig).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules.document import _images as images

ID = "image-pinned"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`run.source.image` and the images of `storage.image_assets`."""
    del policy
    for path, reference in images.of(doc):
        if path[0] == "runtime":
            continue
        image = images.read(reference)
        if image is not None and image.digest is None:
            yield doc.finding(ID, path, "files are copied out of this image, and it has no digest", hint=f"write {reference}@sha256:…")
