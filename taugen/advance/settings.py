"""What a run said about failures and checkpoints when it was published.

In: the body of its state. Out: `Settings`, with the defaults of tau.yaml where it said nothing. What must never happen: a later document or
policy that changes how a published run is retried (law 3).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from taugen.evidence.history import Cause
from taugen.load.nodes import parse
from taugen.publish.state import RunState
from taugen.words import Json, durations
from taugen.words.errors import TextError

DEFAULT_RETRY_ON = frozenset({Cause.PREEMPTED.value, Cause.EVICTED.value})


@dataclass(frozen=True, slots=True)
class Settings:
    """`retry_on` are values of `Cause`; times are seconds; `namespace` is that of the run's objects."""

    max_retries: int = 0
    retry_on: frozenset[str] = DEFAULT_RETRY_ON
    fatal: frozenset[int] = frozenset()
    backoff_initial: int = 30
    backoff_max: int = 300
    gang: bool = False
    """Whether its pods stand and fall together: a Job of several nodes, a JobSet."""
    checkpoints: str | None = None
    """The folder of its checkpoints, as the program sees it."""
    resumes: bool = True
    namespace: str = ""

    def backoff(self, retry: int) -> int:
        """Seconds between a failure and the retry with this number, from 1: doubled each time, up to the longest."""
        return min(self.backoff_max, self.backoff_initial << min(retry - 1, 31))


def of(state: RunState) -> Settings:
    """The settings of a published run."""
    documents, _ = parse("state", state.body.encode())
    data = documents[0].data if documents else {}
    resilience, request, checkpoint = (_mapping(data.get(key)) for key in ("resilience", "request", "checkpoint"))
    nodes, kind, path = request.get("nodes"), request.get("kind"), checkpoint.get("path")
    retry_on = resilience.get("retry_on")
    codes = resilience.get("fatal_exit_codes")
    return Settings(
        max_retries=_whole(resilience.get("max_retries"), 0),
        retry_on=frozenset(map(str, retry_on)) if isinstance(retry_on, list) else DEFAULT_RETRY_ON,
        fatal=frozenset(code for code in codes if isinstance(code, int)) if isinstance(codes, list) else frozenset(),
        backoff_initial=_seconds(resilience.get("backoff_initial"), 30),
        backoff_max=_seconds(resilience.get("backoff_max"), 300),
        gang=kind == "jobset" or (kind == "job" and isinstance(nodes, int) and nodes > 1),
        checkpoints=path if isinstance(path, str) else None,
        resumes=checkpoint.get("resume") != "never",
        namespace=next((name for what, _, name in state.refs if what == "Namespace"), ""),
    )


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _whole(value: Json, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _seconds(value: Json, default: int) -> int:
    try:
        return durations.parse(value) if isinstance(value, str) else default
    except TextError:
        return default
