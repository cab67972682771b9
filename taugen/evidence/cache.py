"""What was once computed from a Git object, kept in the git directory.

In: ids of trees or blobs, and texts that follow from them alone. Out: those texts. What must never happen: an answer that differs from that
without the cache. Git's ids say everything about what they name, each text carries its checksum, and whatever is wrong with the file is
taken for "nothing is known".
"""

import sqlite3
import zlib
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from taugen.load import git

_FILE = "evidence.sqlite"
_TABLE = "CREATE TABLE IF NOT EXISTS kept (form TEXT, id TEXT, sum INTEGER, text TEXT, PRIMARY KEY (form, id)) WITHOUT ROWID"
_DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Errors of the file itself; others (locked, read-only, full) pass."""
_MOST, _SPARE = 4, 1000
"""How many times more than what is in use may be kept, and so many more."""


class Cache:
    """Texts by (form, object id). A file that can't be read or written is as good as none."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @classmethod
    def of(cls, repo: Path) -> Self:
        """The cache of a repository."""
        folder = git.run(["rev-parse", "--path-format=absolute", "--git-common-dir"], cwd=repo).out.decode("utf-8", "surrogateescape")
        return cls(Path(folder.removesuffix("\n")) / "taugen" / _FILE)

    def get(self, form: str, ids: Collection[str]) -> dict[str, str]:
        """The texts that are known, of those asked for."""
        if not self._file.is_file():
            return {}
        wanted = frozenset(ids)
        try:
            with self._open() as store:
                if len(wanted) <= 500:
                    marks = ",".join("?" * len(wanted))
                    rows = store.execute(f"SELECT id, sum, text FROM kept WHERE form = ? AND id IN ({marks})", (form, *wanted)).fetchall()  # noqa: S608
                else:
                    rows = store.execute("SELECT id, sum, text FROM kept WHERE form = ?", (form,)).fetchall()
        except sqlite3.Error:
            return {}
        return {
            one: text
            for one, total, text in rows
            if one in wanted and isinstance(text, str) and zlib.crc32(f"{form}{one}{text}".encode()) == total
        }

    def put(self, form: str, texts: Mapping[str, str], keep: Collection[str] = ()) -> None:
        """Keep texts. `keep` are the ids in use: of the others old ones go when there are too many. Who knows only some of them gives none:
        nothing goes."""
        rows = [(form, one, zlib.crc32(f"{form}{one}{text}".encode()), text) for one, text in texts.items()]
        try:
            self._file.parent.mkdir(exist_ok=True)
            with self._open() as store:
                store.execute(_TABLE)
                store.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", rows)
                self._prune(store, form, frozenset(keep))
        except OSError:
            return
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode in _DAMAGED:
                with suppress(OSError):
                    self._file.unlink()
        except sqlite3.Error:
            return

    @staticmethod
    def _prune(store: sqlite3.Connection, form: str, keep: frozenset[str]) -> None:
        (count,) = store.execute("SELECT count(*) FROM kept WHERE form = ?", (form,)).fetchone()
        if keep and count > _MOST * len(keep) + _SPARE:
            old = [(form, one) for (one,) in store.execute("SELECT id FROM kept WHERE form = ?", (form,)) if one not in keep]
            store.executemany("DELETE FROM kept WHERE form = ? AND id = ?", old)

    def _open(self) -> "_Store":
        return _Store(self._file)


class _Store:
    """A connection that is committed and closed."""

    def __init__(self, file: Path) -> None:
        self._connection = sqlite3.connect(file, timeout=2.0)
        # What a power cut could tear is found by its checksum, or rebuilt.
        self._connection.execute("PRAGMA synchronous = OFF")

    def __enter__(self) -> sqlite3.Connection:
        return self._connection

    def __exit__(self, failed: object, *_: object) -> None:
        try:
            if failed is None:
                self._connection.commit()
        finally:
            self._connection.close()
