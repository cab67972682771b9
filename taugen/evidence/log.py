"""The history of a branch as one stream.

In: a repository and commits. Out: those, each with the files that it changed. One git process, whatever their number. What must never
happen: a commit message or a file name taken for something that git said: fields are told apart by NUL, which neither can hold, and by
their number.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from taugen.load import git, stream

_FORMAT = "--format=%x01%H%x00%P%x00%an%x00%B"
_OPTIONS = ("-z", "--raw", "--no-renames", "--no-abbrev", "--root", "--no-ext-diff", "--no-textconv", "--encoding=UTF-8")
_AT_ONCE = 100
"""Paths up to which git is told what to look for; it compares each change with each of them."""


class Change(NamedTuple):
    """A file that a commit changed: `status` as git says it (``A``, ``M``, ``D``, ``T``; a letter a parent for a merge), the new mode and
    object id, and the id before (of a merge that of its first parent)."""

    status: str
    path: str
    mode: str
    blob: str
    before: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, and what it changed: against all of its parents, or against one of them."""

    sha: str
    parents: tuple[str, ...]
    author: str
    message: str
    changes: list[Change]


def commits(repo: Path, tip: str, *, paths: Sequence[str] = ()) -> Generator[Commit, None, None]:
    """The commits that lead to `tip`, newest first, children never behind their parents; with `paths` only those that changed one of them.
    A merge says what differs from all parents. Raises `GitError`."""
    return _told(repo, ["-c", "--topo-order", "--end-of-options", tip, "--", *paths])


def ids(repo: Path, tip: str, since: str | None) -> list[str]:
    """The ids of the commits that lead to `tip`, but not to `since`, parents before their children. Raises `GitError`."""
    args = ["rev-list", "--topo-order", "--reverse", *([f"^{since}"] if since else []), "--end-of-options", tip]
    return git.run(args, cwd=repo).out.decode("ascii").split()


def of_ids(repo: Path, listed: Sequence[str]) -> Generator[Commit, None, None]:
    """These commits, in this order; a merge comes once for each parent with what differs from that one. Raises `GitError`."""
    if listed:  # of none git would show the newest
        yield from _told(repo, ["-m", "--no-walk=unsorted", "--end-of-options", *listed, "--"])


def _told(repo: Path, args: Sequence[str]) -> Generator[Commit, None, None]:
    with closing(stream.pieces(["log", *_OPTIONS, _FORMAT, *args], repo)) as tokens:
        yield from _read(token.decode("utf-8", "surrogateescape") for token in tokens)


def introduced(repo: Path, tip: str, blobs: Mapping[str, str]) -> dict[str, str]:
    """The newest commit that gave each path the content (object id) that it has at `tip`, by path; a path to which no commit gave it is
    left out. Raises `GitError`.

    The content is what counts: where two histories meet, the newest change of a path may be one that the merge did not take.
    """
    left = dict(blobs)
    found: dict[str, str] = {}
    with closing(commits(repo, tip, paths=sorted(left) if len(left) <= _AT_ONCE else ())) as history:
        for commit in history if left else ():
            for change in commit.changes:
                if left.get(change.path) == change.blob:
                    del left[change.path]
                    found[change.path] = commit.sha
            if not left:
                break
    return found


def _read(tokens: Iterator[str]) -> Iterator[Commit]:
    commit: Commit | None = None
    for token in tokens:
        start = token.lstrip("\n")
        if start.startswith(":"):
            assert commit is not None
            commit.changes.append(_change(start, next(tokens)))
        elif start.startswith("\x01"):
            if commit is not None:
                yield commit
            commit = Commit(start[1:], tuple(next(tokens).split()), next(tokens), next(tokens), [])
    if commit is not None:
        yield commit


def _change(raw: str, path: str) -> Change:
    """``:100644 100644 old new M``; of a merge a colon, a mode and an id more for each further parent."""
    fields = raw.split(" ")
    parents = len(fields[0]) - len(fields[0].lstrip(":"))
    return Change(fields[-1], path, fields[parents], fields[-2], fields[parents + 1])
