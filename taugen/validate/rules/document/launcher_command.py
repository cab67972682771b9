"""A command that is a launcher itself starts as many processes as the node has GPUs, and stands under no other launcher.

torchrun without a number of processes starts one: seven of eight GPUs then stay idle, nothing fails, and only the bill shows it. Under
launcher torchrun every process of the node would start a launcher of its own.

Breaks:

    run: {entrypoint: [torchrun, train.py]}
    compute: {gpus: 8}

Mends:

    run: {entrypoint: [torchrun, --nproc-per-node=8, train.py]}
    compute: {gpus: 8}

Source: PyTorch torch/distributed/run.py (nproc_per_node is 1 by default); Kubeflow Trainer issue 1992 (idle GPUs); Hugging Face Accelerate
issue 2521 (who counts the processes).
"""

import posixpath
from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules.document.launcher_processes import gpus_of
from taugen.words import Path

ID = "launcher-command"

_ENTRYPOINT: Path = ("run", "entrypoint")
_MODULES = {"torch.distributed.run": "torchrun", "torch.distributed.launch": "torchrun", "accelerate.commands.launch": "accelerate"}
_PROGRAMS = frozenset(("torchrun", "deepspeed", "mpirun", "mpiexec", "horovodrun"))
_FLAGS = frozenset(("--nproc-per-node", "--nproc_per_node"))


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`run.entrypoint` as a list, against launcher and GPUs."""
    words = doc.spec.run.entrypoint if doc.spec.run is not None else None
    if not isinstance(words, list) or (what := launcher_of(words)) is None or doc.lost(("execution", "launcher")):
        return
    execution = doc.spec.execution
    if execution is not None and execution.launcher == "torchrun":
        text = f"launcher torchrun would start {what} in each of its processes, and {what} starts processes of its own"
        hint = f"write entrypoint: train.py alone, or leave execution.launcher out and let {what} count"
        yield doc.finding(ID, (*_ENTRYPOINT, 0), text, hint=hint)
    elif what == "torchrun" and (gpus := gpus_of(doc, policy)):
        yield from _processes(doc, words, gpus)


def launcher_of(words: Sequence[str]) -> str | None:
    """The launcher that a command is, by its program or by the module that Python runs."""
    program = posixpath.basename(words[0])
    if program in _PROGRAMS:
        return program
    if program == "accelerate" and words[1:2] == ["launch"]:
        return program
    return _MODULES.get(words[2]) if program.startswith("python") and len(words) > 2 and words[1] == "-m" else None


def _processes(doc: RunDoc, words: Sequence[str], gpus: int) -> Iterator[Diagnostic]:
    """The number that torchrun is given (a word such as `gpu` counts by itself), or its default."""
    at, given = _given(words)
    if given is None:
        env = doc.spec.runtime.env if doc.spec.runtime is not None else None
        if gpus > 1 and "PET_NPROC_PER_NODE" not in (env or {}):
            text = f"torchrun starts 1 process where it is not told how many: the other {gpus - 1} of {gpus} GPUs stay idle"
            hint = f"write --nproc-per-node={gpus}, or the script alone with execution.launcher: torchrun"
            yield doc.finding(ID, (*_ENTRYPOINT, 0), text, hint=hint, severity=Severity.WARNING)
        return
    if not (given.isascii() and given.isdecimal()) or int(given) == gpus:
        return
    if int(given) > gpus:
        severity, text = Severity.ERROR, f"{given} processes on a node with {gpus} GPUs"
    else:
        # As rule launcher-processes: one process may drive all GPUs itself.
        severity = Severity.NOTE if int(given) == 1 else Severity.WARNING
        text = f"{given} of {gpus} GPUs on each node get a process of their own: the others may stay idle"
    yield doc.finding(ID, (*_ENTRYPOINT, at), text, hint=f"write --nproc-per-node={gpus}", severity=severity)


def _given(words: Sequence[str]) -> tuple[int, str | None]:
    """Where the number stands and what it is; what follows the script is the script's own."""
    for at, word in enumerate(words[1:], 1):
        if word.endswith(".py"):
            break
        name, equals, value = word.partition("=")
        if name in _FLAGS and equals:
            return at, value
        if word in _FLAGS and at + 1 < len(words):
            return at + 1, words[at + 1]
    return 0, None
