"""Everything that is known of one run.

In: a `View` and a run. Out: `Shown`: its state, its attempts with what happened, why it waits or failed, what follows. What must never
happen: a guess told as a fact: what no record or event says is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from taugen.evidence.event import Event, EventType
from taugen.evidence.history import History, fold
from taugen.evidence.paths import AttemptKey, RunKey, parse
from taugen.evidence.store import Checkpoint
from taugen.load import nodes
from taugen.pipeline import details, runs
from taugen.pipeline.runs import Row
from taugen.pipeline.view import View
from taugen.words import Json


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try. `record` is None before its end; `logs` are paths on the evidence branch."""

    key: AttemptKey
    events: tuple[Event, ...]
    history: History | None
    record: Mapping[str, Json] | None
    checkpoints: tuple[Checkpoint, ...]
    logs: tuple[str, ...]

    def said(self, kind: EventType) -> Mapping[str, Json]:
        """What the last event of a type says."""
        return next((event.data for event in reversed(self.events) if event.type is kind), {})

    def first(self, kind: EventType) -> str:
        """The time of the first event of a type, or ""."""
        return next((event.time for event in self.events if event.type is kind), "")

    def section(self, name: str) -> Mapping[str, Json]:
        """A section of the record; {} before there is one."""
        found = (self.record or {}).get(name)
        return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class Shown:
    """A run. `state` is what its state file, or the copy of it among the evidence, says; `others` are runs of the same name; `next` is what
    `advance` does next, "" where nothing is known to follow."""

    row: Row
    state: Mapping[str, Json]
    attempts: tuple[Attempt, ...]
    others: tuple[RunKey, ...] = ()
    next: str = ""

    @property
    def namespace(self) -> str:
        """The namespace of the run's objects, or ""."""
        needs = self.state.get("needs")
        named = [str(need).split(" ") for need in needs] if isinstance(needs, list) else []
        return next((parts[-1] for parts in named if parts[0] == "Namespace"), "")


def shown(view: View, key: RunKey, now: datetime, others: Sequence[RunKey] = ()) -> Shown:
    """Look at a run. Raises `GitError` for a damaged repository."""
    row = runs.one(view, key, now)
    body = details.bodies(view, [(key.workspace, key.run)])[0]
    content = body.encode() or view.evidence.read_many([key.intent])[0] or b""
    documents, _ = nodes.parse("state", content)
    state = documents[0].data if documents else {}
    attempts = attempts_of(view, row.key) if row.attempts else ()
    return Shown(row, state, attempts, tuple(others), _next(view, key, attempts, now))


def attempts_of(view: View, key: RunKey) -> tuple[Attempt, ...]:
    """The attempts of a run, by number."""
    keys = view.evidence.attempts(key)
    events, records = view.evidence.events_of(keys), view.evidence.records(keys)
    checkpoints = view.evidence.checkpoints_of(keys)
    logs: dict[int, list[str]] = {one.number: [] for one in keys}
    for path in view.evidence.paths(key.folder):
        place = parse(path)
        if place is not None and place.kind == "log" and place.attempt is not None:
            logs[place.attempt.number].append(path)
    return tuple(
        Attempt(one, tuple(events[one]), fold(events[one]), records[one], tuple(checkpoints[one]), tuple(logs[one.number])) for one in keys
    )


def _next(view: View, key: RunKey, attempts: Sequence[Attempt], now: datetime) -> str:
    """What `advance` does next with a live run."""
    from taugen.advance import settings
    from taugen.advance.decide import Retry, Tried, Wait, decide
    from taugen.publish import branch as published

    deployed = published.deployed(view.deploy.repo, view.deploy.tip, view.settings.tree, view.settings.project)
    found = deployed.state((key.workspace, key.run)) if view.deploy.tip is not None else None
    if found is None or not found.live:
        return ""
    tried = [Tried(one.key.number, one.history, one.record is not None) for one in attempts if one.history is not None]
    action = decide(found.attempt, settings.of(found), tried, [c for one in attempts for c in one.checkpoints], now)
    if action is None:
        return ""
    return action.why if isinstance(action, Retry | Wait) else f"the run ends: {action.why}"


# ---------------------------------------------------------------------------------------------------------------------- as data


def data(found: Shown) -> dict[str, Json]:
    """A run as an object of JSON; times are RFC 3339 in UTC."""
    state = {name: found.state.get(name) for name in ("intent", "request", "checkpoint", "resilience", "experiment") if name in found.state}
    attempts: list[Json] = [_attempt(one) for one in found.attempts]
    others: list[Json] = [f"{other.workspace}/{other.run}" for other in found.others]
    return {**runs.data(found.row), "namespace": found.namespace, **state, "next": found.next or None, "tries": attempts, "others": others}


def _attempt(one: Attempt) -> dict[str, Json]:
    history = one.history
    out: dict[str, Json] = {
        "number": one.key.number,
        "object": one.key.object,
        "state": str(history.state) if history is not None else None,
        "since": history.since if history is not None else None,
        "reason": history.reason if history is not None else "",
        "message": history.message if history is not None else "",
        "timeline": [{"time": event.time, "type": str(event.type), "data": dict(event.data)} for event in one.events],
        "checkpoints": [checkpoint.line() for checkpoint in one.checkpoints],
        "logs": list(one.logs),
        "record": one.key.record if one.record is not None else None,
    }
    if history is not None:
        out["times"] = {name: getattr(history, name) for name in ("submitted", "queued", "admitted", "started", "ended")}
        out["interruptions"] = [
            {"time": i.time, "kind": str(i.kind), "reason": i.reason, "message": i.message, "by": dict(i.by)} for i in history.interruptions
        ]
        out["failure"] = _failure(history)
    for name in ("admission", "usage", "execution", "metrics", "completeness"):
        if section := one.section(name):
            out[name] = dict(section)
    return out


def _failure(history: History) -> Json:
    failure = history.failure
    if failure is None:
        return None
    codes: list[Json] = [*sorted(failure.exit_codes)]
    return {
        "cause": str(failure.cause), "time": failure.time, "pod": failure.pod, "node": failure.node,
        "exitCode": failure.exit_code, "exitCodes": codes,
    }  # fmt: skip


def containers(logs: Sequence[str]) -> list[str]:
    """`pod+container` of log files, each once."""
    return list(dict.fromkeys(PurePosixPath(path).name.rsplit(".", 2)[0] for path in logs))
