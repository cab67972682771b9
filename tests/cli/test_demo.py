"""`taugen demo`: the main job, seen from outside."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from taugen.cli import demo as command
from tests.gitkit import git

ROOT = Path(__file__).resolve().parents[2]


def test_it_publishes_every_run_of_the_examples(taugen, tmp_path):
    ran = taugen("demo", "fleet", cwd=tmp_path)
    assert ran.code == 0, ran.err
    documents = list((ROOT / "examples" / "workspaces").rglob("tau.yaml"))
    assert f"{len(documents)} runs for 2 clusters" in ran.out
    bare = tmp_path / "fleet" / "fleet.git"
    published = git(bare, "ls-tree", "-r", "--name-only", "deploy").splitlines()
    folders = {path.rpartition("/")[0] for path in published if re.match(r"clusters/\w+/runs/\w+/[0-9a-f]{2}/", path)}
    assert len(folders) == len(documents)
    assert git(bare, "branch", "--format=%(refname:short)") == "deploy"
    assert git(tmp_path / "fleet", "status", "--porcelain") == ""


def test_what_it_shows_is_what_is_there(taugen, tmp_path):
    out = taugen("demo", "fleet", cwd=tmp_path).out
    bare = tmp_path / "fleet" / "fleet.git"
    commit = re.search(r"commit ([0-9a-f]{12}) on branch deploy of fleet/fleet.git", out)
    assert git(bare, "rev-parse", "deploy").startswith(commit[1])
    shown = re.search(r"git -C fleet.git show deploy:(\S+)", out)[1]
    assert "kind: RayJob" in git(bare, "show", f"deploy:{shown}")
    jobs = sum(text.startswith("kind: Job\n") or "\nkind: Job\n" in text for text in _texts(bare))
    counted = [int(n) for n in re.search(r"^Job +(\d+) +(\d+)$", out, re.MULTILINE).groups()]
    assert sum(counted) == jobs


def _texts(bare):
    return [
        git(bare, "show", f"deploy:{path}")
        for path in git(bare, "ls-tree", "-r", "--name-only", "deploy").splitlines()
        if path.endswith("/job.yaml")
    ]


def test_it_makes_the_same_commits_everywhere(taugen, tmp_path, monkeypatch):
    first = taugen("demo", "first-time", cwd=tmp_path).out
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    second = taugen("demo", "other-time", cwd=tmp_path).out
    assert first.replace("first-time", "DIR") == second.replace("other-time", "DIR")


def test_every_command_that_it_names_works(taugen, tmp_path):
    out = taugen("demo", "fleet", cwd=tmp_path).out
    said = [line.partition("#")[0].split() for line in out.partition("Look around:")[2].splitlines() if line.startswith("  ")]
    assert [words[0] for words in said] == ["cd", "git", "taugen", "taugen", "taugen", "taugen"]
    for words in said[2:]:
        ran = taugen(*words[1:], cwd=tmp_path / "fleet")
        assert ran.code == 0, (words, ran.err)


def test_a_folder_with_something_in_it_is_left_alone(taugen, tmp_path):
    (tmp_path / "fleet").mkdir()
    (tmp_path / "fleet" / "mine").write_text("")
    assert taugen("demo", "fleet", cwd=tmp_path).code == 2
    assert os.listdir(tmp_path / "fleet") == ["mine"]


def test_without_a_folder_it_takes_a_new_one_here(taugen, tmp_path):
    assert taugen("demo", cwd=tmp_path).code == 0
    assert os.listdir(tmp_path) == ["taugen-demo"]
    assert taugen("demo", cwd=tmp_path).code == 2


def test_the_tree_lists_runs_by_what_they_are_made_of():
    from collections import Counter

    from taugen.pipeline.demo import Cluster, Run

    cluster = Cluster("north", "flux", {"gitops": 1, "platform": 2}, (Run("runs/a/1f/x-1f", ("ConfigMap", "Job")),), Counter(Job=1))
    assert command.tree(cluster) == [
        "  north/  (Flux)",
        "    gitops/          1 file",
        "    platform/        2 files",
        "    runs/a/1f/x-1f/  ConfigMap, Job",
    ]


def test_the_wheel_has_the_examples_with_their_schemas(tmp_path):
    pytest.importorskip("hatchling", reason="the build backend is not installed")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)], cwd=ROOT, check=True, capture_output=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(ROOT / "examples").as_posix()
        for path in (ROOT / "examples").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {f"taugen/data/examples/{name}" for name in wanted | {"schemas/Run.json", "schemas/Policy.json"}} <= names
    assert "taugen/data/init/dot-gitignore" in names
    assert "taugen/data/overlays/aks" in {name.rpartition("/")[0] for name in names}
