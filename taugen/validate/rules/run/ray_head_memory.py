"""The Ray head has memory for its own services.

The cluster's store and its dashboard alone take more than 2Gi; a head that is killed for memory takes the whole run with it.

Breaks:

    compute: {gpus: 1, head: {memory: 1Gi}}

Mends:

    compute: {gpus: 1, head: {memory: 8Gi}}

Source: TauGrid's experience with heads of 2 to 4Gi; Ray's GCS and dashboard.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.resolve.run import ResolvedRun
from taugen.words import Path, quantity

ID = "ray-head-memory"

LEAST = "4Gi"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """`compute.head.memory`."""
    del policy
    if run.head is None or quantity.compare(run.head.memory_limit, LEAST) >= 0:
        return
    path: Path = ("compute", "head", "memory")
    text = f"a Ray head with {run.head.memory_limit} of memory is likely to be killed for want of it"
    yield run.doc.finding(ID, path, text, hint=f"write {LEAST} or more, or leave it out for 8Gi", severity=Severity.WARNING)
