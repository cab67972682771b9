"""The one door to time and chance.

In: nothing. Out: seconds, waits, delays that differ between collectors. Nothing that is written as evidence comes from here: an event's
time is the API's. What must never happen: a wait that a signal to stop does not end.
"""

import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Clock:
    """Time as this process sees it. `stopped` ends every wait."""

    stopped: threading.Event = field(default_factory=threading.Event)

    def now(self) -> float:
        """Seconds that only grow, from an unknown start."""
        return time.monotonic()

    def wait(self, seconds: float) -> bool:
        """Let time pass; True if it was cut short because the process is to stop."""
        return self.stopped.wait(max(0.0, seconds))

    def delays(self, first: float = 0.2, most: float = 30.0) -> Iterator[float]:
        """Growing delays between tries of something that fails, each chosen between nothing and twice the last bound, so that collectors
        that failed together do not try again together."""
        bound = first
        while True:
            yield random.uniform(0.1, 1.0) * bound  # noqa: S311 - no secret hangs on it
            bound = min(most, bound * 2)
