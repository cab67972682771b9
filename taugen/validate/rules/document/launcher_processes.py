"""Processes fit the GPUs of their node.

Only torchrun starts several processes; more of them than GPUs fight over one device, fewer leave GPUs idle that the run pays for.

Breaks:

    compute: {gpus: 2}
    execution: {launcher: torchrun, processes_per_node: 4}

Mends:

    compute: {gpus: 2}
    execution: {launcher: torchrun, processes_per_node: 2}

Source: TauGrid's rule for processes_per_node (core/runconfig); Kubeflow Trainer issue 1992 (idle GPUs).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.words import Path

ID = "launcher-processes"

_PATH: Path = ("execution", "processes_per_node")


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`execution.processes_per_node` against launcher and GPUs: the document's, or those of the profile that it names."""
    execution = doc.spec.execution
    processes = execution.processes_per_node if execution is not None else None
    if execution is None or processes is None or doc.lost(("execution", "launcher")):
        return
    gpus = gpus_of(doc, policy)
    if execution.launcher != "torchrun":
        if processes > 1:
            more = f" (and there are {gpus} GPUs)" if gpus and processes > gpus else ""
            text = f"{processes} processes on a node need launcher torchrun{more}"
            yield doc.finding(ID, _PATH, text, hint="write execution.launcher: torchrun, or leave processes_per_node out")
    elif gpus and processes > gpus:
        text = f"{processes} processes on a node with {gpus} GPUs"
        yield doc.finding(ID, _PATH, text, hint=f"write {gpus} or less, or leave it out for one process a GPU")
    elif gpus and processes < gpus:
        # One process may drive all GPUs itself, so it is not called a mistake; two or more surely take one GPU each.
        severity = Severity.NOTE if processes == 1 else Severity.WARNING
        text = f"{processes} of {gpus} GPUs on each node get a process of their own: the others may stay idle"
        yield doc.finding(ID, _PATH, text, hint=f"write {gpus}, or leave it out for one process a GPU", severity=severity)


def gpus_of(doc: RunDoc, policy: Policy) -> int | None:
    """GPUs of each worker as far as the document and the profile that it names say them."""
    compute, wishes = doc.spec.compute, doc.spec.policy
    if compute is not None and compute.gpus is not None:
        return compute.gpus
    profile = policy.profiles.get(wishes.profile) if wishes is not None and wishes.profile is not None else None
    return profile.spec.gpus if profile is not None and not doc.lost(("compute", "gpus")) else None
