"""The commit of an advance.

In: the tip, the evidence, the actions. Out: a commit id that nothing points to yet. Dates derive from the evidence that it follows from.
Its trailers repeat what the tip remembers, so that the next publish is an incremental one, and name each record (laws 1 and 2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from msgspec.structs import replace

from taugen.advance.decide import End, Retry, moment
from taugen.evidence.store import Branch
from taugen.load.fastimport import Writer
from taugen.publish import trailers
from taugen.publish.branch import Deployed
from taugen.publish.commit import Files
from taugen.publish.state import RunState
from taugen.publish.trailers import Memory

AUTHOR = "taugen advance <taugen@localhost>"


@dataclass(frozen=True, slots=True)
class Act:
    """What is done to a run, and the file of evidence that it follows from."""

    state: RunState
    action: Retry | End
    path: str


def make(branch: Deployed, evidence: Branch, changed: Files, done: Sequence[Act]) -> str:
    """Write the commit and return its id. Raises `GitError`."""
    records = _digests(evidence, [act.path for act in done])
    memory = remembered(branch, [act.state for act in done if isinstance(act.action, End)])
    by = f"{AUTHOR} {max(int(moment(act.action.time).timestamp()) for act in done)} +0000".encode()
    with Writer(branch.repo) as writer:
        return writer.commit(
            list(changed.items()),
            parents=[branch.tip] if branch.tip else [],
            message=lambda tree: trailers.message(subject(done), _lines(done), memory, tree, records),
            author=by,
            committer=by,
            base=branch.tip,
        )


def remembered(branch: Deployed, ended: Sequence[RunState]) -> Memory:
    """What the tip remembers, as it is once these runs have ended.

    A run that is over is adrift no more; but the next publish looks again at one whose document had moved: only the document tells whether
    it still asks for the run.
    """
    last = branch.last
    assert last is not None
    runs = {"/".join(state.key) for state in ended}
    adrift = tuple(sorted((set(last.adrift) - runs) | (runs & last.moved.keys())))
    return replace(last, adrift=adrift, unsettled=last.unsettled or branch.memory is None)


def subject(done: Sequence[Act]) -> str:
    """The first line of the message: `Advance: retry 1 run, retire 2 runs`."""
    retried = sum(isinstance(act.action, Retry) for act in done)
    counts = ((retried, "retry"), (len(done) - retried, "retire"))
    return "Advance: " + ", ".join(f"{verb} {count} run{'s' * (count != 1)}" for count, verb in counts if count)


def _lines(done: Sequence[Act]) -> list[tuple[str, str]]:
    verbs = ((act, "retry" if isinstance(act.action, Retry) else "retire") for act in done)
    return sorted((verb, f"{act.state.run_id}: {act.action.why}") for act, verb in verbs)


def _digests(evidence: Branch, paths: Sequence[str]) -> list[tuple[str, str]]:
    wanted = sorted(set(paths))
    contents = evidence.read_many(wanted)
    return [(path, sha256(content).hexdigest()) for path, content in zip(wanted, contents, strict=True) if content is not None]
