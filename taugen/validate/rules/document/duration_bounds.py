"""Times are more than nothing, and the first back-off is not longer than the longest.

A run of `0s` would be deactivated the moment it is admitted; Kueue counts the time in whole seconds of an int32.

Breaks:

    run: {max_duration: 0s}

Mends:

    run: {max_duration: 72h}

Source: Kueue workload_types.go (maximumExecutionTimeSeconds >= 1); Kubernetes core validation (terminationGracePeriodSeconds).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.words import Path, durations

ID = "duration-bounds"

_POSITIVE: tuple[tuple[str, str], ...] = (
    ("run", "max_duration"),
    ("checkpoint", "every"),
    ("resilience", "backoff_initial"),
    ("resilience", "backoff_max"),
)
MOST_GRACE = 24 * 3600


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`max_duration`, `grace_period`, `checkpoint.every` and the back-off."""
    del policy
    spec = doc.spec
    for section, field in _POSITIVE:
        part = getattr(spec, section)
        if part is not None and getattr(part, field) == "0s":
            path: Path = (section, field)
            yield doc.finding(ID, path, f"{section}.{field} is no time at all", hint="write a time such as 30m, or leave it out")
    if spec.run is not None and spec.run.grace_period is not None and (grace := durations.parse(spec.run.grace_period)) > MOST_GRACE:
        text = f"a grace period of {durations.write(grace)} would hold the node for more than 24h after the run was told to end"
        yield doc.finding(ID, ("run", "grace_period"), text, hint="write 24h or less: long enough to save a checkpoint")
    resilience = spec.resilience
    if resilience is None or resilience.backoff_initial is None or resilience.backoff_max is None:
        return
    if durations.parse(resilience.backoff_initial) > durations.parse(resilience.backoff_max):
        text = f"the first back-off, {resilience.backoff_initial}, is longer than the longest, {resilience.backoff_max}"
        origin = doc.span(("resilience", "backoff_max"))
        yield doc.finding(ID, ("resilience", "backoff_initial"), text, hint=f"write {resilience.backoff_max} or less", origin=origin)
