"""A published fleet, evidence of its runs as a collector would have written it, and `taugen advance` on both."""

import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import yaml

from taugen.collect.derive import job as jobs
from taugen.collect.derive import jobset, rayjob
from taugen.evidence.event import Event, EventType
from taugen.evidence.paths import AttemptKey, RunKey
from taugen.evidence.store import Checkpoint
from taugen.load import fastimport
from taugen.pipeline.advance import Outcome, Request, advance
from taugen.publish.state import RunState
from taugen.words.canonical import jcs
from tests.gitkit import git
from tests.publish.kit import Fleet, job

LATER = datetime(2027, 1, 1, tzinfo=UTC)
"""A time at which every backoff is over."""
DERIVE = {"Job": jobs.derive, "JobSet": jobset.derive, "RayJob": rayjob.derive}
BY = b"collector <c@example.org> 1714820000 +0000"
GANG = """
execution: {launcher: torchrun, nodes: 2, processes_per_node: 1}
"""


def at(minute: int, second: int = 0) -> str:
    """A time on the day when it all happens."""
    return f"2024-05-04T{10 + minute // 60:02}:{minute % 60:02}:{second:02}Z"


class Story:
    """Writes evidence into `fleet`'s repository (or that at `place`), on branch evidence."""

    def __init__(self, fleet: Fleet, place: Path | None = None) -> None:
        self.fleet = fleet
        self.place = place or fleet.path

    # ------------------------------------------------------------------------------------------------------------- evidence

    def key(self, run: RunState, attempt: int = 1, cluster: str = "") -> AttemptKey:
        return RunKey(cluster or run.cluster, run.workspace, run.run).attempt(attempt)

    def commit(self, files: dict[str, bytes], sign: Path | None = None) -> str:
        """Commit files to the evidence branch, signed with an SSH key where one is given."""
        ref = "refs/heads/evidence"
        found = subprocess.run(["git", "rev-parse", "-q", "--verify", ref], cwd=self.place, capture_output=True, text=True, check=False)
        old = found.stdout.strip() or None
        made = fastimport.commit_tree(
            self.place,
            parents=[old] if old else [],
            message=b"evidence\n",
            author=BY,
            committer=BY,
            changes=list(files.items()),
            base=old,
        )
        if sign is not None:
            config = ("-c", "gpg.format=ssh", "-c", f"user.signingKey={sign}")
            parents = ("-p", old) if old else ()
            made = git(self.place, *config, "commit-tree", "-S", "-m", "evidence", *parents, f"{made}^{{tree}}")
        git(self.place, "update-ref", ref, made)
        return made

    def tell(self, run: RunState, *events: tuple, attempt: int = 1, cluster: str = "", sign: Path | None = None) -> str:
        """Events of an attempt: (kind, minute, data…)."""
        key = self.key(run, attempt, cluster)
        return self.commit({one.path(key): one.content() for one in map(event, events)}, sign)

    def submitted(self, run: RunState, attempt: int, *, sign: Path | None = None, object_uid: str = "6b1e", **other: object) -> str:
        """The attempt's object as the deploy branch has it was made, as the collector tells it; `other` replaces facts of its runtime."""
        found = next(obj for obj in self.objects(run).values() if obj["kind"] in DERIVE)
        told = next(
            iter(DERIVE[found["kind"]]({**found, "metadata": {**found["metadata"], "creationTimestamp": at(60), "uid": object_uid}}))
        )
        told = replace(told, data={**told.data, "runtime": {**told.data["runtime"], **other}})
        key = self.key(run, attempt)
        return self.commit({told.path(key): told.content()}, sign)

    def checkpoints(self, run: RunState, *steps: int, attempt: int = 1, folder: str = "/checkpoints/x", sign: Path | None = None) -> str:
        """Complete checkpoints of an attempt."""
        key = self.key(run, attempt)
        lines = {step: Checkpoint(step, f"{folder}/{step}").line() for step in steps}
        return self.commit({key.series("checkpoints", step): jcs(line) + b"\n" for step, line in lines.items()}, sign)

    def intent(self, *runs: RunState, cluster: str = "", sign: Path | None = None) -> str:
        """What the runs were meant to be, as the collector copies it."""
        return self.commit({self.key(run, cluster=cluster).of.intent: run.body.encode() for run in runs}, sign)

    def record(self, run: RunState, attempt: int = 1, sign: Path | None = None) -> str:
        return self.commit({self.key(run, attempt).record: b'{"id":{}}\n'}, sign)

    # -------------------------------------------------------------------------------------------------------------- advance

    def advance(self, now: datetime = LATER, **asked: object) -> Outcome:
        return advance(Request(self.fleet.root, now, **asked))  # type: ignore[arg-type]

    def run(self, name: str) -> RunState:
        """The newest state of a run by `workspace/name`."""
        return next(one for one in self.fleet.states().values() if f"{one.workspace}/{one.name}" == name)

    def objects(self, run: RunState) -> dict[str, dict]:
        """Kind -> object, as the deploy branch has them."""
        found = (yaml.safe_load(self.fleet.show(path)) for path in self.fleet.manifests(run))
        return {one["kind"]: one for one in found}

    def env(self, run: RunState) -> dict[str, str]:
        """The variables of the first container of the Job."""
        container = self.objects(run)["Job"]["spec"]["template"]["spec"]["containers"][0]
        return {one["name"]: one.get("value", "") for one in container["env"]}


def event(told: tuple) -> Event:
    kind, minute, *data = told
    facts = data[0] if data else {}
    return Event(EventType(kind), at(minute) if isinstance(minute, int) else minute, "6b1e", facts, str(facts.get("index", "")))


STARTED = (("submitted", 0), ("queued", 0), ("admitted", 1), ("pod-started", 2))


def failed(minute: int = 10, **data: object) -> tuple:
    """A pod's end, and the object's."""
    facts = {"pod": "ant-0", "node": "h100-7", "phase": "Failed", "exitCodes": {"main": 1}} | data
    return ("pod-ended", minute, facts), ("failed", minute, {"reason": "BackoffLimitExceeded"})


LOST = {"disruption": "DeletionByTaintManager", "exitCodes": {}}


def retried(name: str = "ant", retry_on: str = "[NodeFailure, Error]", retries: int = 2, **more: object) -> str:
    """A run that is tried again, with checkpoints."""
    said = f"{{max_retries: {retries}, retry_on: {retry_on}, fatal_exit_codes: [42]}}"
    stored = "{output: /checkpoints/x, mounts: [{name: ckpt, storage: checkpoints, path: /checkpoints}]}"
    return job(name, resilience=said, storage=stored, checkpoint="{path: /checkpoints/x}", **more)


def gang(name: str = "ant", retries: int = 2, **more: object) -> str:
    """The same as a gang of two nodes."""
    return (
        retried(name, "[Preempted, Evicted]", retries, **more).replace("entrypoint: [python, -m, fold.report]", "entrypoint: fit.py")
        + "execution: {launcher: torchrun, nodes: 2, processes_per_node: 1}\n"
    )
