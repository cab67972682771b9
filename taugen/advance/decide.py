"""What follows from the evidence of a live run: nothing yet, a wait, another attempt, the end.

In: the attempt that the deploy branch holds, the run's settings, what evidence says of its attempts, the time. Out: an `Action` with an
explanation for the run's owner, or None. Pure. What must never happen: an attempt of a run that is over, more retries than the run asked
for, a half gang that goes on, an object taken away before the collector had time to read what goes with it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from taugen.advance.settings import Settings
from taugen.advance.tell import ended, failed, interrupted, start, step
from taugen.evidence.event import EventType
from taugen.evidence.history import Cause, Failure, History, Interruption, State
from taugen.evidence.store import Checkpoint
from taugen.publish.state import Phase

MOST_ATTEMPTS = 999
"""What an object's name can hold (DESIGN section 1)."""
PATIENCE = timedelta(minutes=15)
"""Between the end of an attempt and the time at which its object leaves without a record: until then the collector may be reading logs and
checkpoints that the object takes with it."""
_PHASES: dict[State, Phase] = {
    State.SUCCEEDED: "succeeded",
    State.FAILED: "failed",
    State.CANCELLED: "cancelled",
    State.DEACTIVATED: "deactivated",
    State.INVALID: "validation-failed",
}


@dataclass(frozen=True, slots=True)
class Tried:
    """What evidence says of one attempt; `recorded` if its record is there, so that nothing more will be read of it."""

    number: int
    history: History
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Something follows, but not before `until`."""

    until: str
    why: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Another attempt. `resume_from` is a checkpoint as the program sees it, empty for none; `reason` goes into TAU_RETRY_REASON; `time` is
    the earliest at which this could be decided; `of` says which event of which attempt it follows from."""

    attempt: int
    resume_from: str
    reason: str
    time: str
    why: str
    of: tuple[int, EventType | None, str]


@dataclass(frozen=True, slots=True)
class End:
    """The run is over. `attempt` is its last; the rest as in `Retry`."""

    phase: Phase
    attempt: int
    time: str
    why: str
    of: tuple[int, EventType | None, str]


Action = Wait | Retry | End


def decide(attempt: int, settings: Settings, tried: Sequence[Tried], checkpoints: Iterable[Checkpoint], now: datetime) -> Action | None:
    """What to do with a live run of which the deploy branch holds `attempt`. `checkpoints` are complete ones of all its attempts."""
    known = {one.number: one for one in tried}
    last = known.get(max([attempt, *known]))
    if last is None:
        return None
    found = _Run(settings, known, newest(settings, checkpoints))
    action = found.after(last, behind=last.number > attempt)
    if action is None:
        return None
    over = moment(action.time)
    if over > now:
        return Wait(action.time, f"{action.why} (not before {action.time})")
    if last.history.state.terminal and not last.recorded and now < (until := moment(last.history.since) + PATIENCE):
        return Wait(written(until), f"{action.why} (waits for the collector's record of attempt {last.number})")
    return action


def newest(settings: Settings, checkpoints: Iterable[Checkpoint]) -> Checkpoint | None:
    """Where the next attempt resumes: the complete checkpoint with the largest step that the program can see."""
    inside = [one for one in checkpoints if visible(settings, one.uri)]
    return max(inside, key=lambda one: (one.step, one.uri), default=None)


def visible(settings: Settings, uri: str) -> bool:
    """Whether a checkpoint is one that a run with these settings resumes from: it lies below the folder that the program sees."""
    if not settings.resumes or settings.checkpoints is None:
        return False
    return uri.startswith(settings.checkpoints.rstrip("/") + "/") and uri.isprintable() and ".." not in uri.split("/")


@dataclass(frozen=True, slots=True)
class _Run:
    settings: Settings
    known: dict[int, Tried]
    checkpoint: Checkpoint | None

    def after(self, last: Tried, *, behind: bool) -> Retry | End | None:
        """What follows from the newest attempt that evidence knows. `behind`: the deploy branch holds an older one."""
        history = last.history
        half = half_gang(self.settings, history)
        if history.state is State.FAILED and not history.superseded:
            return self.failed(last, history.failure or Failure(Cause.ERROR, history.since), half)
        if history.state.terminal and not history.superseded:
            return End(_PHASES[history.state], last.number, history.since, ended(history), _of(last))
        if half is not None:
            return self.again(last, half)
        if behind or history.superseded:
            why = f"attempt {last.number} is not over, and the deploy branch was set back behind it: its name is not used again"
            return self.next(last, "", history.since, why, _of(last))
        return None

    def failed(self, last: Tried, failure: Failure, half: Interruption | None) -> Retry | End:
        """The object failed."""
        settings, over = self.settings, last.history.since
        what = failed(failure, last.history)
        fatal = sorted(settings.fatal & {*failure.exit_codes, *([failure.exit_code] if failure.exit_code is not None else [])})
        used = self.retries(last.number)
        if fatal:
            why = f"exit code {fatal[0]} is one of fatal_exit_codes"
        elif half is not None:
            return self.again(last, half)
        elif failure.cause not in settings.retry_on:
            why = f"{failure.cause} is not in retry_on ({', '.join(sorted(settings.retry_on)) or 'empty'})"
        elif used >= settings.max_retries:
            why = f"no retries are left ({used} of {settings.max_retries} used)" if settings.max_retries else "max_retries is 0"
        elif last.number >= MOST_ATTEMPTS:
            why = f"attempt {MOST_ATTEMPTS} is the last that a name can hold"
        else:
            time = written(moment(over) + timedelta(seconds=settings.backoff(used + 1)))
            return self.next(last, failure.cause, time, what, _of(last), retry=used + 1)
        return End("failed", last.number, over, f"failed: {what}; {why}", _of(last))

    def again(self, last: Tried, half: Interruption) -> Retry | End:
        """A gang of which some indexes were done when Kueue took it back: only the others would run again."""
        of = (last.number, half.kind, half.time)
        why = interrupted(half)
        if last.number >= MOST_ATTEMPTS:
            return End("failed", last.number, half.time, f"failed: {why}; attempt {MOST_ATTEMPTS} is the last that a name can hold", of)
        reason = Cause.PREEMPTED if half.kind is EventType.PREEMPTED else Cause.EVICTED
        return self.next(last, reason, half.time, f"{why}; no retry is used", of)

    def next(self, last: Tried, reason: str, time: str, why: str, of: tuple[int, EventType | None, str], *, retry: int = 0) -> Retry:
        """The attempt after `last`; `retry` is its number among those that count."""
        number = last.number + 1
        resume = self.checkpoint.uri if self.checkpoint is not None else ""
        begin = start(number, retry, self.settings.max_retries)
        return Retry(number, resume, str(reason), time, f"{begin} {step(self.checkpoint)}: {why}", of)

    def retries(self, number: int) -> int:
        """Retries used up before attempt `number` ended. One that evidence can't explain counts: no run is retried without bound."""
        return sum(not self.free(self.known.get(earlier)) for earlier in range(1, number))

    def free(self, one: Tried | None) -> bool:
        """Whether the attempt after this one was no retry."""
        if one is None or half_gang(self.settings, one.history) is None:
            return False
        failure = one.history.failure
        return failure is None or not self.settings.fatal & failure.exit_codes


def half_gang(settings: Settings, history: History) -> Interruption | None:
    """The first time that Kueue took a gang back when some of its indexes were done already: a Job that is started again runs only the
    other indexes, so that they wait for peers for ever (kubernetes.io, Jobs: suspending a Job; kubernetes-sigs/jobset#1208)."""
    if not settings.gang or history.state is State.SUCCEEDED:
        return None
    return next((one for one in history.interruptions if one.succeeded), None)


def _of(last: Tried) -> tuple[int, EventType | None, str]:
    terminal = last.history.terminal
    return last.number, terminal.type if terminal is not None else None, last.history.since


def moment(time: str) -> datetime:
    """An event's time. Raises ValueError for what is none."""
    found = datetime.fromisoformat(time)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def written(time: datetime) -> str:
    """A time as events have it, to the second."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
