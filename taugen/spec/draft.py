"""A document on its way from what was typed to canonical names.

In: a parsed document. Out: `Draft`, the only mutable value of this stage: `data` under canonical names (the document's own data is never
touched), `typed` the way back, findings, and what had to be left out. A value is never lost in silence: it moves, it loses to another
spelling with a finding, or it is refused.
"""

from typing import Literal, TypeAlias

from taugen.diag import Diagnostic, Severity
from taugen.load.nodes import Document
from taugen.words import Json, Path, dotted, quantity
from taugen.words.errors import TextError

Rank: TypeAlias = Literal["same", "over", "under"]
"""What a spelling does beside another of the same field that says something else: an error, win with a note, or lose with a warning."""

MISSING = object()
NOWHERE = -1
"""The position of a list's items that could not be read: of none that is left."""


class Draft:
    """Canonical data in the making."""

    __slots__ = ("_own", "data", "document", "findings", "gone", "lost", "typed", "untold")

    def __init__(self, document: Document) -> None:
        self.document = document
        self.data: dict[str, Json] = dict(document.data)
        self.typed: dict[Path, Path] = {}
        self.findings: list[Diagnostic] = []
        self.lost = frozenset(document.lost)
        self.gone: set[Path] = set(self.lost)
        self.untold = 0
        self._own: set[Path] = set()

    def get(self, path: Path) -> object:
        """The value at the canonical `path`, or MISSING."""
        here: object = self.data
        for part in path:
            if here.__class__ is not dict or part not in here:
                return MISSING
            here = here[part]
        return here

    def own(self, path: Path) -> dict[str, Json] | None:
        """The mapping at `path`, copied so that it may change, made where it is absent or empty; None where something else stands there."""
        here = self.data
        for end in range(1, len(path) + 1):
            key = str(path[end - 1])
            value = here.get(key)
            if value is None:
                value = {}
            elif value.__class__ is not dict:
                return None
            elif path[:end] not in self._own:
                value = dict(value)
            self._own.add(path[:end])
            here[key] = value
            here = value
        return here

    def take(self, path: Path) -> object:
        """Remove and return the value at `path`, or MISSING."""
        if self.get(path) is MISSING:
            return MISSING
        parent = self.own(path[:-1])
        return MISSING if parent is None else parent.pop(str(path[-1]), MISSING)

    def drop(self, path: Path) -> None:
        """Leave out what stands at `path` because it can't be read."""
        self.take(path)
        self.gone.add(path)

    def leave_out(self, paths: set[Path]) -> None:
        """Leave out what stands at `paths`, fields and list items, so that the rest can be read; of a list the other items stay."""
        items: dict[Path, set[int]] = {}
        for path in paths:
            if path and isinstance(path[-1], int):
                items.setdefault(path[:-1], set()).add(path[-1])
            else:
                self.take(path)
        for path, left in items.items():
            self._cut(path, left)

    def _cut(self, path: Path, left: set[int]) -> None:
        """Take items out of a list. The others move up, and so do the ways back; what is gone from it has the position `NOWHERE`."""
        there = self.get(path)
        parent = self.own(path[:-1])
        if not isinstance(there, list) or parent is None:
            return
        kept = [at for at in range(len(there)) if at not in left]
        if kept:
            parent[str(path[-1])] = [there[at] for at in kept]
        else:
            del parent[str(path[-1])]
        end, new = len(path), {at: now for now, at in enumerate(kept)}
        typed = {(*path, now): self.as_typed((*path, at)) for now, at in enumerate(kept)}
        for old, way in list(self.typed.items()):
            if len(old) > end and old[:end] == path and isinstance(at := old[end], int):
                del self.typed[old]
                if at in new:
                    typed[*path, new[at], *old[end + 1 :]] = way
        self.typed |= typed
        here = {gone for gone in self.gone if len(gone) > end and gone[:end] == path}
        moved = {(*path, new[at], *gone[end + 1 :]) for gone in here if isinstance(at := gone[end], int) and at in new}
        self.gone = (self.gone - here) | moved | {(*path, NOWHERE) if kept else path}

    def as_typed(self, path: Path) -> Path:
        """The path that the user typed for the canonical `path`."""
        for length in range(len(path), 0, -1):
            if (moved := self.typed.get(path[:length])) is not None:
                return (*moved, *path[length:])
        return path

    def add(
        self, rule: str, typed: Path, message: str, hint: str, severity: Severity = Severity.ERROR, *, key: bool = False, other: Path = ()
    ) -> None:
        """A finding at the typed path (`key`: at its key; `other`: the second place)."""
        document = self.document
        origin = document.span(other, key=True) if other else None
        self.findings.append(Diagnostic(rule, message, document.span(typed, key=key), dotted(typed), hint, severity, origin))

    def older(self, typed: Path, canonical: str, what: str = "") -> None:
        """The note that a spelling is an older one."""
        self.add("older-spelling", typed, f"{what or dotted(typed)} is an older spelling", f"write {canonical}", Severity.NOTE, key=True)

    def put(self, path: Path, value: Json, typed: Path, rank: Rank = "same", loses: Severity = Severity.WARNING) -> bool:
        """Set the canonical `path` to what was typed elsewhere; False if another spelling keeps the place or nothing can be put there."""
        there = self.get(path)
        before = self.as_typed(path)
        if there is not MISSING and there is not None and not same(there, value):
            if rank == "same":
                message = f"{dotted(typed)} and {dotted(before)} are one field and say different things"
                self.add("spellings-disagree", typed, message, f"keep {dotted(path)} only", key=True, other=before)
                return False
            loser, winner = (before, typed) if rank == "over" else (typed, before)
            message = f"{dotted(loser)} has no effect: {dotted(winner)} wins"
            self.add("spelling-overridden", loser, message, f"remove it; {dotted(path)} is the field", loses, key=True, other=winner)
            if rank == "under":
                return False
        elif there is not MISSING and there is not None:
            return True
        parent = self.own(path[:-1])
        if parent is None:
            self.gone.add(path)
            return False
        parent[str(path[-1])] = value
        self.typed[path] = typed
        return True


def same(first: object, second: object) -> bool:
    """Whether two typed values mean one thing: equal, or equal quantities."""
    if first == second and isinstance(first, bool) == isinstance(second, bool):
        return True
    if isinstance(first, str | int | float) and isinstance(second, str | int | float):
        try:
            return quantity.compare(first, second) == 0
        except TextError:
            return False
    return False
