"""What the events of an attempt come to.

In: the events of one attempt, in any order, however often. Out: `History`: its state, since when and why, its times, what interrupted it,
what it failed of. A pure fold: equal sets of events give equal histories. What must never happen: a terminal state that changes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from taugen.evidence.event import TERMINAL, Event, EventType
from taugen.words import Json


class State(StrEnum):
    """Where an attempt stands. `STALE` is said by readers, who know the time; no event says it."""

    SUBMITTED = "submitted"
    QUEUED = "queued"
    ADMITTED = "admitted"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DEACTIVATED = "deactivated"
    INVALID = "validation-failed"
    STALE = "stale"

    @property
    def terminal(self) -> bool:
        """Whether nothing follows."""
        return self in _TERMINAL


_TERMINAL = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED, State.DEACTIVATED, State.INVALID})
STATES = {
    EventType.SUBMITTED: State.SUBMITTED,
    EventType.QUEUED: State.QUEUED,
    EventType.ADMITTED: State.ADMITTED,
    EventType.POD_STARTED: State.RUNNING,
    EventType.READY: State.RUNNING,
    EventType.PREEMPTED: State.QUEUED,
    EventType.EVICTED: State.QUEUED,
    EventType.REQUEUED: State.QUEUED,
    EventType.SUCCEEDED: State.SUCCEEDED,
    EventType.FAILED: State.FAILED,
    EventType.DEACTIVATED: State.DEACTIVATED,
    EventType.INVALID: State.INVALID,
    EventType.CANCELLED: State.CANCELLED,
    EventType.SUPERSEDED: State.FAILED,
}
"""The state after an event; other events leave it as it is."""
RANK = {EventType.SUBMITTED: 0, EventType.QUEUED: 1, EventType.RESERVED: 2, EventType.ADMITTED: 3, EventType.POD_STARTED: 4}
"""Which of two events of one second comes first: the API's times have no fractions."""


_TYPES = {str(kind): kind for kind in (*STATES, EventType.INADMISSIBLE)}
"""What decides where an attempt stands, by the name in its files."""


class Cause(StrEnum):
    """Why an attempt failed, in the words of `resilience.retry_on`."""

    PREEMPTED = "Preempted"
    """The scheduler took a pod for another of higher priority."""
    EVICTED = "Evicted"
    """The kubelet or the eviction API took a pod."""
    OOM = "OOMKilled"
    NODE = "NodeFailure"
    ERROR = "Error"


_DISRUPTIONS = {
    "PreemptionByScheduler": Cause.PREEMPTED,
    "EvictionByEvictionAPI": Cause.EVICTED,
    "TerminationByKubelet": Cause.EVICTED,
    "DeletionByTaintManager": Cause.NODE,
    "DeletionByPodGC": Cause.NODE,
}
"""Reasons of a pod's condition DisruptionTarget (kubernetes.io, Pod disruption conditions)."""
_POD_REASONS = {
    "Evicted": Cause.EVICTED,
    "Preempting": Cause.PREEMPTED,
    "NodeLost": Cause.NODE,
    "NodeShutdown": Cause.NODE,
    "Shutdown": Cause.NODE,
    "Terminated": Cause.NODE,
    "UnexpectedAdmissionError": Cause.NODE,
}
"""Reasons in a pod's status, set by the kubelet and the node lifecycle controller."""


@dataclass(frozen=True, slots=True)
class Interruption:
    """A time that Kueue took the attempt back. `by` says for whom, as far as the API told."""

    time: str
    kind: EventType
    reason: str
    message: str = ""
    by: Mapping[str, Json] = field(default_factory=dict)
    succeeded: frozenset[int] = frozenset()
    """Indexes that were done by then: those do not run again when the object is admitted anew."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What an attempt failed of: of the pod that failed first, since the others are ended for its sake. `exit_code` is None where no
    container told."""

    cause: Cause
    time: str
    pod: str = ""
    node: str = ""
    exit_code: int | None = None
    exit_codes: frozenset[int] = frozenset()
    """Of all containers that failed by themselves."""


@dataclass(frozen=True, slots=True)
class History:
    """An attempt, folded. Times are RFC 3339 in UTC; None is "not seen"."""

    state: State
    since: str
    reason: str = ""
    message: str = ""
    submitted: str | None = None
    queued: str | None = None
    admitted: str | None = None
    """The first admission; later ones follow interruptions."""
    started: str | None = None
    ended: str | None = None
    interruptions: tuple[Interruption, ...] = ()
    indexes: frozenset[int] = frozenset()
    """Indexes of a gang that succeeded."""
    failure: Failure | None = None
    terminal: Event | None = None

    @property
    def superseded(self) -> bool:
        """Whether it ended because a later attempt took its place."""
        return self.terminal is not None and self.terminal.type is EventType.SUPERSEDED


def order(events: Iterable[Event]) -> list[Event]:
    """Without duplicates, as they happened."""
    return sorted({event.key: event for event in events}.values(), key=lambda e: (e.time, RANK.get(e.type, 9), e.order))


def fold(events: Iterable[Event]) -> History | None:
    """The history of an attempt; None without any event that sets a state."""
    happened = order(events)
    terminal = next((event for event in happened if event.type in TERMINAL), None)
    told = [event for event in happened if event.type in STATES and event.type not in TERMINAL]
    last = terminal or (told[-1] if told else None)
    if last is None:
        return None
    return History(
        state=STATES[last.type],
        since=last.time,
        reason=_why(last, happened, "reason"),
        message=_why(last, happened, "message"),
        submitted=_first(happened, EventType.SUBMITTED),
        queued=_first(happened, EventType.QUEUED),
        admitted=_first(happened, EventType.ADMITTED),
        started=_first(happened, EventType.POD_STARTED) or _first(happened, EventType.READY),
        ended=terminal.time if terminal is not None else None,
        interruptions=_interruptions(happened),
        indexes=_indexes(happened),
        failure=_failure(happened) if terminal is not None and terminal.type is EventType.FAILED else None,
        terminal=terminal,
    )


def deciding(names: Iterable[str]) -> list[str]:
    """Of the names of an attempt's events those that tell `fold` where it stands and why, if they hold what they should. Of one second all:
    names have no fractions of it."""
    told = [(name.split("-", 1)[0], _TYPES[kind], name) for name in names if (kind := _kind(name)) in _TYPES]
    terminal = min((stamp for stamp, kind, _ in told if kind in TERMINAL), default="")
    if terminal:
        return [name for stamp, kind, name in told if kind in TERMINAL and stamp == terminal]
    last = max((stamp for stamp, kind, _ in told if kind in STATES), default="")
    return [name for stamp, kind, name in told if stamp >= last and (kind in STATES or kind is EventType.INADMISSIBLE)]


def _kind(name: str) -> str:
    """The type in ``<time>-<type>-<key>.json``."""
    return name.partition("-")[2].rpartition("-")[0]


def _first(events: Iterable[Event], kind: EventType) -> str | None:
    return next((event.time for event in events if event.type is kind), None)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _why(last: Event, happened: Iterable[Event], what: str) -> str:
    """The reason of a state: of the queue's, what Kueue said last."""
    if STATES[last.type] in (State.QUEUED, State.SUBMITTED):
        later = [event for event in happened if event.type is EventType.INADMISSIBLE and event.time >= last.time]
        last = later[-1] if later else last
    return _text(last.data.get(what))


def _indexes(events: Iterable[Event]) -> frozenset[int]:
    found = (event.data.get("index") for event in events if event.type is EventType.INDEX_SUCCEEDED)
    return frozenset(index for index in found if isinstance(index, int))


def _interruptions(happened: list[Event]) -> tuple[Interruption, ...]:
    out = []
    for at, event in enumerate(happened):
        if event.type in (EventType.PREEMPTED, EventType.EVICTED):
            by = event.data.get("by")
            done = _indexes(happened[:at])
            reason, message = _text(event.data.get("reason")), _text(event.data.get("message"))
            out.append(Interruption(event.time, event.type, reason, message, by if isinstance(by, dict) else {}, done))
    return tuple(out)


def _failure(happened: list[Event]) -> Failure | None:
    """What it failed of: pods that ended for Kueue's sake do not count, so that only those after the last admission are looked at."""
    admitted = max((event.time for event in happened if event.type is EventType.ADMITTED), default="")
    ended = [event for event in happened if event.type is EventType.POD_ENDED and event.time >= admitted]
    failed = [event for event in ended if event.data.get("phase") == "Failed" or event.data.get("oom") is True or _codes(event)]
    terminal = next(event for event in happened if event.type in TERMINAL)
    if not failed:
        return Failure(Cause.ERROR, terminal.time)
    first = failed[0]
    codes = _codes(first)
    every = frozenset(code for event in failed if event.data.get("disruption") is None for code in _codes(event))
    return Failure(
        cause_of(first), first.time, _text(first.data.get("pod")), _text(first.data.get("node")), max(codes, default=None), every
    )


def _codes(event: Event) -> list[int]:
    codes = event.data.get("exitCodes")
    return [code for code in codes.values() if isinstance(code, int) and code] if isinstance(codes, dict) else []


def cause_of(ended: Event) -> Cause:
    """Why a pod failed."""
    if ended.data.get("oom") is True:
        return Cause.OOM
    disruption, reason = ended.data.get("disruption"), ended.data.get("reason")
    return _DISRUPTIONS.get(_text(disruption)) or _POD_REASONS.get(_text(reason)) or Cause.ERROR
