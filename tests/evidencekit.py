"""Evidence branches for tests: real repositories, made through git's own commands."""

from pathlib import Path

from taugen.evidence.event import Event, EventType
from taugen.evidence.paths import RunKey
from tests import gitkit

RUN = RunKey("fjord", "speech", "quickstart-a87f5b3c")
TIME = "2026-05-04T10:{:02}:00Z".format


def event(kind: str, minute: int = 0, **data) -> Event:
    return Event(EventType(kind), TIME(minute), "6b1e", data, str(minute))


def files(run: RunKey = RUN, number: int = 1, kinds=("submitted", "queued", "admitted")) -> dict[str, bytes]:
    """The events of an attempt, a minute apart."""
    events = [event(kind, minute) for minute, kind in enumerate(kinds)]
    return {one.path(run.attempt(number)): one.content() for one in events}


def make(path: Path, *batches, branch: str = "evidence") -> Path:
    """A repository on whose branch each batch of files is a commit."""
    repo = gitkit.make_repo(path)
    git_branch(repo, branch)
    for at, batch in enumerate(batches):
        gitkit.commit(repo, batch, f"batch {at}")
    return repo


def git_branch(repo: Path, branch: str) -> None:
    gitkit.git(repo, "checkout", "-q", "--orphan", branch)
