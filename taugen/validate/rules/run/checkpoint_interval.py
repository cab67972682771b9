"""A run saves a checkpoint before its time is up.

A run whose first checkpoint would come after `max_duration` is stopped with nothing saved.

Breaks:

    run: {max_duration: 1h}
    checkpoint: {every: 2h}

Mends:

    run: {max_duration: 1h}
    checkpoint: {every: 15m}

Source: Kueue workload_types.go (maximumExecutionTimeSeconds deactivates the workload).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.resolve.run import ResolvedRun
from taugen.words import Path, durations

ID = "checkpoint-interval"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """`checkpoint.every` against the longest time."""
    del policy
    every = run.checkpoint.every if run.checkpoint is not None else None
    if every is None or run.max_duration is None or durations.parse(every) < run.max_duration:
        return
    path: Path = ("checkpoint", "every")
    most = durations.write(run.max_duration)
    text = f"the first checkpoint would come after {every}, and the run is stopped after {most}"
    yield run.doc.finding(ID, path, text, hint=f"write less than {most}, such as 15m", severity=Severity.WARNING)
