"""A variable that taugen or the launcher sets can't be set by the document.

Two values under one name would leave it to the kubelet which one counts, and a gang with somebody else's address never meets. NCCL_*
belongs to the profile, which knows the network; `execution.allow_nccl_override` says that the document knows better.

Breaks:

    runtime:
      env: {MASTER_ADDR: localhost}

Mends:

    runtime:
      env: {MY_ADDR: localhost}

Source: TauGrid's reserved names (core/runconfig); PyTorch torch/distributed/run.py (PET_*).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.words import Path

ID = "reserved-env"

FREE = ("TAU_RESUME_FROM", "TAU_RETRY_ATTEMPT", "TAU_RETRY_MAX", "TAU_RETRY_REASON")
"""TAU_* names that a document may set: TauGrid lets a run say where it starts from."""


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """Names of `runtime.env` and `runtime.env_secret`."""
    del policy
    runtime = doc.spec.runtime
    if runtime is None:
        return
    for field, names in (("env", runtime.env), ("env_secret", runtime.env_secret)):
        for name in names or ():
            if name[:1] in "MTNPJtnR" and (found := owner(doc, name)) is not None:
                path: Path = ("runtime", field, name)
                yield doc.finding(ID, path, f"{name} is reserved: {found[0]}", hint=found[1], key=True)


def owner(doc: RunDoc, name: str) -> tuple[str, str] | None:
    """(who owns the name, what to do), or None."""
    execution = doc.spec.execution
    torchrun = execution is not None and execution.launcher == "torchrun"
    if name in {"MASTER_ADDR", "MASTER_PORT"}:
        return "taugen gives every process of a gang the address of its first node", "remove it"
    if name.upper().startswith("TAU_") and name not in FREE:
        return "taugen sets the TAU_* variables (only " + ", ".join(FREE) + " are the run's own)", "rename it"
    if name.startswith("NCCL_") and not (execution is not None and execution.allow_nccl_override):
        if doc.lost(("execution", "allow_nccl_override")):
            return None
        return "the profile sets NCCL_* for its network", "remove it, or write execution.allow_nccl_override: true"
    if name.startswith("PET_") and torchrun:
        return "PET_* are torchrun's settings, which taugen writes", "write execution.nodes, processes_per_node or configs instead"
    if name == "JOB_COMPLETION_INDEX" and torchrun and execution is not None and (execution.nodes or 1) > 1:
        return "Kubernetes gives it to every pod of an Indexed Job", "remove it"
    return None
