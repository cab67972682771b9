"""Who brought a file onto the main line, and how.

In: a repository, a commit, paths. Out: for each path the author of the newest commit that changed it, who approved that, and the pull
request, as far as messages say so. The main line are the first parents: a merge stands for what it brought, and its other parents say who
wrote it. What must never happen: an address of a person in an answer; a name for a file whose history was cut off.
"""

import re
import subprocess
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO

from msgspec import Struct

from taugen.load import git
from taugen.load.messages import trailers
from taugen.words.regex import regex

_ARGS = ("log", "-m", "--no-renames", "--no-ext-diff", "--name-only", "-z", "--format=%x01%H")
_AT_ONCE = 100
"""Paths up to which git is told what to look for; it compares each change with each of them."""
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


class Mainline:
    """The main line that leads to `commit`. What is known of it already can be told by `knows`."""

    def __init__(self, repo: Path, commit: str) -> None:
        self.repo, self.commit = repo, commit
        self._by: dict[str, str] = {}
        """Path -> the newest commit of the main line that changed it."""

    def knows(self, before: str, changed: Iterable[str]) -> None:
        """`changed` are the paths that differ between the commit `before` and this one: if only the last step lies between, that made
        them."""
        if git.commit_info(self.repo, self.commit).parents[:1] == (before,):
            self._by.update(dict.fromkeys(changed, self.commit))

    def look(self, paths: Iterable[str]) -> None:
        """Find the commits that brought paths. Raises `GitError`."""
        left = {path for path in paths if path not in self._by}
        if left:
            self._by |= _newest(self.repo, ["--first-parent", "--end-of-options", self.commit], left)

    def brought(self, paths: Sequence[str]) -> dict[str, Brought]:
        """Who brought each path; one whose history was cut off is left out. Raises `GitError`."""
        self.look(paths)
        by: dict[str, list[str]] = {}
        for path in paths:
            if (step := self._by.get(path)) is not None:
                by.setdefault(step, []).append(path)
        out: dict[str, Brought] = {}
        for step, mine in by.items():
            out |= self._step(step, mine)
        return out

    def _step(self, step: str, paths: Sequence[str]) -> Iterator[tuple[str, Brought]]:
        info = git.commit_info(self.repo, step)
        if info.parents and git.find(self.repo, f"{step}^1") is None:  # a shallow clone ends here: it may have been an older one
            return
        inside = {}
        if len(info.parents) > 1:
            inside = _newest(self.repo, ["--no-merges", f"^{info.parents[0]}", "--end-of-options", step], set(paths))
        for path in paths:
            wrote = git.commit_info(self.repo, inside.get(path, step))
            author, merged = _name(wrote.author_name), _name(info.author_name)
            said = {name: None for text in (info.message, wrote.message) for name in _approvers(text)}
            approver = ", ".join(said) or (merged if len(info.parents) > 1 and merged != author else "")
            found = _PULL.search(info.message) or _PULL.search(wrote.message)
            pull = "" if found is None else f"#{found['c']}" if found["c"] else found["a"] or found["b"] or found["d"]
            yield path, Brought(author, approver[:_LONGEST], pull)


def _newest(repo: Path, which: Sequence[str], paths: set[str]) -> dict[str, str]:
    """The first commit among `which` that changed each path."""
    left, found = set(paths), {}
    args = [*_ARGS, *which, "--", *(sorted(left) if len(left) <= _AT_ONCE else ())]
    said = git.spool(args)
    process = git.start(args, cwd=repo, stdin=subprocess.DEVNULL, stderr=said)
    try:
        assert process.stdout is not None
        commit = ""
        with closing(_tokens(process.stdout)) as tokens:
            for token in tokens:
                if token.startswith("\x01"):
                    commit = token[1:]
                elif (path := token.removeprefix("\n")) in left:
                    found[path] = commit
                    left.discard(path)
                    if not left:
                        break
        if left and (code := process.wait()):
            said.seek(0)
            raise git.GitError(args, code, said.read().decode("utf-8", "replace"))
    finally:
        git.stop(process)
        said.close()
    return found


def _tokens(stream: IO[bytes]) -> Generator[str, None, None]:
    rest = b""
    while block := stream.read(1 << 16):
        *whole, rest = (rest + block).split(b"\0")
        yield from [token.decode("utf-8", "surrogateescape") for token in whole]
    if rest:
        yield rest.decode("utf-8", "surrogateescape")


def _approvers(message: str) -> list[str]:
    found = {key.lower(): values for key, values in reversed(trailers(message).items())}
    return next(([name for value in found[key] if (name := _name(value.partition("<")[0]))] for key in _APPROVED if key in found), [])


def _name(text: str) -> str:
    """A name as evidence may hold it: on one line, and of an address no more than whose it is."""
    words = (word.partition("@")[0] for word in text.split())
    return "".join(c for c in " ".join(words) if c.isprintable())[:_LONGEST].strip()
