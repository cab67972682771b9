"""An image reference is one that a registry can understand.

A kubelet refuses it only after the run was admitted and holds its quota: `InvalidImageName`.

Breaks:

    runtime: {image: "docker:Registry.example/Torch:2.9"}

Mends:

    runtime: {image: "registry.example/torch:2.9"}

Source: distribution's reference grammar (reference/regexp.go).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules.document import _images as images
from taugen.words.errors import shown

ID = "image-syntax"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """Every image of the document."""
    del policy
    for path, reference in images.of(doc):
        if images.read(reference) is None:
            yield doc.finding(ID, path, f"{shown(reference)} is no image reference", hint=_hint(reference))


def _hint(reference: str) -> str:
    scheme, colon, rest = reference.partition(":")
    rest = rest.removeprefix("//")
    if colon and scheme in {"docker", "http", "https", "oci"} and images.read(rest) is not None:
        return f"write {rest}"
    if images.read(reference.lower()) is not None:
        return f"write {reference.lower()}: repositories are lower-case"
    if "@" in reference:
        return "a digest is @sha256: and 64 hex digits"
    return "write REGISTRY/NAME:TAG or REGISTRY/NAME@sha256:DIGEST"
