"""A published repository with evidence: acme's runs on their clusters, and what happened to them."""

from collections.abc import Iterable
from pathlib import Path

from taugen.evidence.event import Event, EventType
from taugen.evidence.paths import AttemptKey, RunKey
from taugen.words import Json
from tests.gitkit import git
from tests.publish.kit import Fleet

DAY = "2026-05-04"
Told = tuple[str, str, dict[str, Json]]
"""Time of day, type, data."""

ADMITTED: list[Told] = [
    ("10:00:00", "submitted", {"object": {"uid": "u-1", "kind": "Job", "name": "x", "namespace": "lab", "generation": 1}, "image": "img"}),
    ("10:00:01", "queued", {"workload": "job-x", "queue": "gpu", "tier": "urgent", "priority": 1000}),
    ("10:05:00", "reserved", {"clusterQueue": "research"}),
    ("10:05:00", "admitted", {
        "clusterQueue": "research", "borrowed": {"nvidia.com/gpu": "4"}, "checks": [],
        "podSets": [
            {"name": "main", "count": 2, "flavors": {"nvidia.com/gpu": "h200"}, "usage": {"nvidia.com/gpu": "16"}, "topology": None}
        ],
    }),
    ("10:05:30", "pod-started", {"pod": "x-0", "node": "gpu-7", "index": 0, "role": "worker", "images": {"main": "img@sha256:ab"}}),
    ("10:06:00", "ready", {}),
]  # fmt: skip
_POD: dict[str, Json] = {"pod": "x-0", "node": "gpu-7", "index": 0, "role": "worker", "disruption": None, "message": ""}
ENDED: Told = ("13:00:00", "pod-ended", {**_POD, "phase": "Succeeded", "exitCodes": {"main": 0}, "oom": False, "reason": ""})
SUCCEEDED: list[Told] = [*ADMITTED, ENDED, ("13:00:05", "succeeded", {})]


def crashed(code: int = 3) -> list[Told]:
    """An attempt that failed with an exit code."""
    ended = {**ENDED[2], "phase": "Failed", "exitCodes": {"main": code}, "reason": "Error"}
    return [*ADMITTED, ("11:00:00", "pod-ended", ended), ("11:00:05", "failed", {"reason": "BackoffLimitExceeded", "message": "it failed"})]


def events(told: Iterable[Told], day: str = DAY, uid: str = "u-1") -> list[Event]:
    return [Event(EventType(kind), f"{day}T{time}Z", uid, data, f"{n}") for n, (time, kind, data) in enumerate(told)]


class Evidence:
    """The evidence branch of a repository, written with plain git."""

    def __init__(self, repo: Path, branch: str = "evidence") -> None:
        self.repo = repo
        self.branch = branch

    def commit(
        self, cluster: str, files: dict[str, bytes], time: str = f"{DAY}T13:00:10Z", message: bytes = b"Evidence\n"
    ) -> str:
        """Add files in a commit of a cluster's collector."""
        ref = f"refs/heads/{self.branch}"
        tip = git(self.repo, "for-each-ref", "--format=%(objectname)", ref)
        stamp = f"taugen collector {cluster} <collector@example.org> {_seconds(time)} +0000"
        stream = [f"commit {ref}\nauthor {stamp}\ncommitter {stamp}\ndata {len(message)}\n".encode(), message]
        stream += [f"from {tip}\n".encode()] if tip else []
        for path, content in files.items():
            stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(content), content))
        git(self.repo, "fast-import", "--quiet", "--force", stdin=b"".join(stream))
        return git(self.repo, "rev-parse", ref)

    def attempt(self, run: RunKey, number: int, told: Iterable[Told], *, intent: str = "", day: str = DAY, more: dict[str, bytes] | None = None) -> AttemptKey:  # fmt: skip # noqa: E501
        """What happened to an attempt, in one commit, dated as its last event."""
        attempt = run.attempt(number)
        happened = events(told, day, f"u-{run.run}-{number}")
        files = {event.path(attempt): event.content() for event in happened} | {run.intent: intent.encode()}
        self.commit(run.cluster, {**files, **(more or {})}, happened[-1].time)
        return attempt


def _seconds(time: str) -> int:
    from datetime import datetime

    return int(datetime.fromisoformat(time).timestamp())


def fleet(path: Path) -> tuple[Fleet, dict[str, RunKey]]:
    """Acme's fleet, published, and its three runs by workspace."""
    made = Fleet.make(path)
    made.publish()
    runs = {}
    for line in git(path, "ls-tree", "-r", "--name-only", "deploy", "clusters/").splitlines():
        parts = line.split("/")
        if len(parts) == 7 and parts[2] == "runs":
            runs[parts[3]] = RunKey(parts[1], parts[3], parts[5])
    return made, runs


def body(fleet: Fleet, run: RunKey) -> str:
    """The state of a run as the collector copies it."""
    path = f".taugen/state/{run.workspace}/{run.run[-8:-6]}/{run.run}.yaml"
    return git(fleet.path, "show", f"deploy:{path}").partition("\n")[2] + "\n"
