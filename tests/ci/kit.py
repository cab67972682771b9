"""What CI systems do with our files: a runner that plays the steps of a job or an action as they stand."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from tests.gitkit import commit, git, make_repo
from tests.policykit import FIXTURE

ROOT = Path(__file__).resolve().parents[2]
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


class Runner:
    """Plays steps. `context` gives the value of each expression by its text; `if:` conditions are read from it too."""

    def __init__(self, folder: Path, workspace: Path, context: Mapping[str, object]) -> None:
        self.workspace = workspace
        self.context = dict(context)
        self.folder = folder
        for name in ("temp", "bin", "home"):
            (folder / name).mkdir(exist_ok=True)
        taugen = folder / "bin" / "taugen"
        taugen.write_text(f"#!{sys.executable}\nfrom taugen.__main__ import main\nmain()\n")
        taugen.chmod(0o755)
        self.summary, self.outputs, self.log = folder / "summary.md", folder / "outputs", ""
        self.context["runner.temp"] = str(folder / "temp")
        self.played: list[str] = []

    def value(self, text: object) -> str:
        """A text with its expressions filled in."""
        return EXPRESSION.sub(lambda found: self._expression(found[1]), str(text))

    def _expression(self, name: str) -> str:
        value = self.context.get(name, "")
        return str(value).lower() if isinstance(value, bool) else str(value)

    def wanted(self, step: Mapping[str, object]) -> bool:
        """Whether a step runs: its condition is one of those that the context names."""
        if "if" not in step:
            return True
        condition = str(step["if"]).removeprefix("${{").removesuffix("}}").strip()
        value = self.context[condition]
        return bool(value(self) if callable(value) else value)

    def play(self, steps: list[dict[str, object]], env: Mapping[str, str]) -> int:
        """Run the steps that have a `run`, in order; stops at the first that fails unless a later one runs always."""
        code = 0
        for step in steps:
            always = "cancelled()" in str(step.get("if", ""))
            if "run" not in step or not self.wanted(step) or (code and not always):
                continue
            if "pip install" in str(step["run"]):
                continue  # the command is there already
            self.played.append(str(step.get("name", step["run"])))
            code = self._run(step, env) or code
        return code

    def _run(self, step: Mapping[str, object], env: Mapping[str, str]) -> int:
        before = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(self.folder / "home"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "LANG": "C.UTF-8",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_OUTPUT": str(self.outputs),
        }
        listed = step.get("env") or {}
        assert isinstance(listed, dict)
        mine = {key: self.value(value) for key, value in listed.items()}
        where = self.workspace / self.value(step.get("working-directory", "."))
        script = self.folder / "step.sh"
        script.write_text(self.value(step["run"]))
        # As the runner does for `shell: bash`.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
        done = subprocess.run(command, cwd=where, env={**before, **env, **mine}, capture_output=True, text=True, check=False)
        self.log += done.stdout + done.stderr
        if "id" in step and self.outputs.exists():
            for line in self.outputs.read_text().splitlines():
                key, _, value = line.partition("=")
                self.context[f"steps.{step['id']}.outputs.{key}"] = value
            self.outputs.unlink()
        return done.returncode


def project(folder: Path) -> Path:
    """A clone with a branch topic, as actions/checkout leaves it with fetch-depth 0: main stands at refs/remotes/origin/main."""
    origin = folder / "origin"
    shutil.copytree(FIXTURE, origin)
    make_repo(origin)
    commit(origin)
    git(folder, "clone", "-q", str(origin), "checkout")
    git(folder / "checkout", "checkout", "-q", "-b", "topic")
    return folder / "checkout"


def load(path: Path) -> dict[str, object]:
    """A YAML file of ours."""
    loaded = yaml.safe_load(path.read_text())
    assert isinstance(loaded, dict)
    return loaded
