"""A source of which some places come from a commit that is trusted.

In: what is judged, and the commit by which it is judged. Out: one source. What must never happen: a file of a trusted place read from what
is judged, also through a link, or the other way round.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from taugen.load.git import Entry
from taugen.load.source import SourceTree


class TrustedTree(SourceTree):
    """`judged` without the trusted places, which are those of `trusted`; `is_trusted` says it of a path."""

    def __init__(self, judged: SourceTree, trusted: SourceTree, is_trusted: Callable[[str], bool]) -> None:
        self.judged = judged
        self.trusted = trusted
        self.is_trusted = is_trusted

    def _side(self, path: str) -> SourceTree:
        return self.trusted if self.is_trusted(path) else self.judged

    @property
    def root_label(self) -> str:
        """That of what is judged."""
        return self.judged.root_label

    @property
    def commit(self) -> str | None:
        """The commit that is judged, None for a folder."""
        return self.judged.commit

    @property
    def hash_name(self) -> str:
        """That of the repository."""
        return self.judged.hash_name

    @property
    def lfs(self) -> frozenset[str]:
        """Of what is judged; a commit has none."""
        return frozenset(path for path in self.judged.lfs if not self.is_trusted(path))

    @cached_property
    def _paths(self) -> dict[str, Entry]:
        mine = {path: entry for path, entry in self.judged.paths().items() if not self.is_trusted(path)}
        return mine | {path: entry for path, entry in self.trusted.paths().items() if self.is_trusted(path)}

    def paths(self) -> Mapping[str, Entry]:
        """Of both."""
        return self._paths

    def untracked(self) -> Sequence[str]:
        """Of what is judged."""
        return [path for path in self.judged.untracked() if not self.is_trusted(path)]

    def documents(self, matches: Callable[[str], bool]) -> list[str]:
        """Of both."""
        mine = self.judged.documents(lambda path: matches(path) and not self.is_trusted(path))
        return sorted(mine + self.trusted.documents(lambda path: matches(path) and self.is_trusted(path)))

    def read(self, path: str, limit: int | None = None) -> bytes:
        """From the side that the path belongs to."""
        return self._side(path).read(path, limit)

    def readlink(self, path: str) -> str:
        """From the side that the path belongs to."""
        return self._side(path).readlink(path)

    def prefetch(self, paths: Iterable[str]) -> None:
        """On each side what belongs to it."""
        listed = list(paths)
        self.judged.prefetch(path for path in listed if not self.is_trusted(path))
        self.trusted.prefetch(path for path in listed if self.is_trusted(path))
