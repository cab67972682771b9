"""Looks at the files that commits added: form, content, whose they are, what their commit says about them.

In: commits with the files that each added. Out: `Seen`: findings, and what is to be looked at once all is known. Blocks of commits do not
depend on each other, so that several processes share them. What must never happen: an exception, whatever the files hold.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from taugen.diag import Diagnostic, Severity
from taugen.evidence import contents, trailers
from taugen.evidence.contents import fault
from taugen.evidence.log import Change, Commit
from taugen.evidence.paths import Place, node_event, parse
from taugen.load import messages
from taugen.load.partial import Objects

FILE = "100644"
_COLLECTOR = re.compile(r"taugen collector ([a-z0-9.-]+)")


class Added(NamedTuple):
    """A commit, the files that it added, and what was found of whatever else it did."""

    commit: Commit
    changes: list[Change]
    findings: list[Diagnostic]


@dataclass
class Seen:
    """What was looked at. `clusters`: cluster -> commit -> a file that it added; `sources`: source commit -> a file that names it; `logs`:
    path of a log -> (sha256, the record that says so)."""

    findings: list[Diagnostic] = field(default_factory=list)
    files: int = 0
    records: int = 0
    clusters: dict[str, dict[str, str]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    logs: dict[str, tuple[str, str]] = field(default_factory=dict)

    def join(self, other: "Seen") -> None:
        """Add what was seen of later commits."""
        self.findings += other.findings
        self.files += other.files
        self.records += other.records
        for cluster, commits in other.clusters.items():
            self.clusters.setdefault(cluster, {}).update(commits)
        self.sources |= other.sources
        self.logs |= other.logs


def look(objects: Objects, block: Sequence[Added]) -> Seen:
    """Check the files of some commits. Raises `GitError`."""
    seen = Seen()
    placed = [(commit, [(change, parse(change.path)) for change in added], told) for commit, added, told in block]
    found = iter(objects.read([change.blob for _, added, _ in placed for change, place in added if _is_read(change, place)]))
    for commit, added, told in placed:
        seen.findings += told
        files: dict[str, bytes | None] = {}
        for change, place in added:
            content = next(found) if _is_read(change, place) else None
            files[change.path] = content if place is not None and trailers.needs_content(place) else None
            seen.findings += _file(seen, commit, change, place, content)
        seen.findings += _said(commit, files)
        if not commit.changes and (by := _COLLECTOR.fullmatch(commit.author)) is not None:
            # It says that this collector lives, which nobody else may say.
            seen.clusters.setdefault(by[1], {}).setdefault(commit.sha, ".")
    return seen


def _is_read(change: Change, place: Place | None) -> bool:
    """Logs are read later, by what their records say."""
    return change.mode == FILE and (place.kind != "log" if place is not None else node_event(change.path) is not None)


def _file(at: Seen, commit: Commit, change: Change, place: Place | None, content: bytes | None) -> Iterator[Diagnostic]:
    at.files += 1
    path = change.path
    node = node_event(path) if place is None else None
    cluster = place.run.cluster if place is not None else node[0] if node is not None else None
    if cluster is None:
        message = f"it is no evidence; commit {commit.sha} by {commit.author} added it"
        yield fault("evidence-foreign", path, message, severity=Severity.WARNING)
        return
    if change.mode != FILE:
        yield fault("evidence-content", path, f"it is no plain file (mode {change.mode}), since commit {commit.sha}")
        return
    at.clusters.setdefault(cluster, {}).setdefault(commit.sha, path)
    if commit.author != f"taugen collector {cluster}":
        message = f"it stands under cluster {cluster}, and commit {commit.sha} is by {commit.author}"
        yield fault("evidence-cluster", path, message, "only the collector of a cluster writes below its folder")
    if place is not None and place.kind == "log":
        return
    if content is None:
        yield fault("evidence-content", path, f"its content (object {change.blob}) is missing")
        return
    yield from contents.check(path, place, content)
    if place is not None and place.kind == "record":
        at.records += 1
        at.logs.update({log_path: (digest, path) for log_path, digest in contents.logs_of(content).items()})
    elif place is not None and place.kind == "run":
        at.sources |= {value.rpartition(" ")[2]: path for key, value in trailers.of({path: content}) if key == trailers.SOURCE}


def _said(commit: Commit, files: Mapping[str, bytes | None]) -> Iterator[Diagnostic]:
    """Whether a commit's trailers are those that follow from its files."""
    found = messages.trailers(commit.message)
    said = {(key, value) for key in trailers.DERIVED for value in found.get(key, ())}
    wanted = set(trailers.of(files))
    first = min(files, default=".")
    for key, value in sorted(said - wanted):
        yield fault("evidence-trailer", first, f"commit {commit.sha} says {key}: {value}, which does not follow from its files")
    for key, value in sorted(wanted - said):
        yield fault("evidence-trailer", first, f"commit {commit.sha} does not say {key}: {value}, which follows from its files")
