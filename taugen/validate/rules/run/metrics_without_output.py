"""Metrics files outlive the pod that wrote them.

The collector reads them from storage; without one they are gone with the pod.

Breaks:

    metrics: {history: ["metrics.jsonl"]}

Mends:

    storage: {data: speech-data}
    metrics: {history: ["metrics.jsonl"]}

Source: the collector reads below the output folder.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.resolve.run import ResolvedRun
from taugen.words import Path

ID = "metrics-without-output"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """`metrics.history` of a run without storage."""
    del policy
    if run.output is not None or not run.metrics.get("history"):
        return
    path: Path = ("metrics", "history")
    text = "the run mounts no storage that can be written, so these files end with its pods"
    yield run.doc.finding(ID, path, text, hint="name a storage of the workspace: storage: {data: NAME}", severity=Severity.WARNING)
