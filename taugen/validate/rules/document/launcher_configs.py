"""`execution.configs` means flags for python and torchrun, sections for ray-train, a search space for ray-tune.

A setting that its launcher can't take would be dropped or turn the launch upside down: taugen itself writes torchrun's flags for nodes,
processes and rendezvous, and Ray's number of workers.

Breaks:

    execution: {launcher: torchrun, configs: {nnodes: 4}}

Mends:

    execution: {launcher: torchrun, configs: {max_restarts: 0}}

Source: TauGrid's rules by launcher (core/runconfig); PyTorch torch/distributed/run.py; Ray Train ScalingConfig.
"""

from collections.abc import Iterator, Mapping

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules.document._numbers import not_finite
from taugen.words import Path
from taugen.words.errors import shown
from taugen.words.regex import regex

ID = "launcher-configs"

_KEY = regex(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_CONFIGS: Path = ("execution", "configs")
OWN: Mapping[str, str] = {
    "nnodes": "write execution.nodes",
    "nproc-per-node": "write execution.processes_per_node",
    "standalone": "write execution.nodes: 1",
    **dict.fromkeys(("node-rank", "rdzv-backend", "rdzv-endpoint", "rdzv-id", "master-addr", "master-port"), "remove it: taugen sets it"),
    **dict.fromkeys(("module", "no-python", "run-path"), "write run.entrypoint as a list: [python, -m, package.train]"),
}
"""torchrun's flags that taugen writes, and what to write instead."""
_STRANGE: Mapping[str, str] = {
    "num-processes": "write execution.processes_per_node: the processes of one node, not of all",
    "num-machines": "write execution.nodes",
    **dict.fromkeys(("machine-rank", "main-process-ip", "main-process-port"), "remove it: taugen sets it"),
}
"""Flags of other launchers (Accelerate) that torchrun would refuse when the pod starts."""
SECTIONS = ("torch_config", "scaling_config", "failure_config")
_COMPUTED = {"num_workers": "write compute.workers", "resources_per_worker": "write compute.gpus and compute.cpus"}


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """By launcher; none on a job means python."""
    del policy
    execution = doc.spec.execution
    if execution is None or not execution.configs or doc.lost(("execution", "launcher")):
        return
    if execution.launcher == "ray-train":
        yield from _sections(doc, execution.configs)
    elif execution.launcher != "ray-tune":
        yield from _flags(doc, execution.configs, torchrun=execution.launcher == "torchrun")
    for path in not_finite(_CONFIGS, execution.configs):
        yield doc.finding(ID, path, "this number is not finite", hint="write a finite number, or quote it as text")


def _flags(doc: RunDoc, configs: Mapping[str, object], *, torchrun: bool) -> Iterator[Diagnostic]:
    seen: dict[str, str] = {}
    for key, value in configs.items():
        path = (*_CONFIGS, key)
        name = key.replace("_", "-") if torchrun else key
        if not _KEY.fullmatch(key):
            hint = "write letters, digits, _, . and -, with a letter or digit first and no dashes in front"
            yield doc.finding(ID, path, f"{shown(key)} is no name of a flag", hint=hint, key=True)
        elif torchrun and name in OWN:
            yield doc.finding(ID, path, f"taugen sets torchrun's --{name} itself", hint=OWN[name], key=True)
        elif torchrun and name in _STRANGE:
            yield doc.finding(ID, path, f"torchrun has no flag --{name}", hint=_STRANGE[name], key=True)
        elif name in seen:
            text = f"{key} and {seen[name]} are one flag, --{name}"
            yield doc.finding(ID, path, text, hint="keep one of the two", key=True, origin=doc.span((*_CONFIGS, seen[name]), key=True))
        elif value is None:
            yield doc.finding(ID, path, f"{key} has no value", hint=f'write a value, or {key}: "" for the bare flag', key=True)
        elif isinstance(value, dict | list):
            what = "a mapping" if isinstance(value, dict) else "a list"
            yield doc.finding(
                ID, path, f"{key} is {what}, but a flag has one value", hint="write one value, or put it into a file", key=True
            )
        seen.setdefault(name, key)


def _sections(doc: RunDoc, configs: Mapping[str, object]) -> Iterator[Diagnostic]:
    for key, value in configs.items():
        path = (*_CONFIGS, key)
        if key not in SECTIONS:
            hint = f"write {', '.join(SECTIONS)}; the program's own settings go into run.args"
            yield doc.finding(ID, path, f"{shown(key)} is no section of ray-train", hint=hint, key=True)
        elif not isinstance(value, dict):
            yield doc.finding(ID, path, f"{key} is not a mapping", hint=f"write {key}: {{NAME: value}}", key=True)
        elif key == "scaling_config":
            for name in _COMPUTED.keys() & value.keys():
                yield doc.finding(ID, (*path, name), f"taugen sets {name} itself", hint=_COMPUTED[name], key=True)
