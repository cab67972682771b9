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
from taugen.validate.rules.document.launcher_processes import gpus_of
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
    "num-gpus": "write execution.processes_per_node",
    **dict.fromkeys(("num-machines", "num-nodes"), "write execution.nodes"),
    **dict.fromkeys(("machine-rank", "main-process-ip", "main-process-port", "hostfile"), "remove it: taugen sets it"),
}
"""Flags of other launchers (Accelerate, DeepSpeed) that torchrun would refuse when the pod starts."""
_LATER = ("accelerate", "deepspeed")
"""Launchers that are refused with torchrun as the way out: their flags of place and number have to go, too."""
SECTIONS = ("torch_config", "scaling_config", "failure_config")
_COMPUTED = {"num_workers": "write compute.workers", "resources_per_worker": "write compute.gpus and compute.cpus"}


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """By launcher; none on a job means python."""
    execution = doc.spec.execution
    if execution is None or not execution.configs:
        return
    if doc.lost(("execution", "launcher")):
        if (launcher := doc.document.text(doc.as_typed(("execution", "launcher")))) in _LATER:
            yield from _counted(doc, execution.configs, launcher, policy)
        return
    if execution.launcher == "ray-train":
        yield from _sections(doc, execution.configs)
    elif execution.launcher != "ray-tune":
        yield from _flags(doc, execution.configs, torchrun=execution.launcher == "torchrun")
    for path in not_finite(_CONFIGS, execution.configs):
        yield doc.finding(ID, path, "this number is not finite", hint="write a finite number, or quote it as text")


def _counted(doc: RunDoc, configs: Mapping[str, object], launcher: str, policy: Policy) -> Iterator[Diagnostic]:
    """Flags by which another launcher is told what the document says in fields of its own."""
    execution = doc.spec.execution
    assert execution is not None
    nodes = execution.nodes or 1
    each = execution.processes_per_node or gpus_of(doc, policy)
    ours: dict[str, int] = {"num-machines": nodes, "nnodes": nodes, "num-nodes": nodes}
    ours |= {"num-processes": nodes * each, "num-gpus": each} if each else {}
    for key, value in configs.items():
        name = key.replace("_", "-")
        hint = _STRANGE.get(name) or OWN.get(name)
        if hint is None:
            continue
        text = f"taugen sets {launcher}'s --{name} itself"
        if name in ours and str(value) != str(ours[name]):
            how = f"{nodes} x {each} processes are" if name == "num-processes" else "the document says"
            text = f"{key} is {shown(str(value))}, but {how} {ours[name]}"
        yield doc.finding(ID, (*_CONFIGS, key), text, hint=hint, key=True)


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
