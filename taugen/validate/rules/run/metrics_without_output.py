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
from taugen.words.errors import shown

ID = "metrics-without-output"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """`metrics.history` of a run without storage, or beside all of it."""
    del policy
    history = run.metrics.get("history")
    if not history:
        return
    path: Path = ("metrics", "history")
    if run.output is None:
        text = "the run mounts no storage that can be written, so these files end with its pods"
        yield run.doc.finding(ID, path, text, hint="name a storage of the workspace: storage: {data: NAME}", severity=Severity.WARNING)
        return
    places = [mount.path.rstrip("/") + "/" for mount in run.mounts]
    for at, pattern in enumerate(history if isinstance(history, list) else ()):
        if isinstance(pattern, str) and pattern.startswith("/") and not pattern.startswith(tuple(places)):
            text = f"{shown(pattern)} lies below no mounted storage, so nobody can read it when the pod has ended"
            hint = f"write a path below {run.output}, or below a mounted storage"
            yield run.doc.finding(ID, (*path, at), text, hint=hint, severity=Severity.WARNING)
