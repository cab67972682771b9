"""Folders of a commit, many at a time.

In: a repository, a commit, paths of folders. Out: what stands in each. Only the folders that are asked for and those above them are read,
so that the branch may hold a million files; folders that a partial clone lacks are fetched. What must never happen: one git process a
folder, a folder that was not fetched taken for one that does not exist.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from taugen.load import git
from taugen.load.partial import Objects


class Child(NamedTuple):
    """An entry of a folder: its object id, and whether it is a folder itself."""

    id: str
    folder: bool


Entries = Mapping[str, Child]
_ENTRY_20 = re.compile(rb"([^ \0]*) ([^\0]*)\0(.{20})", re.DOTALL)
_ENTRY_32 = re.compile(rb"([^ \0]*) ([^\0]*)\0(.{32})", re.DOTALL)


def children(objects: Objects, commit: str, folders: Iterable[str]) -> dict[str, Entries]:
    """What stands in each folder (``""`` is the top), by name in git's order; nothing where there is no such folder. Raises `GitError`."""
    wanted = list(dict.fromkeys(folders))
    above = {folder: folder.rpartition("/")[0] for path in wanted for folder in _way(path)}
    found: dict[str, Entries] = {"": top(objects, commit)} if wanted else {}
    for level in _levels(above):
        ids = {}
        for path in level:
            child = found[above[path]].get(path[len(above[path]) :].lstrip("/"))
            if child is not None and child.folder:
                ids[path] = child.id
        found.update({path: {} for path in level} | read(objects, ids))
    return {folder: found[folder] for folder in wanted}


def top(objects: Objects, commit: str) -> Entries:
    """What stands at the top of a commit. Raises `GitError`."""
    return entries(objects.named([f"{commit}^{{tree}}"])[0] or b"", len(commit) // 2)


def read(objects: Objects, ids: Mapping[str, str]) -> dict[str, Entries]:
    """What stands in folders, by their paths, of which the ids are known; fetched with all that is below where they are not here. Raises
    `GitError`, also where nobody has one."""
    out: dict[str, Entries] = {}
    for (path, tree), content in zip(ids.items(), objects.read(list(ids.values())), strict=True):
        if content is None:
            raise git.GitError(["cat-file"], 128, f"the folder {path} (object {tree}) is missing")
        out[path] = entries(content, len(tree) // 2)
    return out


def entries(content: bytes, width: int) -> dict[str, Child]:
    """The entries of a tree object: mode, space, name, NUL, raw id of `width` bytes. Of two of one name the first counts, and zeros before
    a mode are nothing, as git has it: whoever writes such a tree hides or replaces nothing."""
    out: dict[str, Child] = {}
    for mode, name, raw in _entries(content, width):
        out.setdefault(name.decode("utf-8", "surrogateescape"), Child(raw.hex(), mode.lstrip(b"0") == b"40000"))
    return out


def _entries(content: bytes, width: int) -> Iterable[tuple[bytes, bytes, bytes]]:
    """Mode, name and raw id of each entry of a tree object."""
    found = (_ENTRY_20 if width == 20 else _ENTRY_32).findall(content)
    if sum([len(mode) + len(name) for mode, name, _ in found]) + (width + 2) * len(found) != len(content):
        raise git.GitError(["cat-file"], 128, "a folder is no list of files: the repository is damaged")
    return found


def _way(path: str) -> Iterable[str]:
    """A folder and those above it, without the top."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _levels(folders: Iterable[str]) -> list[list[str]]:
    """Folders by their depth, the highest first."""
    levels: dict[int, list[str]] = {}
    for folder in folders:
        levels.setdefault(folder.count("/"), []).append(folder)
    return [levels[depth] for depth in sorted(levels)]
