"""What a source is, whether a folder or a commit.

In: nothing; this is the contract of `worktree` and `committed`. Out: paths relative to a root, with ``/``, entries and contents. What must
never happen, in either kind: a read outside the root, also through symbolic links; a pipe or device opened; more read than the caller's
limit; anything written, checked out or fetched.

Names that are not UTF-8 keep their bytes as surrogate escapes: whoever prints or delivers a path looks at them (`code.collect` does).
"""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from taugen.load.git import Entry

FILE, EXECUTABLE, LINK, SUBMODULE = "100644", "100755", "120000", "160000"


class Unreadable(Exception):  # noqa: N818 - it names what a path is
    """A path that can't be read: `path`, and `why` as the end of a sentence (``is a folder``, ``has 52428800 bytes, ...``)."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        self.why = why
        super().__init__(f"{path} {why}")


def too_large(path: str, size: int, limit: int) -> Unreadable:
    """The error for a file of more than `limit` bytes."""
    return Unreadable(path, f"has {size} bytes, more than the {limit} that are read")


class SourceTree(ABC):
    """What the stages know of a source. It is read once and does not change while it is used."""

    @property
    @abstractmethod
    def root_label(self) -> str:
        """How messages name the source: a folder, or a commit."""

    @property
    @abstractmethod
    def commit(self) -> str | None:
        """The commit that is read, None for a folder."""

    @property
    @abstractmethod
    def hash_name(self) -> str:
        """How object ids are made: ``sha1`` or ``sha256``."""

    @property
    @abstractmethod
    def lfs(self) -> frozenset[str]:
        """The paths for which Git stores a pointer of LFS in place of what `read` gives; of a commit `read` gives the pointers."""

    @abstractmethod
    def paths(self) -> Mapping[str, Entry]:
        """The tracked files; every file where there is no Git. `blob` is None for what differs on disk from what Git knows."""

    @abstractmethod
    def untracked(self) -> Sequence[str]:
        """Files that Git neither tracks nor ignores, sorted, repositories inside this one with a slash at the end; none in a commit."""

    @abstractmethod
    def documents(self, matches: Callable[[str], bool]) -> list[str]:
        """What stands at a path that `matches`, tracked or not: files, links and folders (reading a folder raises `Unreadable`)."""

    @abstractmethod
    def read(self, path: str, limit: int | None = None) -> bytes:
        """The content of a regular file of at most `limit` bytes. Raises `Unreadable`, for links too: see `taugen.load.links`."""

    @abstractmethod
    def readlink(self, path: str) -> str:
        """The text of a symbolic link. Raises `Unreadable`."""

    @abstractmethod
    def prefetch(self, paths: Iterable[str]) -> None:
        """Say that these will be read soon: contents of a commit come in one go."""

    def below(self, folder: str) -> Sequence[str]:
        """The paths of `paths` below a folder, sorted; all of them for ``""``."""
        if not folder:
            return self._sorted
        # "0" is the character after "/".
        return self._sorted[bisect_left(self._sorted, folder + "/") : bisect_left(self._sorted, folder + "0")]

    def folders(self) -> frozenset[str]:
        """Every folder that holds a tracked file, ``""`` included."""
        return self._folders

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self.paths())

    @cached_property
    def _folders(self) -> frozenset[str]:
        found = {""}
        for path in self.paths():
            folder = path.rpartition("/")[0]
            while folder not in found:
                found.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(found)
