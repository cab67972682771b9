"""What changed since a commit: nothing that changed is missing."""

import pytest

from taugen.diag import Refused
from taugen.load.since import Since
from tests.gitkit import commit, git, make_repo, write

FILES = {"a": "1", "d/b": "1", "d/c": "1", "e/f": "1", ".gitignore": "ignored\n"}


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path / "r", FILES)


def test_a_clean_tree(repo):
    assert Since(repo, "HEAD").paths() == set()


def test_everything_that_differs(repo):
    git(repo, "checkout", "-q", "-b", "topic")
    commit(repo, {"d/b": "2", "new": "1"})
    write(repo, {"a": None, "e/f": "2", "loose": "1", "ignored": "1"})
    (repo / "d/c").chmod(0o755)
    assert Since(repo, "main").paths() == {"a", "d/b", "d/c", "e/f", "new", "loose"}
    assert Since(repo, "main", "topic").paths() == {"d/b", "new"}
    assert Since(repo / "d", "main").paths() == {"b", "c"}
    assert Since(repo, "main", only=["e", "nothing"]).paths() == {"e/f"}


def test_it_counts_from_where_the_branches_parted(repo):
    git(repo, "checkout", "-q", "-b", "topic")
    commit(repo, {"new": "1"})
    git(repo, "checkout", "-q", "main")
    commit(repo, {"elsewhere": "1"})
    git(repo, "checkout", "-q", "topic")
    assert Since(repo, "main").paths() == {"new"}


def test_without_a_common_commit_it_counts_from_the_ref(repo):
    git(repo, "checkout", "-q", "--orphan", "other")
    commit(repo, {"a": "2"})
    assert Since(repo, "main").paths() == {"a"}


def test_a_submodule_is_a_change(repo, tmp_path):
    inner = make_repo(tmp_path / "inner", {"x": "1"})
    git(repo, "submodule", "--quiet", "add", str(inner), "d/sub")
    assert Since(repo, "HEAD").paths() == {".gitmodules", "d/sub"}


def test_an_unknown_ref(repo, tmp_path):
    with pytest.raises(Refused, match="no commit 'nowhere'") as refused:
        Since(repo, "nowhere")
    assert refused.value.code == 2
    (tmp_path / "plain").mkdir()
    with pytest.raises(Refused, match=r"not (in )?a [Gg]it repository"):
        Since(tmp_path / "plain", "HEAD")
