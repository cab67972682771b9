"""A gang has a longest time.

One rank that hangs holds the nodes of all for as long as nobody looks: a bound ends it.

Breaks:

    execution: {launcher: torchrun, nodes: 2}

Mends:

    run: {max_duration: 24h}
    execution: {launcher: torchrun, nodes: 2}

Source: PyTorch's collectives wait for every rank; Kueue workload_types.go (maximumExecutionTimeSeconds).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.resolve.run import ResolvedRun
from taugen.validate.rules.run import _nodes as nodes

ID = "gang-unbounded"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """`run.max_duration` of a Job or JobSet with several nodes."""
    del policy
    if run.nodes > 1 and run.kind != "rayjob" and run.max_duration is None:
        text = f"nothing ends these {run.nodes} nodes if one of them hangs"
        hint = "write run.max_duration, or have the platform set a default"
        yield run.doc.finding(ID, nodes.count_path(run), text, hint=hint, severity=Severity.NOTE)
