"""Whether what records point to can still be read.

In: records, and where storage is on this machine. Out: what became of each object: evidence outlives checkpoints and whole logs, so that
one that is gone is a fact, no fault. What must never happen: a write, an object counted as there that nobody looked at.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from posixpath import normpath
from typing import Protocol

from taugen.evidence.paths import AttemptKey
from taugen.words import Json

_BLOCK = 1 << 20
_LARGEST = 1 << 30


class Fate(StrEnum):
    """What became of an object."""

    THERE = "there"
    GONE = "gone"
    CHANGED = "changed"
    UNREADABLE = "unreadable"
    """It may be there: this machine can't say."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """Something outside of the branch that a record names: `marker` is a file below it that says it is complete, `digest` its sha256 where
    it is one file."""

    attempt: AttemptKey
    what: str
    uri: str
    digest: str = ""
    marker: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A pointer and what became of it; `why` says more where it is not there."""

    pointer: Pointer
    fate: Fate
    why: str = ""


def pointers(attempt: AttemptKey, record: Mapping[str, Json]) -> Iterator[Pointer]:
    """What a record points to outside of the branch."""
    for what, section in (("checkpoint", "checkpoints"), ("log", "logs"), ("input", "inputs")):
        listed = record.get(section)
        for one in listed if isinstance(listed, list) else []:
            said = {name: value for name, value in one.items() if isinstance(value, str)} if isinstance(one, dict) else {}
            if said.get("uri"):
                digest = said.get("sha256") or said.get("digest", "")
                yield Pointer(attempt, what, said["uri"], digest.removeprefix("sha256:"), said.get("marker", ""))


class Bucket(Protocol):
    """A folder of an object store; both raise OSError."""

    def sizes(self, folder: str) -> Mapping[str, int]:
        """Bytes of each object below a folder, by its path from there."""

    def read(self, path: str, most: int) -> bytes:
        """The first bytes of an object."""


Open = Callable[[str], Bucket]
"""Opens a URL. Raises OSError where no client for it is installed."""


def look(wanted: Iterable[Pointer], storage: Mapping[str, Path], open_bucket: Open, *, contents: bool = False) -> Iterator[Found]:
    """What became of each. `storage` says where folders of the runs' containers are on this machine; with `contents` digests are made
    anew."""
    for pointer in wanted:
        if "://" in pointer.uri:
            yield _object(pointer, open_bucket, contents=contents)
        else:
            yield _file(pointer, storage, contents=contents)


def _file(pointer: Pointer, storage: Mapping[str, Path], *, contents: bool) -> Found:
    place = _place(pointer.uri, storage)
    if place is None:
        return Found(pointer, Fate.UNREADABLE, "no storage of this machine holds it (--storage)")
    try:
        wanted = place / pointer.marker if pointer.marker and place.is_dir() else place
        if not wanted.exists():
            return Found(pointer, Fate.GONE, f"{pointer.marker or 'it'} is not there")
        if contents and pointer.digest and place.is_file() and _digest(place) != pointer.digest:
            return Found(pointer, Fate.CHANGED, "its sha256 is another")
    except OSError as error:
        return Found(pointer, Fate.UNREADABLE, error.strerror or str(error))
    return Found(pointer, Fate.THERE)


def _place(uri: str, storage: Mapping[str, Path]) -> Path | None:
    """Where a path of the containers is on this machine; None if no storage holds it, or it leads out of the one that does."""
    path = normpath(uri)
    for top in sorted(storage, key=len, reverse=True):
        start = normpath(top).rstrip("/")
        if path == start or path.startswith(start + "/"):
            root = storage[top].resolve()
            found = (root / path[len(start) :].lstrip("/")).resolve()
            return found if found.is_relative_to(root) else None
    return None


def _digest(path: Path) -> str:
    made = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            made.update(block)
    return made.hexdigest()


def _object(pointer: Pointer, open_bucket: Open, *, contents: bool) -> Found:
    """An object of S3, GCS or Azure, read with the credentials of the environment."""
    folder, _, name = pointer.uri.rstrip("/").rpartition("/")
    try:
        bucket = open_bucket(pointer.uri.rstrip("/") if pointer.marker else folder)
        name = pointer.marker or name
        size = bucket.sizes("").get(name)
        if size is None:
            return Found(pointer, Fate.GONE, f"{pointer.marker or 'it'} is not there")
        if contents and pointer.digest and not pointer.marker:
            if size > _LARGEST:
                return Found(pointer, Fate.UNREADABLE, f"it has {size} bytes: too large to be compared")
            if hashlib.sha256(bucket.read(name, size)).hexdigest() != pointer.digest:
                return Found(pointer, Fate.CHANGED, "its sha256 is another")
    except OSError as error:
        return Found(pointer, Fate.UNREADABLE, (error.strerror or str(error)).partition("\n")[0][:200])
    return Found(pointer, Fate.THERE)
