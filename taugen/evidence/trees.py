"""Folders of a commit, many at a time.

In: a repository, a commit, paths of folders. Out: what stands in each. Only the folders that are asked for are read, so that the branch may
hold a million files. What must never happen: one git process a folder.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from taugen.load.partial import Objects


@dataclass(frozen=True, slots=True)
class Child:
    """An entry of a folder: its object id, and whether it is a folder itself."""

    id: str
    folder: bool


def children(objects: Objects, commit: str, folders: Iterable[str]) -> dict[str, dict[str, Child]]:
    """What stands in each folder (``""`` is the top), by name in git's order; nothing where there is no such folder. Raises `GitError`."""
    wanted = list(dict.fromkeys(folders))
    width = len(commit) // 2
    found = objects.named([f"{commit}:{folder}" for folder in wanted])
    return {folder: _entries(content, width) if content is not None else {} for folder, content in zip(wanted, found, strict=True)}


def _entries(content: bytes, width: int) -> dict[str, Child]:
    """The entries of a tree object: mode, space, name, NUL, raw id."""
    out = {}
    at = 0
    while at < len(content):
        space = content.index(b" ", at)
        end = content.index(b"\0", space)
        name = content[space + 1 : end].decode("utf-8", "surrogateescape")
        at = end + 1 + width
        out[name] = Child(content[end + 1 : at].hex(), folder=content.startswith(b"40000 ", space - 5))
    return out
