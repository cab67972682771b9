"""What the deploy branch says of a run: the state that publish and advance wrote.

In: a repository or its URL, a branch. Out: `RunState`. What must never happen: a push, a state of another Project or another cluster taken
for ours.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from taugen.evidence.event import Event, EventType
from taugen.evidence.paths import AttemptKey, RunKey
from taugen.evidence.trees import children
from taugen.load import git, partial
from taugen.load.partial import Objects
from taugen.publish import state
from taugen.publish.state import RunState

_REF = "refs/taugen/deploy"
_RETIRED = frozenset({"succeeded", "failed", "deactivated", "validation-failed"})
"""Phases of a run that ended by itself: that its object is gone is no event."""
_FIRST = re.compile(rb"(\nphase: )[a-z-]+(\n)")
_AGAIN = re.compile(rb"\nattempt: \d+\nresumeFrom: [^\n]*\n")


@dataclass
class Deploy:
    """The deploy branch of a project. `repo` is a repository on this machine; with `url`, what was fetched from there stands in it."""

    repo: Path
    branch: str
    project: str
    cluster: str
    url: str | None = None
    _tip: str | None = field(default=None, init=False)
    _objects: Objects | None = field(default=None, init=False)

    def refresh(self) -> None:
        """Look where the branch is now. Raises `GitError` where that can't be known."""
        if self.url is None:
            self._tip = git.find(self.repo, f"refs/heads/{self.branch}")
            return
        partial.make(self.repo)
        # That of this repository alone: what it has is thrown away with every fetch that moves it.
        if self._objects is not None:
            self._objects.close()
        self._tip = partial.fetch(self.repo, self.url, f"refs/heads/{self.branch}", _REF)
        self._objects = None

    def states(self, runs: list[RunKey]) -> dict[RunKey, RunState]:
        """The states of runs of this cluster, as of the last `refresh`; those that the branch does not have are left out."""
        if self._tip is None or not runs:
            return {}
        if self._objects is None:
            self._objects = Objects(self.repo)
        paths = {run: state.state_path(run.workspace, run.run) for run in runs}
        level = children(self._objects, self._tip, sorted({path.rpartition("/")[0] for path in paths.values()}))
        ids = {run: child.id for run, path in paths.items() if (child := level[path.rpartition("/")[0]].get(path.rpartition("/")[2]))}
        out = {}
        for run, content in zip(ids, self._objects.read(list(ids.values())), strict=True):
            found = state.read(content, self.project) if content is not None else None
            if found is not None and (found.cluster, found.workspace, found.run) == (self.cluster, run.workspace, run.run):
                out[run] = found
        return out


def verdict(attempt: AttemptKey, uid: str, time: str, found: RunState | None) -> Event | None:
    """Why an object of an attempt is gone, by the state of its run; None if it ended by itself and was retired."""
    if found is None or (found.live and found.attempt <= attempt.number):
        return Event(EventType.DELETED, time, uid)
    if found.attempt > attempt.number:
        return Event(EventType.SUPERSEDED, time, uid, {"by": found.attempt})
    return None if found.phase in _RETIRED else Event(EventType.CANCELLED, time, uid, {"by": found.phase})


def intent(found: RunState) -> bytes:
    """The state as publish wrote it first: what a run was meant to be does not change with its phase, attempt and resume point."""
    return _FIRST.sub(rb"\1live\2", _AGAIN.sub(b'\nattempt: 1\nresumeFrom: ""\n', found.body.encode(), count=1), count=1)
