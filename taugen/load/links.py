"""Symbolic links, followed inside a source tree only.

In: a tree and a path. Out: where the path ends, as data. What must never happen: following a link on disk by the operating system, whose
idea of the root is another one.
"""

from enum import StrEnum

from msgspec import Struct

from taugen.load.tree import LINK, SUBMODULE, SourceTree, Unreadable

MAX_LINKS = 40  # as Linux' ELOOP


class Outcome(StrEnum):
    """How following a path ends."""

    FILE = "file"
    FOLDER = "folder"
    DANGLING = "dangling"
    LOOP = "loop"
    OUTSIDE = "outside"
    SUBMODULE = "submodule"


class Resolved(Struct, frozen=True):
    """`target` is the file or folder reached (``""`` is the root), else the last path tried or the text of the link that leads outside."""

    outcome: Outcome
    target: str


def resolve_link(tree: SourceTree, path: str) -> Resolved:
    """Follow `path`, links in its folders included, within the tracked files of the tree."""
    entries, folders = tree.paths(), tree.folders()
    rest = path.split("/")[::-1]
    at: list[str] = []
    followed = 0
    while rest:
        part = rest.pop()
        if part in {"", "."}:
            continue
        if part == "..":
            if not at:
                return Resolved(Outcome.OUTSIDE, "../" + "/".join(rest[::-1]))
            at.pop()
            continue
        at.append(part)
        here = "/".join(at)
        entry = entries.get(here)
        if entry is not None and entry.mode == LINK:
            followed += 1
            if followed > MAX_LINKS:
                return Resolved(Outcome.LOOP, here)
            try:
                text = tree.readlink(here)
            except Unreadable:
                return Resolved(Outcome.DANGLING, here)
            if text.startswith("/"):
                return Resolved(Outcome.OUTSIDE, text)
            at.pop()
            rest.extend(text.split("/")[::-1])
        elif entry is not None and entry.mode == SUBMODULE:
            return Resolved(Outcome.SUBMODULE, here)
        elif here not in folders and (entry is None or any(p not in {"", "."} for p in rest)):
            return Resolved(Outcome.DANGLING, here)
    target = "/".join(at)
    return Resolved(Outcome.FILE if target in entries else Outcome.FOLDER, target)
