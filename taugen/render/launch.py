"""The launch script: what the container runs, down to the program that it becomes.

In: a `Frame`. Out: the text of `launch.sh` and of the files that stand beside it. The script belongs to the run, not to an attempt: what
differs between attempts is in the environment. It ends in ``exec``, so that the program gets SIGTERM itself; what a user typed is quoted or
arrives as ``"$@"``, never parsed by a shell.

Order: pip, setup, the folder, the checkpoint, the program.
"""

import posixpath
import shlex
from functools import cache

from taugen.render.env import LAUNCH_DIR, code_dir, program_file, python_path
from taugen.render.frame import Frame
from taugen.resolve.run import ResolvedRun
from taugen.words import package
from taugen.words.regex import regex

LAUNCH, SETUP, RAY, CHECKPOINT, TUNE, CHECKOUT = "launch.sh", "setup.sh", "ray.sh", "tau_checkpoint.py", "tau_tune.py", "checkout.sh"
COMMAND = ("/bin/sh", f"{LAUNCH_DIR}/{LAUNCH}")
BASH = """# Setup lines get bash where the image has it.
if [ -z "${BASH_VERSION-}" ] && command -v bash >/dev/null; then exec bash "$0" "$@"; fi
"""
RAY_SETUP = """if [ -e /tmp/tau-setup.failed ]; then
  echo "launch: the setup lines failed, as the log of the head says" >&2
  exit 1
fi
"""
_SAFE = regex(r"[A-Za-z0-9_@%+=:,./-]+")


@cache
def script(name: str) -> str:
    """A file of `scripts/`."""
    return (package.FOLDER / "render" / "scripts" / name).read_text(encoding="utf-8")


def launch_files(f: Frame) -> dict[str, str]:
    """The files of the launch folder, by name."""
    run = f.run
    out = {LAUNCH: launch_script(f)}
    if run.checkpoint is not None:
        out[CHECKPOINT] = script(CHECKPOINT)
    if run.program.setup is not None:
        out[SETUP] = setup_script(run.program.setup)
        if run.kind == "rayjob":
            out[RAY] = script(RAY)
    if run.program.launcher == "ray-tune":
        out[TUNE] = script(TUNE)
    if run.code.delivery == "git":
        out[CHECKOUT] = script(CHECKOUT)
    return out


def setup_script(lines: str) -> str:
    """The user's setup lines: the first that fails ends the start."""
    return "set -e\n" + lines + ("" if lines.endswith("\n") else "\n")


def program_args(run: ResolvedRun) -> tuple[str, ...]:
    """What the program gets after the launcher's own flags: the user's arguments, then the flags of `execution.configs` for a plain
    program."""
    return run.program.args if run.program.launcher == "torchrun" else run.program.args + run.program.flags


def launch_script(f: Frame) -> str:
    """The text of `launch.sh`."""
    run = f.run
    setup = run.program.setup is not None and run.kind != "rayjob"
    resume = run.checkpoint is not None and run.checkpoint.resume != "never"
    out = [f"#!/bin/sh\n# Starts run {f.base}.\n", BASH if setup else "", "set -eu\n"]
    out += _functions(run, setup=setup, resume=resume)
    if run.program.pip and run.kind != "rayjob":
        out.append(f"install {_words(run.program.pip)}\n")
    if setup:
        out.append(f"set +eu\n. {LAUNCH_DIR}/{SETUP}\nset -eu\n")
    out += _environment(f)
    argv = f'{_words(_argv(run))} "$@"'
    out.append(f"{_resume(f)} {argv}\n" if resume else f"exec {argv}\n")
    return "".join(out)


def _functions(run: ResolvedRun, *, setup: bool, resume: bool) -> list[str]:
    """The shell functions that this run needs, each explained where it stands."""
    pip = bool(run.program.pip) and run.kind != "rayjob"
    out = [f"python={_quoted(run.program.python)}\n"] if pip or resume else []
    for wanted, name in ((pip or setup, "start.sh"), (pip, "pip.sh"), (resume, "resume.sh")):
        if wanted:
            out += ["\n", script(name)]
    return [*out, "\n"]


def _environment(f: Frame) -> list[str]:
    """Variables that only the pod knows, the folder to start in, and on Ray the arguments: its submission would parse them twice."""
    run = f.run
    out: list[str] = []
    if run.kind == "rayjob" and run.program.setup is not None:
        out.append(RAY_SETUP)
    if run.kind != "rayjob":
        out.append(f'export PYTHONPATH="${{PYTHONPATH:+$PYTHONPATH:}}"{_quoted(":".join(python_path(run)))}\n')
    if run.program.launcher == "torchrun" and f.gang:
        out.append('export PET_NODE_RANK="$JOB_COMPLETION_INDEX"\n')
    out.append('export TAU_RESUME_FROM="${TAU_RESUME_FROM-}"\n')
    folder = run.working_dir or code_dir(run)
    if folder is not None:
        out.append(f"cd {_quoted(folder)}\n")
    if run.kind == "rayjob" and program_args(run):
        out.append(f"set -- {_words(program_args(run))}\n")
    return out


def _resume(f: Frame) -> str:
    """The call that finds the checkpoint; `--also` names the run that this one continues."""
    assert f.run.checkpoint is not None
    options = []
    if f.gang:
        options += ["--nodes", str(f.run.nodes)]
    if f.run.checkpoint.resume != "auto":
        options += ["--also", f.run.checkpoint.resume]
    return _words(("resume", *options, "--"))


def _argv(run: ResolvedRun) -> tuple[str, ...]:
    """The program without the user's arguments."""
    program = run.program
    if program.launcher == "ray-tune":
        return (program.python, f"{LAUNCH_DIR}/{TUNE}")
    if program.launcher == "torchrun":
        command = (_shown(run),) if program.file is not None else ("--no-python", *program.argv)
        return (program.python, "-m", "torch.distributed.run", *program.flags, *command)
    if program.file is None:
        return program.argv
    if program.launcher == "shell":
        shown = _shown(run)
        return (shown if "/" in shown else f"./{shown}",)
    return (program.python, _shown(run))


def _shown(run: ResolvedRun) -> str:
    """The entrypoint as the folder that the program starts in sees it."""
    file = run.program.file
    assert file is not None
    if run.working_dir is None and not posixpath.normpath(file).startswith(".."):
        return file if not file.startswith("-") else f"./{file}"
    return program_file(run) or file


def _words(words: tuple[str, ...]) -> str:
    return " ".join(map(_quoted, words))


def _quoted(text: str) -> str:
    return text if _SAFE.fullmatch(text) else shlex.quote(text)
