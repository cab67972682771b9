"""What is executed.

In: entrypoint, launcher and their settings; the first line of the entrypoint. Out: `Program`, the number of pods and of processes. Every launcher flag is as
typed; nothing is left to a shell.
"""

import re
from collections.abc import Mapping
from typing import cast

from taugen.policy.model import Profile
from taugen.policy.set import Item
from taugen.resolve.code import CodeInput
from taugen.resolve.context import WorkspaceContext
from taugen.resolve.report import Report
from taugen.resolve.run import Launcher, Program
from taugen.spec.model import ExecutionSection, RunSection, RuntimeSection
from taugen.words import Json, Path

PYTHON, RAY_PYTHON = "python3", "python"
_PYTHON_SHEBANG = re.compile(r"(?:^|[/\s])(?:python|pypy)[0-9.]*(?:\s|$)")
_NO_EXECUTION = ExecutionSection()
_NO_RUN = RunSection()
_NO_RUNTIME = RuntimeSection()


def is_python(file: str, shebang: str | None) -> bool:
    """Whether a file is Python: by its name, or by its first line."""
    return file.endswith(".py") or (shebang is not None and _PYTHON_SHEBANG.search(shebang) is not None)


def program(report: Report, workspace: WorkspaceContext, code: CodeInput, kind: str) -> Program:
    """The program of a run."""
    spec = report.doc.spec
    run, execution, runtime = spec.run or _NO_RUN, spec.execution or _NO_EXECUTION, spec.runtime or _NO_RUNTIME
    entrypoint = run.entrypoint
    if not entrypoint:
        report.error(
            "missing-entrypoint",
            ("run", "entrypoint"),
            "the run has no entrypoint",
            hint="write a file beside tau.yaml, or a command as a list",
        )
    command = tuple(entrypoint) if isinstance(entrypoint, list) else ()
    file = _file(entrypoint, code) if isinstance(entrypoint, str) else None
    launcher = _launcher(kind, execution.launcher, file, code.shebang)
    configs = cast("Mapping[str, Json]", execution.configs or {})
    return Program(
        launcher=launcher,
        file=file,
        argv=command,
        args=tuple(run.args or ()),
        python=runtime.python or workspace.runtime.python or (RAY_PYTHON if kind == "rayjob" else PYTHON),
        setup=run.setup,
        pip=tuple(runtime.pip if runtime.pip is not None else workspace.runtime.pip or ()),
        flags=_flags(report, launcher, configs) if configs and launcher not in {"ray-train", "ray-tune"} else (),
        configs=configs if launcher in {"ray-train", "ray-tune"} else {},
        tune=_tune(execution) if launcher == "ray-tune" else {},
    )


def _file(entrypoint: str, code: CodeInput) -> str:
    return code.plan.file if code.plan.local and code.here and code.plan.file is not None else entrypoint


def _launcher(kind: str, typed: str | None, file: str | None, shebang: str | None) -> Launcher:
    if typed in {"torchrun", "ray-train", "ray-tune"}:
        return cast("Launcher", typed)
    if file is None:
        return "command"
    if not is_python(file, shebang):
        return "shell"
    return "ray" if kind == "rayjob" else "python"


def _flags(report: Report, launcher: str, configs: Mapping[str, Json]) -> tuple[str, ...]:
    """`--key=value` for each setting, sorted by key; an empty text is a bare flag. torchrun's own flags are spelt with dashes."""
    found: list[str] = []
    for key in sorted(configs):
        where: Path = ("execution", "configs", key)
        value = configs[key]
        name = key.replace("_", "-") if launcher == "torchrun" else key
        if isinstance(value, dict | list) or value is None:
            continue  # a rule of the document refuses it
        typed = report.doc.document.text(report.doc.as_typed(where))
        text = typed if typed is not None else str(value)
        found.append(f"--{name}={text}" if text else f"--{name}")
    return tuple(found)


def _tune(execution: ExecutionSection) -> dict[str, Json]:
    return {
        "metric": execution.metric,
        "mode": execution.mode or "min",
        "num_samples": execution.num_samples or 1,
        "max_concurrent_trials": execution.max_concurrent_trials or 1,
    }


def nodes(report: Report, profile: Item[Profile] | None, kind: str, launcher: str) -> int:
    """Ray workers, or pods of a gang: the document's, else the profile's, else one. Only torchrun knows how to be a gang."""
    spec = report.doc.spec
    workers = spec.compute.workers if spec.compute is not None else None
    gang = spec.execution.nodes if spec.execution is not None else None
    typed = workers if kind == "rayjob" else gang
    if typed is None and kind != "rayjob" and workers is not None and workers > 1 and launcher == "torchrun":
        typed = workers
    count = typed if typed is not None else (profile.spec.workers if profile is not None else None) or 1
    if typed is None and count > 1 and kind != "rayjob" and launcher != "torchrun" and profile is not None:
        text = f"profile {profile.name} has {count} nodes, and only torchrun starts one program on several"
        report.error(
            "nodes-need-torchrun",
            ("execution", "launcher"),
            text,
            hint="write launcher: torchrun",
            origin=profile.span(("workers",), key=True),
        )
    return count


def processes(execution: ExecutionSection | None, launcher: str, gpus: int) -> int:
    """Processes on each node: torchrun's, one for each GPU unless the document says otherwise."""
    if launcher != "torchrun":
        return 1
    return (execution.processes_per_node if execution is not None else None) or gpus or 1
