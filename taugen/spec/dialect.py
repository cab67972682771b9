"""From either of TauGrid's dialects to the one canonical spelling.

In: a parsed document. Out: a `Draft` whose data has canonical names only, with a note for every field that moved and an error for
everything that is known and not taken. What is unknown stays where it is: the model says so.
"""

from collections.abc import Mapping
from typing import Literal

from taugen.diag import Severity
from taugen.load.nodes import Document
from taugen.spec import environment, moves, storages
from taugen.spec.draft import MISSING, Draft
from taugen.spec.model import RunSpec
from taugen.spec.refused import REFUSED, REFUSED_VALUES
from taugen.spec.spellings import RENAMES, SPECIAL, VALUES
from taugen.words import Path, dotted


def _by_section() -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    """Keys that are not canonical: at the top, and by section."""
    paths = [r.old for r in RENAMES] + [*SPECIAL, *REFUSED]
    top = frozenset(str(p[0]) for p in paths if len(p) == 1 or p[0] not in RunSpec.model_fields)
    sections: dict[str, set[str]] = {}
    for path in paths:
        if len(path) > 1 and path[0] not in top:
            sections.setdefault(str(path[0]), set()).add(str(path[1]))
    return top, {name: frozenset(keys) for name, keys in sections.items()}


_TOP, _SECTIONS = _by_section()


def dialect_of(data: Mapping[str, object]) -> Literal["direct", "managed"]:
    """Managed if and only if `schema_version` is there and neither `engine` nor `run.engine` is."""
    if "schema_version" not in data or "engine" in data:
        return "direct"
    run = data.get("run")
    return "direct" if isinstance(run, dict) and "engine" in run else "managed"


def draft_of(document: Document) -> Draft:
    """The document under canonical names."""
    draft = Draft(document)
    if _has_older_keys(draft.data):
        moves.before(draft)
        _rename(draft)
        moves.after(draft)
        _refuse(draft)
    environment.read(draft)
    storages.mounts(draft)
    _words(draft)
    moves.implied(draft)
    return draft


def _has_older_keys(data: Mapping[str, object]) -> bool:
    if not _TOP.isdisjoint(data):
        return True
    for name, value in data.items():
        older = _SECTIONS.get(name)
        if older is not None and value.__class__ is dict and not older.isdisjoint(value):
            return True
    return False


def _rename(draft: Draft) -> None:
    for rename in RENAMES:
        value = draft.take(rename.old)
        if value is MISSING:
            continue
        draft.older(rename.old, dotted(rename.new))
        if value is not None:
            draft.put(rename.new, value, rename.old, rename.rank, rename.loses)  # type: ignore[arg-type]


def _refuse(draft: Draft) -> None:
    for path, refusal in REFUSED.items():
        value = draft.get(path)
        if value is MISSING:
            continue
        if value is None or value in ({}, []):
            draft.take(path)
            continue
        draft.add(refusal.rule, path, refusal.message, refusal.hint, key=True)
        draft.drop(path)


def _words(draft: Draft) -> None:
    """Older words for values, and words that are known and not taken."""
    for path, words in VALUES.items():
        value = draft.get(path)
        if value.__class__ is str and (newer := words.get(value)) is not None:
            _replace(draft, path, str(value), newer)
    for path, refusals in REFUSED_VALUES.items():
        value = draft.get(path)
        if value.__class__ is str and (refusal := refusals.get(value)) is not None:
            draft.add(refusal.rule, draft.as_typed(path), refusal.message, refusal.hint)
            draft.drop(path)


def _replace(draft: Draft, path: Path, old: str, newer: str) -> None:
    typed = draft.as_typed(path)
    draft.add("older-spelling", typed, f"{old} is an older word", f"write {newer}", Severity.NOTE)
    parent = draft.own(path[:-1])
    if parent is not None:
        parent[str(path[-1])] = newer
