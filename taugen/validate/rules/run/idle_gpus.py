"""Processes fit the GPUs that a profile or a default brings.

As `launcher-processes`, for GPUs that the document does not show: more processes than GPUs fight over one device, fewer leave GPUs idle. So
do fewer trials at once than Ray Tune has workers, and a Ray Train that is told to use no GPU.

Breaks:

    execution: {launcher: torchrun, processes_per_node: 2}

Mends:

    execution: {launcher: torchrun}

Source: Kubeflow Trainer issue 1992 (idle GPUs); Ray Train ScalingConfig; Ray Tune BasicVariantGenerator.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.resolve import trials
from taugen.resolve.run import ResolvedRun
from taugen.words import Path
from taugen.words.counts import counted

ID = "idle-gpus"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """`execution.processes_per_node` against GPUs that neither the document nor the profile that it names shows."""
    doc = run.doc
    if run.program.launcher.startswith("ray-"):
        if doc.kind == "rayjob":  # else launcher-kind speaks
            yield from _ray(run)
        return
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


def _ray(run: ResolvedRun) -> Iterator[Diagnostic]:
    """Settings of Ray Train and Ray Tune that leave GPUs without work, or ask for GPUs that no worker has."""
    doc = run.doc
    if run.program.launcher == "ray-tune":
        at_once = trials.at_once(run.program)
        if run.gpus and run.program.configs and at_once < run.nodes:
            wish: Path = ("execution", "max_concurrent_trials")
            path = wish if doc.has(wish) else ("compute", "workers")
            idle = (run.nodes - at_once) * run.gpus
            text = f"{counted(at_once, 'trial')} at once on {run.nodes} workers of {counted(run.gpus, 'GPU')}: {counted(idle, 'GPU')} idle"
            hint = f"write execution.max_concurrent_trials: {run.nodes}"
            if trials.total(run.program) < run.nodes:
                hint += f", and as many trials (execution.num_samples), or compute.workers: {at_once}"
            yield doc.finding(ID, path, text, hint=hint, severity=Severity.WARNING)
        return
    scaling = run.program.configs.get("scaling_config")
    use = scaling.get("use_gpu") if isinstance(scaling, dict) else None
    if isinstance(use, bool) and use != bool(run.gpus):
        at: Path = ("execution", "configs", "scaling_config", "use_gpu")
        if use:
            text, hint = "use_gpu is true, and the workers have no GPU: Ray would wait for ever", "remove it, or write compute.gpus"
        else:
            text = f"use_gpu is false: {counted(run.gpus * run.nodes, 'GPU')} of the workers would stay idle"
            hint = "remove it, or write compute.gpus: 0"
        yield doc.finding(ID, at, text, hint=hint, severity=Severity.ERROR if use else Severity.WARNING)
