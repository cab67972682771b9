"""The hooks of .pre-commit-hooks.yaml, run by the real pre-commit on a real repository.

pre-commit would build an environment for each hook from a package index; here the hooks are the same but for that: they run the taugen of
these tests.
"""

import os
import shutil
import subprocess

import pytest
import yaml

from tests import outside
from tests.ci.kit import ROOT, Runner
from tests.gitkit import commit, git, make_repo
from tests.policykit import FIXTURE

GRID = "workspaces/climate/downscale/tau.yaml"
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())


@pytest.fixture
def repo(tmp_path):
    program = outside.program("pre-commit")
    folder = tmp_path / "repo"
    shutil.copytree(FIXTURE, folder)
    make_repo(folder)
    return folder, Runner(tmp_path, folder, {}), program


def run(repo, hook, *args):
    folder, runner, program = repo
    local = {"repo": "local", "hooks": [dict(hook, language="system")]}
    commit(folder, {".pre-commit-config.yaml": yaml.safe_dump({"repos": [local]})})
    write = (folder / GRID).read_text().replace("nonsense: 1\n", "") + "nonsense: 1\n" * ("--bad" in args)
    (folder / GRID).write_text(write)
    git(folder, "add", "-A")
    env = {
        "PATH": f"{runner.folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(runner.folder / "home"),
        "PRE_COMMIT_HOME": str(runner.folder / "home" / "pre-commit"),
        "LANG": "C.UTF-8",
    }
    command = [program, "run", *(arg for arg in args if arg != "--bad")]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("hook", HOOKS[:2], ids=lambda h: h["id"])
def test_a_commit_with_an_error_is_stopped(repo, hook):
    code, said = run(repo, hook, "--bad")
    assert code == 1, said
    assert f"{GRID}:" in said
    assert "[unknown-key]" in said
    commit(repo[0])
    (repo[0] / GRID).write_text((repo[0] / GRID).read_text().replace("nonsense: 1\n", "# mended\n"))
    git(repo[0], "add", "-A")
    code, said = run(repo, hook)
    assert code == 0, said


def test_all_files_are_checked_in_ci(repo):
    commit(repo[0], {GRID: (repo[0] / GRID).read_text() + "nonsense: 1\n"})
    assert run(repo, HOOKS[0], "--bad", "--all-files")[0] == 1


def test_older_names_are_mended_before_the_commit(repo):
    text = (repo[0] / GRID).read_text()
    assert "  entrypoint:" in text
    commit(repo[0], {GRID: text.replace("  entrypoint:", "  script:")})
    code, said = run(repo, HOOKS[2], "--all-files")
    assert (code, "files were modified by this hook" in said) == (1, True), said
    assert (repo[0] / GRID).read_text() == text
    assert run(repo, HOOKS[2], "--all-files")[0] == 0


def test_the_manifest_is_one(repo):
    done = subprocess.run([repo[2], "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
