"""Where a project begins, and folders that pose as repositories."""

import pytest

from taugen.diag import Refused
from taugen.load.root import find_place, find_root, refuse_impostor
from tests.gitkit import commit, git, make_bare, make_repo, write

PROJECT = "taugen.yaml"


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path / "r", {f"ml/{PROJECT}": "x\n", "ml/deep/a": "1\n"})


def test_upwards(repo):
    assert find_root(repo / "ml/deep") == repo / "ml"
    assert find_place(repo / "ml/deep", "main").root == repo / "ml"
    with pytest.raises(Refused, match=r"no taugen\.yaml"):
        find_root(repo)


@pytest.mark.parametrize("files", [("HEAD", "objects/x", "refs/x"), ("HEAD", "commondir")])
@pytest.mark.parametrize("trusted", [None, "main"])
@pytest.mark.parametrize("below", ["", "/deep"])
def test_a_folder_that_poses_as_a_repository(repo, files, trusted, below):
    write(repo, {f"ml/{name}": "ref: refs/heads/main\n" for name in files})
    with pytest.raises(Refused, match=r"ml in .* has the files of a Git repository") as refused:
        find_place(repo / f"ml{below}", trusted)
    assert refused.value.code == 2


def test_what_only_resembles_one(repo):
    write(repo, {"ml/HEAD": "x\n", "ml/deep/objects/x": "x\n"})
    assert find_place(repo / "ml/deep").root == repo / "ml"


def test_real_ones(tmp_path, repo):
    refuse_impostor(make_bare(tmp_path / "bare.git"))
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"))
    refuse_impostor(tmp_path / "tree/ml")
    make_repo(repo / "ml/nested", {PROJECT: "x\n"})
    assert find_root(repo / "ml/nested") == repo / "ml/nested"
    commit(repo)
