"""A run that is tried again has a checkpoint to go on from.

Without one each attempt starts from nothing and pays for everything again.

Breaks:

    resilience: {max_retries: 3}

Mends:

    storage: {data: speech-data}
    checkpoint: {every: 30m}
    resilience: {max_retries: 3}

Source: an attempt is a new object; nothing of the former's disk is left.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.resolve.run import ResolvedRun
from taugen.words import Path

ID = "retries-from-nothing"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """`resilience.max_retries` without `checkpoint`."""
    del policy
    if run.checkpoint is not None or not run.resilience.get("max_retries"):
        return
    path: Path = ("resilience", "max_retries")
    text = "each retry starts from nothing: the run says nothing of checkpoints"
    hint = "write checkpoint: {every: 30m} and a storage, and load TAU_RESUME_FROM in the program"
    yield run.doc.finding(ID, path, text, hint=hint, severity=Severity.NOTE)
