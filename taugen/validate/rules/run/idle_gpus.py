"""Processes fit the GPUs that a profile or a default brings.

As `launcher-processes`, for GPUs that the document does not show: more processes than GPUs fight over one device, fewer leave GPUs idle.

Breaks:

    execution: {launcher: torchrun, processes_per_node: 2}

Mends:

    execution: {launcher: torchrun}

Source: Kubeflow Trainer issue 1992 (idle GPUs).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.resolve.run import ResolvedRun
from taugen.words import Path

ID = "idle-gpus"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """`execution.processes_per_node` against GPUs that neither the document nor the profile that it names shows."""
    doc = run.doc
    if run.program.launcher != "torchrun" or not run.gpus or run.processes == run.gpus or doc.has(("compute", "gpus")):
        return
    if doc.spec.policy is not None and doc.spec.policy.profile is not None:
        return
    path: Path = ("execution", "processes_per_node")
    profile = policy.profiles.get(run.profile or "")
    origin = profile.span(("gpus",), key=True) if profile is not None else None
    hint = f"write {run.gpus}, or leave it out for one process a GPU"
    if run.processes > run.gpus:
        text = f"{run.processes} processes on a node with {run.gpus} GPUs"
        yield doc.finding(ID, path, text, hint=hint, origin=origin)
        return
    severity = Severity.NOTE if run.processes == 1 else Severity.WARNING
    text = f"{run.processes} of {run.gpus} GPUs on each node get a process of their own: the others may stay idle"
    yield doc.finding(ID, path, text, hint=hint, severity=severity, origin=origin)
