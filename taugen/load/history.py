"""Reads a repository's history for people: the last commits of a branch, a commit's subject, the remotes.

In: a repository. Out: plain values. For commands that look once (`doctor`, `lock`); what compiles and publishes reads through
`taugen.load.git`. What must never happen: a
write, a connection, a credential in an answer.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from taugen.load.git import environment

if TYPE_CHECKING:
    from git import Repo


class Shown(Struct, frozen=True):
    """A commit as it is shown: `date` is the committer's day in UTC."""

    sha: str
    subject: str
    date: str


@contextmanager
def _opened(repo: Path) -> Iterator["Repo | None"]:
    """The repository around a folder, or None where there is none that can be read."""
    from git import Repo
    from git.exc import GitError

    try:
        opened = Repo(repo, search_parent_directories=True)
    except (GitError, OSError, ValueError):
        yield None
        return
    opened.git.update_environment(**environment())
    try:
        yield opened
    finally:
        opened.close()


def commits(repo: Path, ref: str, most: int = 3) -> list[Shown]:
    """The newest commits that `ref` leads to, newest first; none where there is no such ref."""
    from datetime import UTC

    from git.exc import GitError

    with _opened(repo) as opened:
        if opened is None:
            return []
        try:
            found = list(opened.iter_commits(ref, max_count=most))
            return [Shown(c.hexsha, str(c.summary), c.committed_datetime.astimezone(UTC).date().isoformat()) for c in found]
        except (GitError, ValueError, OSError):
            return []


def subject(repo: Path, sha: str) -> str:
    """The first line of a commit's message; empty where the repository doesn't have it."""
    found = commits(repo, sha, 1)
    return found[0].subject if found else ""


def remotes(repo: Path) -> dict[str, str]:
    """Name -> URL of the remotes, without user names and tokens."""
    with _opened(repo) as opened:
        return {} if opened is None else {remote.name: without_user(next(iter(remote.urls), "")) for remote in opened.remotes}


def without_user(url: str) -> str:
    """The URL without what stands before an @ in its host."""
    scheme, sep, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{sep}{host.rpartition('@')[2]}{slash}{path}" if sep else url
