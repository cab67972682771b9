"""Opens an evidence branch for those who prove it: with its whole history, and with what policy says about it.

In: a folder inside of a project, or the URL of a repository; a branch. Out: `Audit`. A tip that was proven once is remembered in the
repository, so that a branch that is rewritten later is noticed. What must never happen: a proof of a history that was cut off.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from taugen.collect import stores
from taugen.diag import Refused, Severity
from taugen.evidence import fsck, store, summary, verify
from taugen.evidence.fsck import Found
from taugen.evidence.store import Branch
from taugen.evidence.verify import Proof
from taugen.load import fastimport, git
from taugen.pipeline import evidence, opening
from taugen.pipeline.source import read

_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class Place:
    """Where evidence is: as `store.Where`."""

    url: str | None
    branch: str


@dataclass(frozen=True)
class Audit:
    """An evidence branch. `signers` are the keys of each cluster, `source` the repository of the sources, None where it is not at hand;
    `name` is how people name the branch, `evidence` what git calls it."""

    branch: Branch
    name: str
    signers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    source: Path | None = None
    evidence: str = "evidence"

    @property
    def proven(self) -> str:
        """The reference that keeps the tip which was proven last."""
        return f"refs/taugen/proven/{sha256(self.name.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"


def opened(directory: Path, url: str | None, branch: str | None, *, fetch: bool = True) -> Audit:
    """Open the evidence branch of the project around `directory`, or that of the repository `url`. Raises `Refused`."""
    try:
        if url is not None:
            place = Place(url, branch or "evidence")
            return Audit(store.find(directory.resolve(), place, whole=True), f"branch {place.branch} of {url}", evidence=place.branch)
        return _of_project(directory, branch, fetch=fetch)
    except git.GitError as error:
        raise Refused(str(error), code=2) from None


def _of_project(directory: Path, branch: str | None, *, fetch: bool) -> Audit:
    reading = read(opening.opened(directory, "HEAD"))
    told = reading.project.evidence
    place = Place(told.url, branch or told.branch)
    found = store.find(reading.repo, place, whole=True)
    name = f"branch {place.branch}" + (f" of {place.url}" if place.url else "")
    if fetch and not place.url and git.run(["config", "--get", "remote.origin.url"], cwd=reading.repo, check=False).code == 0:
        there = fastimport.fetch(reading.repo, "origin", f"refs/heads/{place.branch}")
        # What the server has is what counts; a collector of this very repository may be further.
        if there is not None and not (found.tip is not None and git.is_ancestor(reading.repo, there, found.tip)):
            found = Branch(reading.repo, there)
    return Audit(found, name, evidence.keys(reading), reading.repo, place.branch)


def prove(audit: Audit, since: str | None = None) -> Proof:
    """Prove the branch, and remember its tip if nothing is wrong. Raises `Refused`."""
    repo, tip = audit.branch.repo, audit.branch.tip
    try:
        last = git.find(repo, audit.proven)
        known = [last] if last is not None else []
        told = summary.known(repo, audit.evidence)
        proof = verify.verify(audit.branch, signers=audit.signers, since=since, known=known, source=audit.source, summaries=told)
        if tip is not None and tip != last and not any(one.severity is Severity.ERROR for one in proof.findings):
            fastimport.update_ref(repo, audit.proven, tip, last)
    except git.GitError as error:
        raise Refused(f"{audit.name} can't be read: {error}", code=2) from None
    return proof


def look(audit: Audit, storage: Mapping[str, Path], *, contents: bool) -> list[Found]:
    """What became of the objects that records name. Raises `Refused`."""
    try:
        attempts = [attempt for listed in audit.branch.attempts_of(audit.branch.runs()).values() for attempt in listed]
        found: list[Found] = []
        for start in range(0, len(attempts), _AT_ONCE):
            records = audit.branch.records(attempts[start : start + _AT_ONCE])
            for attempt, record in records.items():
                found += fsck.look(fsck.pointers(attempt, record or {}), storage, stores.opened, contents=contents)
    except git.GitError as error:
        raise Refused(f"{audit.name} can't be read: {error}", code=2) from None
    return found
