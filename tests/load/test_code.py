import hashlib
import os

import pytest

from taugen.diag import Severity
from taugen.load import code as codes
from taugen.load.code import collect
from taugen.load.tree import GitTree, WorkTree
from tests.gitkit import commit, git, make_repo, write

ROOT = "workspaces/nlp/train"
FILES = {
    f"{ROOT}/tau.yaml": "name: x\n",
    f"{ROOT}/train.py": "import model\n",
    f"{ROOT}/model.py": "",
    f"{ROOT}/data/config.json": "{}",
    f"{ROOT}/tau/sweep.yaml": "name: y\n",
    f"{ROOT}/tau/notes.txt": "n",
    "workspaces/nlp/lib/common.py": "x = 1\n",
    "workspaces/vision/secret.py": "s",
    "policy/p.yaml": "p",
}


def is_document(path):
    return path.endswith("/tau.yaml") or ("/tau/" in path and path.endswith(".yaml")) or path.startswith("policy/")


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path / "r", FILES)


@pytest.fixture(params=["work", "commit"])
def tree_of(request):
    return WorkTree if request.param == "work" else lambda repo: GitTree(repo, "HEAD")


def gather(tree, root=ROOT, workspace="workspaces/nlp", **options):
    return collect(tree, root, exclude_documents=is_document, workspace=workspace, **options)


def names(code):
    return [f.path for f in code.files]


def rules(problems):
    return {(p.path.removeprefix(ROOT + "/"), p.rule) for p in problems}


def test_the_files_below_the_root_without_documents(repo, tree_of):
    code, problems = gather(tree_of(repo))
    assert problems == []
    assert names(code) == ["data/config.json", "model.py", "tau/notes.txt", "train.py"]
    train = code.files[-1]
    assert (train.mode, train.size, train.source) == ("100644", 13, f"{ROOT}/train.py")
    assert train.blob == git(repo, "rev-parse", f"HEAD:{ROOT}/train.py")
    assert code.size == 2 + 0 + 1 + 13


def test_the_digest_is_that_of_the_content_not_of_the_place(repo):
    before = gather(GitTree(repo, "HEAD"))[0]
    assert gather(WorkTree(repo))[0].digest() == before.digest()
    git(repo, "mv", ROOT, "workspaces/nlp/other")
    commit(repo)
    moved = gather(GitTree(repo, "HEAD"), "workspaces/nlp/other")[0]
    assert moved.digest() == before.digest()
    (repo / "workspaces/nlp/other/train.py").chmod(0o755)
    assert gather(WorkTree(repo), "workspaces/nlp/other")[0].digest() != before.digest()


def test_a_work_tree_has_the_ids_of_what_is_on_disk(repo):
    write(repo, {f"{ROOT}/train.py": "edited\n"})
    train = gather(WorkTree(repo))[0].files[-1]
    assert train.blob == git(repo, "hash-object", f"{ROOT}/train.py")
    assert train.size == 7


def test_ids_in_a_sha256_repository(tmp_path):
    repo = make_repo(tmp_path / "r", FILES, object_format="sha256")
    write(repo, {f"{ROOT}/train.py": "edited\n"})
    assert gather(WorkTree(repo))[0].files[-1].blob == hashlib.sha256(b"blob 7\0edited\n").hexdigest()


def test_without_git(tmp_path):
    write(tmp_path, FILES)
    code, problems = gather(WorkTree(tmp_path))
    assert (names(code), problems) == (["data/config.json", "model.py", "tau/notes.txt", "train.py"], [])
    assert code.files[1].blob == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def test_include_and_exclude(repo, tree_of):
    tree = tree_of(repo)
    assert names(gather(tree, include=["*.py"])[0]) == ["model.py", "train.py"]
    assert names(gather(tree, exclude=["data/", "/model.py"])[0]) == ["tau/notes.txt", "train.py"]
    assert names(gather(tree, include=["*.py"], exclude=["model.*"])[0]) == ["train.py"]
    assert names(gather(tree, exclude=["*", "!train.py"])[0]) == ["train.py"]


def test_untracked_files_are_left_out_with_a_warning(repo):
    write(repo, {f"{ROOT}/new{i}.py": "" for i in range(7)} | {f"{ROOT}/skipped.log": "", "workspaces/nlp/trainer.py": ""})
    code, problems = gather(WorkTree(repo), exclude=["*.log"])
    assert "new1.py" not in names(code)
    assert [(p.rule, p.severity, p.path) for p in problems] == [("code-untracked", Severity.WARNING, f"{ROOT}/new0.py")]
    assert "new4.py and 2 more" in problems[0].message
    assert "skipped" not in problems[0].message


LINKS = {
    "inside": "model.py",
    "lib": "../lib",
    "alias.py": "../lib/common.py",
    "to-document": "tau.yaml",
    "other-workspace": "../../vision/secret.py",
    "policy": "../../../policy",
    "outside": "../../../../etc",
    "absolute": "/etc/passwd",
    "dangling": "nothing",
    "self": "self",
    "here": ".",
    "data/up": "..",
    "data/ok": "../tau",
}


def test_links(repo, tree_of):
    for name, text in LINKS.items():
        (repo / ROOT / name).symlink_to(text)
    commit(repo)
    code, problems = gather(tree_of(repo))
    delivered = {f.path: f.source for f in code.files if f.path != f.source.removeprefix(ROOT + "/")}
    assert delivered == {
        "inside": f"{ROOT}/model.py",
        "lib/common.py": "workspaces/nlp/lib/common.py",
        "alias.py": "workspaces/nlp/lib/common.py",
        "data/ok/notes.txt": f"{ROOT}/tau/notes.txt",
    }
    assert {f.mode for f in code.files} == {"100644"}
    assert rules(problems) == {
        ("other-workspace", "code-link-outside"),
        ("policy", "code-link-outside"),
        ("outside", "code-link-outside"),
        ("absolute", "code-link-outside"),
        ("dangling", "code-link-dangling"),
        ("self", "code-link-loop"),
        ("here", "code-link-loop"),
        ("data/up", "code-link-loop"),
    }


def test_an_excluded_link_is_no_problem(repo, tree_of):
    (repo / ROOT / "bad").symlink_to("/etc/passwd")
    commit(repo)
    assert gather(tree_of(repo), exclude=["bad"])[1] == []


def test_folders_that_link_to_each_other_end(repo, tree_of):
    for one, other in (("p", "q"), ("q", "p")):
        (repo / ROOT / one).mkdir()
        (repo / ROOT / one / "link").symlink_to(f"../{other}")
        write(repo, {f"{ROOT}/{one}/f": one})
    commit(repo)
    code, problems = gather(tree_of(repo))
    assert {"p/link/f", "q/link/f"} <= set(names(code))
    assert {rule for _, rule in rules(problems)} == {"code-link-loop"}


def test_links_that_double_are_bounded(repo, tree_of, monkeypatch):
    monkeypatch.setattr(codes, "MAX_FILES", 200)
    for i in range(20):
        folder = repo / ROOT / f"n{i}"
        folder.mkdir()
        for side in "ab":
            (folder / side).symlink_to(f"../n{i + 1}" if i < 19 else "../train.py")
    commit(repo)
    code, problems = gather(tree_of(repo))
    assert 0 < len(code.files) <= 200
    assert [p.rule for p in problems] == ["code-too-many-files"]


def test_a_code_root_that_is_a_link_or_nothing(repo, tree_of):
    (repo / "workspaces/nlp/alias").symlink_to("train")
    commit(repo)
    code, problems = gather(tree_of(repo), "workspaces/nlp/alias")
    assert (names(code), [p.rule for p in problems]) == ([], ["code-path-link"])
    assert gather(tree_of(repo), "workspaces/nlp/nothing")[0].files == ()


def test_pointers_of_lfs(repo, tree_of):
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 12\n"
    commit(repo, {f"{ROOT}/weights.bin": pointer, f"{ROOT}/about.md": "see version https://git-lfs.github.com/spec/v1\n"})
    code, problems = gather(tree_of(repo))
    assert "about.md" in names(code)
    assert rules(problems) == {("weights.bin", "code-lfs")}


def test_a_file_of_lfs_that_is_checked_out_is_found_too(repo):
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 12\n"
    commit(repo, {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", f"{ROOT}/weights.bin": pointer})
    write(repo, {f"{ROOT}/weights.bin": "the real one"})
    assert rules(gather(WorkTree(repo))[1]) == {("weights.bin", "code-lfs")}


def test_submodules(repo, tmp_path, tree_of):
    module = make_repo(tmp_path / "module", {"m.py": "1"})
    git(repo, "submodule", "add", "-q", str(module), f"{ROOT}/sub")
    (repo / ROOT / "into").symlink_to("sub/m.py")
    commit(repo)
    assert rules(gather(tree_of(repo))[1]) == {("sub", "code-submodule"), ("into", "code-submodule")}
    assert gather(tree_of(repo), exclude=["sub", "into"])[1] == []


@pytest.mark.parametrize("name", [b"\xff.py", b"a\nb.py", b"tab\t.py", b"del\x7f", "rtl\u202e.py".encode()])
def test_names_that_can_not_be_delivered(repo, tree_of, name):
    commit(repo, {f"{ROOT}/" + name.decode("utf-8", "surrogateescape"): "x"})
    code, problems = gather(tree_of(repo))
    assert len(code.files) == 4
    assert [p.rule for p in problems] == ["code-file-name"]
    problems[0].message.encode("ascii")


def test_a_pipe_among_the_code(repo):
    (repo / ROOT / "model.py").unlink()
    os.mkfifo(repo / ROOT / "model.py")
    assert rules(gather(WorkTree(repo))[1]) == {("model.py", "code-unreadable")}


def test_executable_files_keep_their_mode(repo, tree_of):
    (repo / ROOT / "train.py").chmod(0o755)
    commit(repo)
    assert gather(tree_of(repo))[0].files[-1].mode == "100755"
