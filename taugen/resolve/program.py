"""What is executed, on how many pods, in how many processes.

In: entrypoint, launcher and their settings; the first line of the entrypoint. Out: `Program` and two numbers. Every launcher flag is as
typed; nothing is left to a shell.
"""

from collections.abc import Mapping
from typing import cast

from taugen.policy.model import Profile
from taugen.policy.set import Item
from taugen.resolve.case import Case
from taugen.resolve.run import Launcher, Program
from taugen.spec.model import ExecutionSection
from taugen.words import Json, Path
from taugen.words.regex import regex

PYTHON, RAY_PYTHON = "python3", "python"
"""Interpreters where nobody says: the usual name, and the one that Ray's images have first in their path."""
_PYTHON_SHEBANG = regex(r"(?:^|[/\s])(?:python|pypy)[0-9.]*(?:\s|$)")
ENTRYPOINT: Path = ("run", "entrypoint")


def is_python(file: str, shebang: str | None) -> bool:
    """Whether a file is Python: by its name, or by its first line (`shebang`, without ``#!``)."""
    return file.endswith(".py") or (shebang is not None and _PYTHON_SHEBANG.search(shebang) is not None)


def program(case: Case) -> Program:
    """The program of a run."""
    run, execution = case.run, case.execution
    entrypoint = run.entrypoint
    if not entrypoint:
        hint = "write a file that stands beside tau.yaml, such as train.py, or a command as a list"
        case.report.error("missing-entrypoint", ENTRYPOINT, "the run has no entrypoint", hint=hint)
    file = _file(case, entrypoint) if isinstance(entrypoint, str) else None
    launcher = _launcher(case, file)
    configs = cast("Mapping[str, Json]", execution.configs or {})
    on_ray = launcher in {"ray-train", "ray-tune"}
    return Program(
        launcher=launcher,
        file=file,
        argv=tuple(entrypoint) if isinstance(entrypoint, list) else (),
        args=tuple(run.args or ()),
        python=case.runtime.python or case.workspace.runtime.python or (RAY_PYTHON if case.kind == "rayjob" else PYTHON),
        setup=run.setup,
        pip=tuple(case.runtime.pip if case.runtime.pip is not None else case.workspace.runtime.pip or ()),
        flags=_flags(case, launcher, configs) if configs and not on_ray else (),
        configs=configs if on_ray else {},
        tune=_tune(execution) if launcher == "ray-tune" else {},
    )


def _file(case: Case, entrypoint: str) -> str:
    code = case.code_input
    return (code.plan.file if code.plan.local and code.here else None) or entrypoint


def _launcher(case: Case, file: str | None) -> Launcher:
    typed = case.execution.launcher
    if typed is not None and typed != "python":
        return typed
    if file is None:
        return "command"
    if not is_python(file, case.code_input.shebang):
        return "shell"
    return "ray" if case.kind == "rayjob" else "python"


def _flags(case: Case, launcher: str, configs: Mapping[str, Json]) -> tuple[str, ...]:
    """`--key=value` for each setting, sorted by key; an empty text is a bare flag. torchrun's own flags are spelt with dashes."""
    found: list[str] = []
    for key in sorted(configs):
        value = configs[key]
        if isinstance(value, dict | list) or value is None:
            continue  # a rule of the document refuses it
        typed = case.doc.document.text(case.doc.as_typed(("execution", "configs", key)))
        text = typed if typed is not None else str(value)
        name = key.replace("_", "-") if launcher == "torchrun" else key
        found.append(f"--{name}={text}" if text else f"--{name}")
    return tuple(found)


def _tune(execution: ExecutionSection) -> dict[str, Json]:
    return {
        "metric": execution.metric,
        "mode": execution.mode or "min",
        "num_samples": execution.num_samples or 1,
        "max_concurrent_trials": execution.max_concurrent_trials or 1,
    }


def typed_nodes(case: Case) -> tuple[int | None, Path]:
    """The document's number of Ray workers, or of nodes (`compute.workers` under torchrun means them too), and where it says so."""
    if case.kind == "rayjob" or case.execution.nodes is None:
        return case.compute.workers, ("compute", "workers")
    return case.execution.nodes, ("execution", "nodes")


def nodes(case: Case, profile: Item[Profile] | None, launcher: str) -> int:
    """Ray workers, or pods of a gang: the document's, else the profile's, else (of Ray) the default, else one. Only torchrun can gang."""
    typed = typed_nodes(case)[0]
    if typed is not None:
        return typed
    default = case.workspace.compute.workers if case.kind == "rayjob" else None
    count = (profile.spec.workers if profile is not None else None) or default or 1
    if count > 1 and case.kind == "job" and launcher != "torchrun" and profile is not None:
        text = f"profile {profile.name} has {count} nodes, and only torchrun starts one program on several"
        hint = "write launcher: torchrun, workload_kind: jobset, or nodes: 1 if the profile lets you"
        case.report.error("nodes-need-torchrun", ("execution", "launcher"), text, hint=hint, origin=profile.span(("workers",), key=True))
    return count


def processes(case: Case, launcher: str, gpus: int) -> int:
    """Processes on each node: torchrun's, one for each GPU unless the document says otherwise; else one."""
    if launcher != "torchrun":
        return 1
    return case.execution.processes_per_node or gpus or 1
