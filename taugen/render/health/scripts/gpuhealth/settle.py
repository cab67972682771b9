"""When a condition holds: faults and recoveries have to last.

In: the verdicts of a condition in time. Out: whether it holds. Pure: time is an argument. Time in which the checks could not tell
counts neither for the fault nor for the recovery: it begins nothing, ends nothing and starts no count anew.
"""

from dataclasses import dataclass, replace

from .config import Rule
from .judge import OK, PROBLEM, UNKNOWN

TRUE, FALSE, OPEN = "True", "False", "Unknown"


@dataclass(frozen=True)
class Track:
    """The state of a condition. `bad` and `good` are seconds of fault and of health seen in a row; `at` and `last` the sample before."""

    holds: bool = False
    bad: float = 0.0
    good: float = 0.0
    at: float | None = None
    last: str = UNKNOWN
    message: str = ""

    @property
    def status(self) -> str:
        """As a node condition says it: what holds stays until it is cleared; what is not known is not called well."""
        if self.holds:
            return TRUE
        return OPEN if self.last == UNKNOWN else FALSE

    @property
    def pending(self) -> bool:
        """Whether a fault is seen that has not lasted long enough."""
        return not self.holds and self.last == PROBLEM


def step(track: Track, state: str, message: str, now: float, rule: Rule) -> Track:
    """The state after one more sample."""
    passed = max(0.0, now - track.at) if track.at is not None and track.last == state else 0.0
    bad, good = track.bad, track.good
    if state == PROBLEM:
        bad, good = bad + passed, 0.0
    elif state == OK:
        bad, good = 0.0, good + passed
    holds = track.holds
    if state == PROBLEM and bad >= rule.after:
        holds = True
    if state == OK and good >= rule.clear_after:
        holds = False
    # What made a condition hold stays its message until it is cleared.
    told = track.message if track.holds and holds and state != PROBLEM else message
    return replace(track, holds=holds, bad=bad, good=good, at=now, last=state, message=told)
