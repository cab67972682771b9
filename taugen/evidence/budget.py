"""How often a repository is pushed to.

In: when pushes were seen, one's own and those of others. Out: how long to wait. What must never happen: writers of one branch that together
push more often than its server should bear; news that waits most of a minute because the minute's pushes were spent at its start.
"""

from collections import deque
from dataclasses import dataclass, field


@dataclass(slots=True)
class Budget:
    """`most` pushes within `window` seconds, shared among the writers of a branch: each counts what it sees of the others. What is left of
    them is spread evenly over what is left of the window."""

    most: int = 6
    window: float = 60.0
    _seen: deque[float] = field(default_factory=deque)

    def saw(self, now: float, pushes: int = 1) -> None:
        """Pushes that happened by `now`."""
        self._seen.extend([now] * min(pushes, self.most))
        while len(self._seen) > self.most:
            self._seen.popleft()

    def wait(self, now: float) -> float:
        """Seconds until there is room for one more push."""
        recent = [at for at in self._seen if at > now - self.window]
        if not recent:
            return 0.0
        left = self.most - len(recent) + 1
        return max(0.0, recent[-1] + (recent[0] + self.window - recent[-1]) / left - now)
