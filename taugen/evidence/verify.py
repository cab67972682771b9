"""Proves an evidence branch: nothing was ever changed, and everything is whose it claims to be.

In: a branch with its whole history, the keys of each cluster, an older tip, the sources. Out: findings, each with the file and the commit.
The history is read once, contents in blocks. What must never happen: a change that a merge, a mode, a rename or a second root hides; a
finding for what the collector itself writes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from taugen.diag import Diagnostic, Severity, Span
from taugen.evidence import contents, keys, log, odd, summarize, trailers
from taugen.evidence.contents import fault
from taugen.evidence.log import Change, Commit
from taugen.evidence.paths import parse
from taugen.evidence.seen import Added, Seen, look
from taugen.evidence.store import Branch
from taugen.load import git, messages
from taugen.load.partial import Objects
from taugen.load.share import shared

_BLOCK = 5000
"""Files whose contents are read at once."""
_FEWEST, _PART, _EACH = 50, 500, 64
"""Commits of a part: at least, at most, and which share of all, so that no process waits long for another's last."""
_LOGS = 100
MOST = 1000
"""Findings that are kept."""


@dataclass
class Proof:
    """What was looked at, and what was found: the first `MOST` findings, and how many `more` there are."""

    findings: list[Diagnostic] = field(default_factory=list)
    commits: int = 0
    files: int = 0
    records: int = 0
    signed: int = 0
    more: int = 0

    def add(self, found: Iterable[Diagnostic]) -> None:
        """Keep findings, the first of them at least."""
        for one in found:
            if len(self.findings) < MOST:
                self.findings.append(one)
            else:
                self.more += 1

    def join(self, other: "Proof") -> None:
        """Add what was found in later commits."""
        self.add(other.findings)
        self.more += other.more
        self.commits += other.commits


def verify(
    branch: Branch,
    *,
    signers: Mapping[str, Sequence[str]] | None = None,
    since: str | None = None,
    known: Sequence[str] = (),
    source: Path | None = None,
    summaries: Mapping[str, str] | None = None,
) -> Proof:
    """Prove the branch.

    `signers` are SSH public keys by cluster (a cluster without any needs no signatures); `since` is a tip known from before: it must be in
    the history, and only what came after it is looked at; `known` are tips that must be there too; `source` is a repository of the sources;
    `summaries` are commits of the clusters' summaries.
    Raises `GitError` for a damaged repository, `Refused` where ssh-keygen is missing.
    """
    proof = Proof()
    if branch.tip is None:
        proof.add(_history(f"the branch is gone; it was at {old}") for old in [*known, *([since] if since else [])])
        return proof
    started = _start(branch, since, known, proof)
    if started is None:
        return proof
    seen = Seen()
    for found, part in _looked(branch, log.ids(branch.repo, str(branch.tip), started or None)):
        proof.join(found)
        seen.join(part)
    proof.files, proof.records = seen.files, seen.records
    proof.add(odd.paths(branch.repo, str(branch.tip)))
    proof.add(odd.commits(branch.objects, {sha: path for commits in seen.clusters.values() for sha, path in commits.items()}))
    proof.add(_logs(branch, seen))
    proof.add(_signatures(branch, seen, signers or {}, proof))
    proof.add(_sources(seen, source))
    for cluster, commit in sorted((summaries or {}).items()):
        proof.add(_summary(branch, cluster, commit))
    return proof


def _blocks(added: Iterable[Added]) -> Iterator[list[Added]]:
    block: list[Added] = []
    waiting = 0
    for one in added:
        block.append(one)
        waiting += len(one.changes)
        if waiting >= _BLOCK:
            yield block
            block, waiting = [], 0
    if block:
        yield block


def _looked(branch: Branch, commits: Sequence[str]) -> Iterator[tuple[Proof, Seen]]:
    """What was found in the commits, part by part in their order."""
    size = min(_PART, max(_FEWEST, len(commits) // _EACH))
    branch.close()
    return shared(partial(_part, branch.repo), [commits[start : start + size] for start in range(0, len(commits), size)])


def _part(repo: Path, commits: Sequence[str]) -> tuple[Proof, Seen]:
    """Look at some commits. Raises `GitError`."""
    proof, seen = Proof(commits=len(commits)), Seen()
    with Objects(repo) as objects:
        for block in _blocks(_added(repo, commits)):
            part = look(objects, block)
            proof.add(part.findings)
            seen.join(replace(part, findings=[]))
    return proof, seen


def _history(message: str, hint: str = "ask who may push to the branch; protect it from force-pushes") -> Diagnostic:
    return Diagnostic("evidence-history", message, Span("."), hint=hint)


def _start(branch: Branch, since: str | None, known: Sequence[str], proof: Proof) -> str | None:
    """Where to begin: `since`, or empty for the beginning of everything; None where the history can't be read at all."""
    tip = str(branch.tip)
    if git.is_shallow(branch.repo):
        proof.add([_history("the history was cut off: this is a shallow clone", "git fetch --unshallow, then again")])
        return None
    roots = git.run(["rev-list", "--max-parents=0", "--end-of-options", tip], cwd=branch.repo).out.decode("ascii").split()
    if len(roots) > 1:
        proof.add([_history(f"it has {len(roots)} beginnings: {', '.join(root[:12] for root in roots)}", "a branch of evidence has one")])
    previous = [old for root in roots for old in messages.trailers(git.commit_info(branch.repo, root).message).get(trailers.PREVIOUS, ())]
    for old in previous:
        if not _here(branch, old):
            note = f"it goes on from {old}, which is not in this repository: verify that branch by itself"
            proof.add([Diagnostic("evidence-rotated", note, Span("."), severity=Severity.NOTE)])
    for old in [*known, *([since] if since is not None else [])]:
        if not _led(branch, old, tip) and not any(old == last or _led(branch, old, last) for last in previous):
            proof.add([_history(f"it was rewritten: {old}, known from before, is not in its history")])
    # A branch that was rotated since is looked at from its beginning.
    return git.resolve(branch.repo, since) if since is not None and _led(branch, since, tip) else ""


def _here(branch: Branch, commit: str) -> bool:
    """Whether a commit is in the repository; a partial clone does not ask its server for it."""
    return branch.objects.named([f"{commit}^{{commit}}"]) != [None]


def _led(branch: Branch, older: str, newer: str) -> bool:
    """Whether an older commit led to a newer one, as far as both are here."""
    return all(_here(branch, one) for one in (older, newer)) and git.is_ancestor(branch.repo, older, newer)


def _added(repo: Path, commits: Sequence[str]) -> Iterator[Added]:
    """Commits with the files that each added; whatever else one did is a finding."""
    merge: list[Commit] = []
    for commit in log.of_ids(repo, commits):
        if merge and merge[0].sha != commit.sha:
            yield _merged(merge)
            merge = []
        if len(commit.parents) > 1:
            merge.append(commit)
        else:
            yield Added(commit, _placed(commit.changes), list(_tampered(commit, commit.changes)))
    if merge:
        yield _merged(merge)


def _merged(merge: Sequence[Commit]) -> Added:
    """What a merge itself added: files that none of its parents has. A file that it lacks, or has another way than one of its parents, was
    changed."""
    found = [one for side in merge for one in _tampered(side, side.changes)]
    # Git leaves out a parent from which nothing differs: then nothing is new.
    if len(merge) < len(merge[0].parents):
        return Added(merge[0], [], found)
    everywhere = set.intersection(*({change.path for change in side.changes} for side in merge))
    return Added(merge[0], _placed([change for change in merge[0].changes if change.path in everywhere]), found)


def _placed(changes: Iterable[Change]) -> list[Change]:
    return [change for change in changes if change.status == "A"]


def _tampered(commit: Commit, changes: Iterable[Change]) -> Iterator[Diagnostic]:
    changed = [change for change in changes if change.status != "A"]
    if not changed:
        return
    new = {change.blob: change.path for change in commit.changes if change.status == "A"}
    for change in changed:
        where = f"in commit {commit.sha} by {commit.author}"
        if change.status == "D" and change.before in new:
            message = f"it was renamed to {new[change.before]} {where}"
        else:
            message = f"it was {'deleted' if change.status == 'D' else 'changed'} {where}"
        yield fault("evidence-changed", change.path, message, f"its content before is git cat-file blob {change.before}")


def _logs(branch: Branch, seen: Seen) -> Iterator[Diagnostic]:
    """Whether logs are as their records say."""
    listed = sorted(seen.logs)
    for start in range(0, len(listed), _LOGS):
        for path, content in zip(listed[start : start + _LOGS], branch.read_many(listed[start : start + _LOGS]), strict=True):
            digest, record = seen.logs[path]
            if content is None:
                yield fault("evidence-content", record, f"it names the log {path}, which is not on the branch")
            elif contents.digest(content) != digest:
                yield fault("evidence-content", path, f"its sha256 is {contents.digest(content)}; {record} says {digest}")
            else:
                yield from contents.check(path, parse(path), content)


def _signatures(branch: Branch, seen: Seen, signers: Mapping[str, Sequence[str]], proof: Proof) -> Iterator[Diagnostic]:
    """Whether the commits of each cluster that has keys are signed by one of them."""
    for cluster, commits in sorted(seen.clusters.items()):
        if signers.get(cluster):
            good = keys.signed_by(branch.repo, commits, signers[cluster])
            proof.signed += sum(good.values())
            for sha, path in commits.items():
                if not good[sha]:
                    message = f"commit {sha} is not signed by a key of cluster {cluster}"
                    yield fault("evidence-signature", path, message, f"Cluster {cluster}, spec.collector.keys lists them")


def _sources(seen: Seen, source: Path | None) -> Iterator[Diagnostic]:
    """Whether the commits that runs were submitted by are in the sources."""
    if source is None or not seen.sources or git.is_shallow(source):
        return
    listed = sorted(seen.sources)
    for sha, size in zip(listed, git.sizes(source, [f"{sha}^{{commit}}" for sha in listed]), strict=True):
        if size is None:
            hint = "fetch all branches of the sources; if it is nowhere, ask who did"
            yield fault("evidence-source", seen.sources[sha], f"its source commit {sha} is not in the sources", hint)


def _summary(branch: Branch, cluster: str, commit: str) -> Iterator[Diagnostic]:
    """Whether a cluster's summary says of its runs what their files say."""
    for path in summarize.wrong(branch.objects, str(branch.tip), commit, cluster):
        hint = "it is no evidence: delete that branch, and the collector writes it anew"
        yield fault("evidence-summary", path, f"the summary of {cluster} ({commit[:12]}) says of it what its files do not", hint)
