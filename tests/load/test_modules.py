"""Modules by folder: each folder is walked once, however many runs ask."""

from taugen.load.modules import Modules, of
from taugen.load.tree import GitTree, WorkTree
from tests.gitkit import make_repo, write

FILES = {
    "w/a/tau.yaml": "name: a\n",
    "w/a/train.py": "",
    "w/lib/tools.py": "",
    "w/lib/pkg/__init__.py": "",
    "w/lib/deep/er.py": "",
    "w/top.py": "",
}


def test_what_stands_in_a_folder_and_beside_runs(tmp_path):
    modules = Modules(GitTree(make_repo(tmp_path / "r", FILES), "HEAD"))
    around = modules.around("w")
    assert around["top"] == (("w", "w/top.py"),)
    assert around["tools"] == (("w/lib", "w/lib/tools.py"),)
    assert around["pkg"] == (("w/lib", "w/lib/pkg/__init__.py"),)
    assert around["deep"] == (("w/lib", "w/lib/deep"),)
    assert "train" not in around


def test_only_names_that_an_import_can_mean_are_importable(tmp_path):
    files = FILES | {"w/0001/x.py": "", "w/lib/json.py": ""}
    modules = Modules(GitTree(make_repo(tmp_path / "r", files), "HEAD"))
    assert "0001" in modules.around("w")
    assert modules.importable("w") == {"a", "deep", "lib", "pkg", "tools", "top", "x"}


def test_a_folder_is_walked_once_for_all_runs(tmp_path):
    tree = GitTree(make_repo(tmp_path / "r", FILES), "HEAD")
    assert of(tree) is of(tree)
    assert of(tree).around("w") is of(tree).around("w")


def test_untracked_sources_count_where_their_folder_is_tracked(tmp_path):
    repo = make_repo(tmp_path / "r", FILES)
    write(repo, {"w/lib/loose.py": "", "w/other/far.py": ""})
    around = Modules(WorkTree(repo)).around("w")
    assert around["loose"] == (("w/lib", "w/lib/loose.py"),)
    assert "far" not in around
