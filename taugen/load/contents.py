"""A few contents at a time, by one git process for all that a command asks so.

In: a repository and names of objects. Out: their contents. What must never happen: answers of another repository, or of one that stood at
the same place before, or of another thread's question.
"""

import os
import threading
from collections.abc import Sequence
from pathlib import Path

from taugen.load.git import CatFile


class _Kept(threading.local):
    def __init__(self) -> None:
        self.by_place: dict[tuple[str, int, int], CatFile] = {}


_kept = _Kept()


def contents(repo: Path | str, specs: Sequence[str], limit: int | None = None) -> list[bytes | int | None]:
    """As `CatFile.read_many` gives them. The process is kept until another repository is asked. Raises `GitError`."""
    key = (str(repo), *_place(repo))
    kept = _kept.by_place
    cat = kept.get(key)
    if cat is None or not cat.usable:
        for other in kept.values():
            if other.ours:
                other.close()
        kept.clear()
        cat = kept[key] = CatFile(repo)
    return list(cat.read_many(specs, limit))


def _place(repo: Path | str) -> tuple[int, int]:
    """What tells a repository from the one that stood there before; (0, 0) for none, of which git says what is wrong."""
    for folder in (os.path.join(repo, ".git"), repo):
        try:
            at = os.stat(folder)
        except OSError:
            continue
        return at.st_dev, at.st_ino
    return 0, 0
