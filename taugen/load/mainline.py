"""Who brought a file onto the main line, and how.

In: a repository, a commit, paths. Out: for each path the author of the newest commit that changed it, who approved that, and the pull
request, as far as messages say so. The main line are the first parents: a merge stands for what it brought, and its other parents say who
wrote it. What must never happen: an address of a person in an answer; a name for a file whose history was cut off.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from taugen.load import git, stream
from taugen.load.messages import trailers
from taugen.words.regex import regex

_ARGS = ("log", "-m", "--no-renames", "--no-ext-diff", "--name-only", "-z", "--encoding=UTF-8", "--format=%x01%H%x00%P%x00%an%x00%B")
_AT_ONCE = 100
"""Paths up to which git is told what to look for; it compares each change with each of them."""
_BLOCK = 1 << 16
"""Bytes that are read at once: mostly the first commits tell all."""
_APPROVED = ("approved-by", "reviewed-by", "acked-by")
"""Trailers by which GitLab, Bitbucket, Gerrit, Gitea and people say who approved, the plainest first."""
_PULL = regex(
    r"\AMerge pull request (?:'[^\n]*' \()?(?P<a>#\d{1,10})\b"  # GitHub, Gitea
    r"|\A[^\n]*\((?:pull request )?(?P<b>#\d{1,10})\)[ \t]*(?:\n|\Z)"  # GitHub's squash, Bitbucket
    r"|\AMerged PR (?P<c>\d{1,10}):"  # Azure DevOps
    r"|^See merge request (?P<d>[\w./-]{0,200}!\d{1,10})$",  # GitLab
    re.MULTILINE,
)
_LONGEST = 100


class Brought(Struct, frozen=True):
    """The `author` of a change, who approved it (`approver`, empty where nobody says so) and the pull request as its forge writes it
    (``#12``, ``group/project!12``; empty for none)."""

    author: str
    approver: str = ""
    pull: str = ""


class _Step(Struct, frozen=True):
    """A commit of which something was brought. `parents` are those that git goes on to: none where a history was cut off."""

    sha: str
    parents: tuple[str, ...]
    author: str
    message: str


class Mainline:
    """The main line that leads to `commit`, as a project below `prefix` sees it: all paths are the project's. What is known of it already
    can be told by `knows`."""

    def __init__(self, repo: Path, commit: str, prefix: str = "") -> None:
        self.repo, self.commit, self._folder = repo, commit, f"{prefix}/" if prefix else ""
        self._by: dict[str, _Step] = {}
        """Path -> the newest commit of the main line that changed it, where that is known beforehand."""
        self._told: dict[str, Brought | None] = {}

    def knows(self, before: str, changed: Iterable[str]) -> None:
        """`changed` are the paths that differ between the commit `before` and this one: if only the last step lies between, that made
        them."""
        info = git.commit_info(self.repo, self.commit)
        if info.parents[:1] == (before,):
            self._by.update(dict.fromkeys(changed, _Step(info.sha, info.parents, info.author_name, info.message)))

    def look(self, paths: Iterable[str]) -> None:
        """Find out who brought paths, so that `brought` need not ask for each few of them. Raises `GitError`."""
        wanted = [path for path in dict.fromkeys(paths) if path not in self._told]
        if not wanted:
            return
        found = {path: self._by[path] for path in wanted if path in self._by}
        if len(found) < len(wanted):
            found |= self._newest(["--first-parent", "--end-of-options", self.commit], [path for path in wanted if path not in found])
        by: dict[str, list[str]] = {}
        for path, step in found.items():
            by.setdefault(step.sha, []).append(path)
        self._told |= dict.fromkeys(wanted)
        for mine in by.values():
            self._told |= self._step(found[mine[0]], mine)

    def brought(self, paths: Sequence[str]) -> dict[str, Brought]:
        """Who brought each path; one whose history was cut off is left out. Raises `GitError`."""
        self.look(paths)
        return {path: by for path in paths if (by := self._told[path]) is not None}

    def _step(self, step: _Step, paths: Sequence[str]) -> Iterator[tuple[str, Brought]]:
        if not step.parents and git.commit_info(self.repo, step.sha).parents:  # a shallow clone ends here: it may have been an older one
            return
        merge = len(step.parents) > 1
        inside = self._newest(["--no-merges", f"^{step.parents[0]}", "--end-of-options", step.sha], paths) if merge else {}
        for path in paths:
            wrote = inside.get(path, step)
            author, merged = _name(wrote.author), _name(step.author)
            said = {name: None for text in (step.message, wrote.message) for name in _approvers(text)}
            approver = ", ".join(said) or (merged if merge and merged != author else "")
            found = _PULL.search(step.message) or _PULL.search(wrote.message)
            pull = "" if found is None else f"#{found['c']}" if found["c"] else found["a"] or found["b"] or found["d"]
            yield path, Brought(author, approver[:_LONGEST], pull)

    def _newest(self, which: Sequence[str], paths: Iterable[str]) -> dict[str, _Step]:
        folder = self._folder
        return {path.removeprefix(folder): step for path, step in _newest(self.repo, which, (folder + path for path in paths)).items()}


def _newest(repo: Path, which: Sequence[str], paths: Iterable[str]) -> dict[str, _Step]:
    """The first commit among `which` that changed each path."""
    left = {path.encode("utf-8", "surrogateescape"): path for path in paths}
    args = [*_ARGS, *which, "--", *(sorted(left.values()) if len(left) <= _AT_ONCE else ())]
    found: dict[str, _Step] = {}
    head: tuple[bytes, ...] = ()
    step: _Step | None = None
    with closing(stream.pieces(args, repo, size=_BLOCK)) as pieces:
        for piece in pieces:
            if piece.startswith(b"\x01"):
                head, step = (piece[1:], *(next(pieces, b"") for _ in range(3))), None
            elif (path := left.pop(piece.removeprefix(b"\n"), None)) is not None:
                step = step or _of(head)
                found[path] = step
                if not left:
                    break
    return found


def _of(head: Sequence[bytes]) -> _Step:
    sha, parents, author, message = (part.decode("utf-8", "replace") for part in head)
    return _Step(sha, tuple(parents.split()), author, message)


def _approvers(message: str) -> list[str]:
    found = {key.lower(): values for key, values in reversed(trailers(message).items())}
    return next(([name for value in found[key] if (name := _name(value.partition("<")[0]))] for key in _APPROVED if key in found), [])


def _name(text: str) -> str:
    """A name as evidence may hold it: on one line, and of an address no more than whose it is."""
    words = (word.partition("@")[0] for word in text.split())
    return "".join(c for c in " ".join(words) if c.isprintable())[:_LONGEST].strip()
