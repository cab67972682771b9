"""A commit as a source.

In: a repository, bare or not, and a commit. Out: its files, from the object store. What must never happen: a checkout, a question to a
server.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Self

from taugen.load import git
from taugen.load.git import Entry
from taugen.load.source import LINK, SUBMODULE, SourceTree, Unreadable, too_large

_CACHE_BYTES = 32 * 1024 * 1024
_CACHED_BLOB = 64 * 1024  # bytes
_LONGEST_LINK = 4096  # bytes, PATH_MAX of Linux


class GitTree(SourceTree):
    """The files of `commit` below `prefix`; with `only`, as if nothing but these files and folders (relative to it) were there.

    Ends its git process when closed or collected; reading after `close` starts a new one.
    """

    lfs: frozenset[str] = frozenset()

    def __init__(self, repo: Path | str, commit: str, prefix: str = "", only: Sequence[str] = ()) -> None:
        self.repo = Path(repo)
        self.sha = git.resolve(self.repo, commit)
        self.prefix = prefix.strip("/")
        self._only = tuple(only)
        self._cat: git.CatFile | None = None
        self._cache: dict[str, bytes] = {}
        self._cached = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the git process that reads contents."""
        if self._cat is not None:
            self._cat.close()
            self._cat = None

    def detach(self) -> None:
        """Leave the git process to the process that started it: for forked workers, which get their own with the first read."""
        self._cat = None

    @property
    def root_label(self) -> str:
        """The short id of the commit."""
        return f"commit {self.sha[:12]}"

    @property
    def commit(self) -> str:
        """The full id of the commit."""
        return self.sha

    @property
    def hash_name(self) -> str:
        """As the length of an id tells."""
        return "sha256" if len(self.sha) == 64 else "sha1"

    @cached_property
    def _paths(self) -> dict[str, Entry]:
        return git.ls_tree(self.repo, self.sha, self.prefix, self._only)

    def paths(self) -> Mapping[str, Entry]:
        """All files, each with its blob."""
        return self._paths

    def untracked(self) -> Sequence[str]:
        """None: a commit holds only what was added."""
        return ()

    def documents(self, matches: Callable[[str], bool]) -> list[str]:
        """Files and folders of the commit."""
        return sorted([p for p in self._paths if matches(p)] + [f for f in self.folders() if f and matches(f)])

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The content of a blob; one above `limit` is passed over, not kept."""
        entry = self._entry(path)
        if entry.mode == LINK:
            raise Unreadable(path, "is a symbolic link")
        return self._content(path, entry, limit)

    def readlink(self, path: str) -> str:
        """The content of a link's blob."""
        entry = self._entry(path)
        if entry.mode != LINK:
            raise Unreadable(path, "is no symbolic link")
        return self._content(path, entry, _LONGEST_LINK).decode("utf-8", "surrogateescape")

    def prefetch(self, paths: Iterable[str]) -> None:
        """Read small contents in blocks into a bounded cache."""
        entries = (self._paths.get(path) for path in paths)
        blobs = list(dict.fromkeys(e.blob for e in entries if e and e.blob and e.mode != SUBMODULE and e.blob not in self._cache))
        for blob, content in zip(blobs, self._objects().read_many(blobs, _CACHED_BLOB), strict=True):
            if isinstance(content, bytes):
                self._keep(blob, content)

    def _entry(self, path: str) -> Entry:
        entry = self._paths.get(path)
        if entry is None:
            raise Unreadable(path, "is a folder" if path in self.folders() else "does not exist")
        if entry.mode == SUBMODULE:
            raise Unreadable(path, "is a submodule")
        return entry

    def _content(self, path: str, entry: Entry, limit: int | None) -> bytes:
        blob = str(entry.blob)
        content: bytes | int | None = self._cache.get(blob)
        if content is None:
            content = next(self._objects().read_many([blob], limit))
            if isinstance(content, bytes):
                self._keep(blob, content)
        if content is None:
            raise Unreadable(path, f"is missing in the repository (object {blob[:12]}; a partial clone has to fetch it first)")
        size = content if isinstance(content, int) else len(content)
        if isinstance(content, int) or (limit is not None and size > limit):
            raise too_large(path, size, limit or 0)
        return content

    def _keep(self, blob: str, content: bytes) -> None:
        if len(content) > _CACHED_BLOB:
            return
        if self._cached > _CACHE_BYTES:
            self._cache.clear()
            self._cached = 0
        self._cache[blob] = content
        self._cached += len(content)

    def _objects(self) -> git.CatFile:
        # Two processes on one pipe would read each other's answers.
        if self._cat is None or not self._cat.ours:
            self._cat = git.CatFile(self.repo)
        return self._cat
