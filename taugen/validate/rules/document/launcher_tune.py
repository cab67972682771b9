"""A search has a metric and a space, and only a search has them.

Ray Tune without a metric can't say which trial was best; a metric without Ray Tune does nothing.

Breaks:

    run: {workload_kind: rayjob}
    execution: {launcher: ray-tune, configs: {lr: {uniform: [0.1, 0.2]}}}

Mends:

    run: {workload_kind: rayjob}
    execution: {launcher: ray-tune, metric: loss, configs: {lr: {uniform: [0.1, 0.2]}}}

Source: TauGrid's rules for ray-tune (core/runconfig).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.words import Path

ID = "launcher-tune"

_ONLY = ("metric", "mode", "num_samples", "max_concurrent_trials")


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """What ray-tune needs, and what needs ray-tune."""
    del policy
    execution = doc.spec.execution
    if execution is None or doc.lost(("execution", "launcher")):
        return
    launcher: Path = ("execution", "launcher")
    if execution.launcher == "ray-tune":
        if execution.metric is None and not doc.lost(("execution", "metric")):
            yield doc.finding(ID, launcher, "ray-tune has no metric to optimise", hint="write execution.metric: loss and mode: min or max")
        if not execution.configs and not doc.lost(("execution", "configs")):
            hint = "write execution.configs: {lr: {loguniform: [0.0001, 0.1]}}"
            yield doc.finding(ID, launcher, "ray-tune has no search space", hint=hint)
        return
    for field in _ONLY:
        if getattr(execution, field) is not None:
            text = f"execution.{field} has no effect without launcher ray-tune"
            yield doc.finding(ID, ("execution", field), text, hint="remove it, or write execution.launcher: ray-tune", key=True)
