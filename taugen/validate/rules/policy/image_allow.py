"""The places of images are registries and repositories.

An entry matches whole path components of full references; a scheme, a wildcard, a tag or a digest in it would match nothing. An empty
list allows no image at all.

Breaks:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      images:
        allow: ["https://registry.tern.example/", docker.io/rayproject/]

Mends:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      images:
        allow: [registry.tern.example/, docker.io/rayproject/]

Source: distribution reference grammar
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.words.errors import shown
from taugen.words.regex import regex

ID = "image-allow"

_ENTRY = regex(r"[a-z0-9]+(?:[._-][a-z0-9]+|__[a-z0-9]+)*(?::[0-9]+)?(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*/?")


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for platform in policy.each("Platform"):
        allow = platform.spec.images.allow
        if allow == []:
            message = "images.allow is empty: no run can have an image"
            hint = "list registries, or remove the line to allow all"
            yield platform.finding(ID, ("images", "allow"), message, hint=hint, severity=Severity.WARNING, key=True)
        for at, entry in enumerate(allow or ()):
            if not _ENTRY.fullmatch(entry):
                yield platform.finding(ID, ("images", "allow", at), f"{shown(entry)} is no place of images", hint=_hint(entry))


def _hint(entry: str) -> str:
    plain = entry.partition("://")[2] or entry
    plain = plain.partition("@")[0].rstrip("*").lower()
    if _ENTRY.fullmatch(plain):
        return f"write {plain}"
    return "write a registry, a folder of one, or a repository, without scheme, wildcard, tag and digest"
