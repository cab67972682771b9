"""A launcher starts the kind of workload that it knows.

ray-train and ray-tune need a Ray cluster; python and torchrun start processes in the pods of a Job or JobSet.

Breaks:

    run: {workload_kind: job}
    execution: {launcher: ray-train}

Mends:

    run: {workload_kind: rayjob}
    execution: {launcher: ray-train}

Source: TauGrid's launchers by engine (core/runconfig).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc

ID = "launcher-kind"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`execution.launcher` against the workload kind."""
    del policy
    execution = doc.spec.execution
    if execution is None or execution.launcher is None or doc.lost(("run", "workload_kind")):
        return
    launcher, kind = execution.launcher, doc.kind
    ray = launcher.startswith("ray-")
    if ray and kind != "rayjob":
        hint = f"write run.workload_kind: rayjob, or a launcher of a {kind}: python or torchrun"
    elif not ray and kind == "rayjob":
        hint = "write ray-train or ray-tune, or leave it out: the program then starts on the Ray head; torchrun wants workload_kind job"
    else:
        return
    yield doc.finding(ID, ("execution", "launcher"), f"launcher {launcher} does not start a {kind}", hint=hint)
