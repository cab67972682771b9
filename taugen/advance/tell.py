"""Why something happens to a run, in words that its owner reads.

In: a failure, an interruption, an end. Out: half a sentence.
"""

from taugen.evidence.history import Cause, Failure, History, Interruption, State
from taugen.evidence.store import Checkpoint
from taugen.words.names import printable

_LONGEST = 160


def start(number: int, retry: int, most: int) -> str:
    """``attempt 2 of 3 starts``; without the bound where the attempt is no retry."""
    return f"attempt {number} of {number + most - retry} starts" if retry else f"attempt {number} starts"


def step(checkpoint: Checkpoint | None) -> str:
    """Where it starts."""
    return f"from step {checkpoint.step}" if checkpoint is not None else "from the beginning"


def failed(failure: Failure, history: History) -> str:
    """What an attempt failed of."""
    pod, node = failure.pod or "a pod", f"node {failure.node}" if failure.node else "its node"
    if failure.cause is Cause.NODE:
        return f"{node} was lost"
    if failure.cause is Cause.PREEMPTED:
        return f"the scheduler took {pod} from {node} for another pod"
    if failure.cause is Cause.EVICTED:
        return f"{pod} was evicted from {node}"
    if failure.cause is Cause.OOM:
        return f"{pod} ran out of memory on {node}"
    if failure.exit_code is not None:
        return f"{pod} ended with exit code {failure.exit_code}"
    return _said(history) or "its object failed"


def interrupted(half: Interruption) -> str:
    """Why a gang can't go on in its object."""
    done = sorted(half.succeeded)
    which = f"index {done[0]}" if len(done) == 1 else f"{len(done)} indexes"
    return f"Kueue took the gang back ({half.reason or half.kind}) after {which} had succeeded, and only the others would run again"


def ended(history: History) -> str:
    """How a run ended that did not fail."""
    said = _said(history)
    if history.state is State.SUCCEEDED or not said:
        return str(history.state)
    return f"{history.state}: {said}"


def _said(history: History) -> str:
    text = printable(": ".join(part for part in (history.reason, history.message) if part))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
