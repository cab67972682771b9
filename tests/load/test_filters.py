"""Filters of the configuration are not run by looking at a repository, whatever its attributes say."""

import os
import subprocess
import time

import pytest

from taugen.load.ahead import Ahead
from taugen.load.filters import disarmed
from taugen.load.since import Since
from taugen.load.status import Uncommitted
from taugen.load.tree import WorkTree
from tests.gitkit import git, make_repo

FILES = {".gitattributes": "* filter=evil\n", "a.txt": "one\n", "d/b.txt": "two\n"}


@pytest.fixture
def armed(tmp_path):
    """A repository in which looking at a file would start a filter: configured, named, and every file as new as the index."""
    repo = make_repo(tmp_path / "r", FILES)
    for word in ("clean", "smudge", "process"):
        git(repo, "config", f"filter.evil.{word}", f"touch {tmp_path}/ran-{word}")
    now = time.time()
    for path in (*FILES, ".git/index"):
        os.utime(repo / path, (now, now))
    for name in FILES:
        (repo / name).write_bytes((repo / name).read_bytes())
        os.utime(repo / name, (now, now))
    return repo


def ran(repo):
    return sorted(path.name for path in repo.parent.glob("ran-*"))


def test_plain_git_would_run_them(armed):
    subprocess.run(["git", "diff-files"], cwd=armed, capture_output=True, check=False)
    assert ran(armed)


def test_a_tree_is_read_without(armed):
    tree = WorkTree(armed)
    assert set(tree.paths()) == set(FILES)
    assert tree.read("a.txt") == b"one\n"
    assert tree.lfs == frozenset()
    Since(armed, "HEAD").paths()
    assert ran(armed) == []


def test_a_tree_that_was_asked_ahead_is_read_without(armed):
    tree = WorkTree(armed)
    tree.prepare(Ahead(armed))
    assert set(tree.paths()) == set(FILES)
    assert ran(armed) == []


def test_what_is_not_committed_is_told_without(armed):
    (armed / "new.txt").write_text("three\n")
    with Uncommitted(armed) as status:
        assert "new.txt" in status.paths()
    assert ran(armed) == []


def test_variables_that_are_there_stay(armed, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "http.extraHeader")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "x")
    env = disarmed(armed)
    assert env["GIT_CONFIG_COUNT"] == "5"
    assert env["GIT_CONFIG_KEY_1"] == "filter.evil.clean"
    assert "GIT_CONFIG_KEY_0" not in env


def test_no_filters_no_variables(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    assert disarmed(make_repo(tmp_path / "plain", {})) == {}
