"""Writes the summary of a cluster, and compares one with the evidence.

In: a commit of the evidence branch, the summary before. Out: once an hour a commit for the branch ``<evidence>-summary/<cluster>`` of the
remote, to be pushed with the evidence that comes next; or the lines that are wrong. What must never happen: evidence that is not written
because its summary could not be.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from taugen.evidence import index, summary, trees
from taugen.evidence.summary import Line
from taugen.load import fastimport, git, partial
from taugen.load.fastimport import Move
from taugen.load.partial import Objects

AUTHOR = "taugen collector "
LEAST = 1000
"""Runs of a cluster below which a summary saves nobody any time."""
_COMMITS = 360
"""Commits after which a summary is written, whatever their times: an hour's at 6 a minute."""
_AT_ONCE = 2000
_REF = "refs/taugen/own-summary"


class Summarizer:
    """Keeps the summary of one cluster. `repo` has the evidence's folders, `author` is the name to commit under: that of the cluster's
    collector."""

    def __init__(self, repo: Path, remote: str, evidence: str, author: str, least: int = LEAST) -> None:
        self._repo, self._remote, self._author, self._least = repo, remote, author, least
        self._cluster = author.removeprefix(AUTHOR)
        self._ref = f"refs/heads/{summary.branch_of(evidence, self._cluster)}"
        self._hour: str | None = None
        self._commits = 0

    def made(self, objects: Objects, tip: str, seconds: int) -> Move | None:
        """The evidence was added to by the commit `tip` of the time `seconds`. The summary's own new commit, if it is time for one, to be
        pushed. Raises `GitError`."""
        self._commits += 1
        hour = _hour(seconds)
        if self._hour is not None and hour <= self._hour and self._commits < _COMMITS:
            return None
        old = partial.fetch(self._repo, self._remote, self._ref, _REF)
        last = _hour(int(git.commit_info(self._repo, old).committer_date.split()[0])) if old is not None else ""
        due = hour > last or self._commits >= _COMMITS
        self._hour, self._commits = max(hour, last), 0
        new = self._written(objects, tip, old, seconds) if due else None
        return Move(self._ref, new, old) if new is not None else None

    def _written(self, objects: Objects, tip: str, old: str | None, seconds: int) -> str | None:
        folders = index.buckets(objects, tip, [self._cluster])
        runs = runs_in(objects, folders)
        if len(runs) < self._least:
            return None
        changes = list(changed(objects, runs, old))
        if not changes:
            return None
        who = f"{self._author} <collector@taugen.dev> {seconds} +0000".encode()
        message = f"summary of {self._cluster}\n\nTau-Evidence: {tip}\n".encode()
        parents = [old] if old is not None else []
        return fastimport.commit_tree(self._repo, parents=parents, message=message, author=who, committer=who, changes=changes, base=old)


def runs_in(objects: Objects, folders: Mapping[str, str]) -> dict[str, str]:
    """The folders of runs in some folders, with the ids of their trees. Raises `GitError`."""
    level = trees.read(objects, folders)
    return {f"{path}/{name}": child.id for path, inside in level.items() for name, child in inside.items() if child.folder}


def changed(objects: Objects, runs: Mapping[str, str], old: str | None) -> Iterator[tuple[str, bytes | None]]:
    """The files of the summary of these runs that differ from those of the commit `old`; None for one that is to go. Raises `GitError`."""
    before = dict(summary.files(objects, old)) if old is not None else {}
    lines: dict[str, Line] = {}
    for content in before.values():
        for one in summary.lines(content):
            path = f"{_folder(runs)}/{one.workspace}/{one.run[-8:-6]}/{one.run}"
            if runs.get(path) == one.tree:
                lines[path] = one
    left = iter([path for path in runs if path not in lines])
    while some := list(islice(left, _AT_ONCE)):
        found = index.of_runs(objects, {path: runs[path] for path in some})
        for path, attempts in found.items():
            if attempts:
                lines[path] = Line(path.split("/")[2], path.rpartition("/")[2], runs[path], attempts)
    now: dict[str, list[Line]] = {}
    for line in lines.values():
        now.setdefault(summary.file_of(line.attempts), []).append(line)
    yield from ((path, None) for path in before if path not in now)
    for path, told in now.items():
        if path not in before or sorted(told) != summary.lines(before[path]):
            yield path, summary.packed(told)


def _folder(runs: Mapping[str, str]) -> str:
    """``<cluster>/runs``."""
    return "/".join(next(iter(runs), "").split("/")[:2])


def wrong(objects: Objects, tip: str, commit: str, cluster: str) -> Iterator[str]:
    """The folders of runs of which a summary says, of their folder as it is, what their files do not. Raises `GitError`."""
    runs = runs_in(objects, index.buckets(objects, tip, [cluster]))
    told = iter(summary.read(objects, commit, cluster, runs).items())
    while some := dict(islice(told, _AT_ONCE)):
        found = index.of_runs(objects, {path: runs[path] for path in some})
        yield from (path for path, attempts in some.items() if found[path] != attempts)


def _hour(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H")
