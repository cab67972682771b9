"""Objects of Git that no Git writes, but that somebody can push: what a difference of commits does not show.

In: a repository, a commit or commits. Out: findings. What must never happen: two files under one path, of which the proof looked at one and
a reader at the other; a text behind the end that Git shows.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from taugen.diag import Diagnostic
from taugen.evidence.contents import fault
from taugen.load import stream
from taugen.load.partial import Objects

_AT_ONCE = 1000
_COMMIT = re.compile(
    rb"tree [0-9a-f]+\n(?:parent [0-9a-f]+\n)*author [^\n\0]*\ncommitter [^\n\0]*\n"
    rb"(?:gpgsig(?:-sha256)? [^\n\0]*\n(?: [^\n\0]*\n)*)?\n[^\0]*"
)


def paths(repo: Path, tip: str) -> Iterator[Diagnostic]:
    """Paths of a commit that stand twice, or not in Git's order. Raises `GitError`."""
    for before, after in pairwise(_listed(repo, tip)):
        if before >= after:
            path = after.decode("utf-8", "backslashreplace")
            what = "it stands there twice" if before == after else "it is not in the order in which Git writes names"
            yield fault(
                "evidence-content", path, f"{what}: its folder was not made by Git", "ask who pushed it; receive.fsckObjects refuses such"
            )


def _listed(repo: Path, tip: str) -> Iterator[bytes]:
    return stream.pieces(["ls-tree", "-r", "-z", "--name-only", "--full-tree", tip], repo)


def commits(objects: Objects, added: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Commits, each with a file that it added, that hold what a collector never writes: other headers (an encoding, in which the rest would
    say something else), a NUL. Raises `GitError`."""
    for some in _blocks(sorted(added)):
        for sha, content in zip(some, objects.read(some), strict=True):
            if content is None or _COMMIT.fullmatch(content) is None:
                message = f"commit {sha} has headers or a NUL that no collector writes"
                yield fault("evidence-trailer", added[sha], message, "git cat-file commit shows all of it")


def _blocks(listed: list[str]) -> Iterable[list[str]]:
    return (listed[start : start + _AT_ONCE] for start in range(0, len(listed), _AT_ONCE))
