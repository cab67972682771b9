"""Pins policy repositories.

In: a folder. Out: what moved; taugen.lock is written whole or not at all. Dials, as no other stage of the compiler does.
"""

import os
from pathlib import Path

from msgspec import Struct

from taugen.diag import Refused
from taugen.load import history
from taugen.load.tree import WorkTree
from taugen.pipeline.project import ROOT_FILE, find_root
from taugen.policy import lock
from taugen.policy.load import load_project_file


class Pin(Struct, frozen=True):
    """A source before and after: `old` is None for a new one, `new` for one that taugen.yaml no longer names. Subjects are those of the
    commits, empty where unknown."""

    url: str
    ref: str
    path: str
    old: str | None
    new: str | None
    old_subject: str = ""
    new_subject: str = ""

    @property
    def moved(self) -> bool:
        """Whether taugen.lock says something else now."""
        return self.old != self.new


def pin(directory: Path, *, update: bool = False) -> list[Pin]:
    """Bring taugen.lock up to date with taugen.yaml; `update` moves every pin to what its ref names now. Raises `Refused`."""
    root = find_root(directory)
    tree = WorkTree(root)
    project, findings = load_project_file(tree)
    if project is None:
        raise Refused(f"{ROOT_FILE} can't be read", findings=findings)
    before = lock.read(tree)
    if not before.readable and not update:
        raise Refused(
            f"{lock.FILE} can't be read",
            hint="restore it from Git, or pin everything anew with taugen lock --update",
            findings=before.findings,
        )
    sources = [source.git for source in project.spec.policy if source.git is not None]
    cache = lock.Cache()
    entries = lock.refresh(sources, before, update=update, cache=cache)
    _write(root / lock.FILE, lock.write(entries) if entries else None)
    return _pins(before.entries if before.readable else [], entries, cache)


def _write(target: Path, text: str | None) -> None:
    if text is None:
        target.unlink(missing_ok=True)
    elif not target.is_file() or target.read_text(encoding="utf-8") != text:
        draft = target.with_name(f".{target.name}.taugen")
        draft.write_text(text, encoding="utf-8", newline="\n")
        os.replace(draft, target)


def _pins(before: list[lock.Entry], after: list[lock.Entry], cache: lock.Cache) -> list[Pin]:
    old = {(e.url, e.ref, e.path): e.commit for e in before}
    new = {(e.url, e.ref, e.path): e.commit for e in after}
    out = []
    for key in sorted({*old, *new}):
        place = cache.place(key[0])
        was, now = old.get(key), new.get(key)
        subjects = [history.subject(place, commit) if commit is not None and place.is_dir() else "" for commit in (was, now)]
        out.append(Pin(*key, was, now, *subjects))
    return out
