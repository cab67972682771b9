"""Image references.

In: text. Out: its parts, in the normal form in which registries and policies are compared: `docker.io` and `library` written out.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.words import Path
from taugen.words.regex import regex

_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9a-fA-F:]+\])(?::[0-9]{1,5})?"
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_REFERENCE = regex(rf"((?:{_HOST}/)?{_PART}(?:/{_PART})*)(?::([A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}}))?(?:@(sha256:[0-9a-f]{{64}}))?")


class Image(NamedTuple):
    """`parts` are the registry and the path, as in ``docker.io``, ``library``, ``python``."""

    parts: tuple[str, ...]
    tag: str | None
    digest: str | None


@lru_cache(maxsize=1024)
def read(reference: str) -> Image | None:
    """The parts of a reference, or None where it is none (distribution's reference grammar, sha256 only)."""
    found = _REFERENCE.fullmatch(reference)
    if found is None:
        return None
    return Image(full(found[1].split("/")), found[2], found[3])


def full(parts: list[str]) -> tuple[str, ...]:
    """A registry's or repository's parts with `docker.io` (and `library`, for one part) put in front where they are implied."""
    first = parts[0]
    if len(parts) > 1 and ("." in first or ":" in first or first == "localhost"):
        return ("docker.io", *parts[1:]) if first.lower() == "index.docker.io" else (first.lower(), *parts[1:])
    return ("docker.io", *(["library"] if len(parts) == 1 else []), *parts)


@lru_cache(maxsize=256)
def prefix(allowed: str) -> tuple[str, ...]:
    """An entry of `Platform.images.allow` as parts: a registry, a folder of one (it may end in ``/``), or a repository."""
    text = allowed.strip("/")
    first, slash, _ = text.partition("/")
    if slash:
        return full(text.split("/"))
    if "." in first or ":" in first or first == "localhost":
        return (first.lower(),)
    return ("docker.io", first) if allowed.endswith("/") else ("docker.io", "library", first)


def allowed(policy: Policy, image: Image) -> bool:
    """Whether the platform allows the image: no list allows all, an empty one none."""
    allow = policy.platform.spec.images.allow if policy.platform is not None else None
    return allow is None or any(image.parts[: len(p)] == p for p in map(prefix, allow))


def of(doc: RunDoc) -> Iterator[tuple[Path, str]]:
    """(canonical path, reference) of every image that the document names."""
    spec = doc.spec
    if spec.runtime is not None and spec.runtime.image is not None:
        yield ("runtime", "image"), spec.runtime.image
    if spec.run is not None and spec.run.source is not None:
        yield ("run", "source", "image"), spec.run.source.image
    for at, asset in enumerate((spec.storage.image_assets if spec.storage is not None else None) or ()):
        yield ("storage", "image_assets", at, "image"), asset.image
