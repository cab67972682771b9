import os
import re

import pytest

from taugen.load import worktree
from taugen.load.ahead import Ahead
from taugen.load.git import GitError
from taugen.load.links import Outcome, resolve_link
from taugen.load.tree import GitTree, Unreadable, WorkTree
from tests.gitkit import commit, git, make_repo, write

FILES = {"a.txt": "one\n", "d/b.txt": "two\n", "d/e/tau.yaml": "name: x\n", ".gitignore": "ignored\n"}


def is_document(path):
    return path.endswith("tau.yaml")


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path / "r", FILES)


@pytest.fixture(params=["work", "commit"])
def both(request, repo):
    """Builds either kind of tree of what is committed in `repo`."""
    return (lambda prefix="": WorkTree(repo / prefix)) if request.param == "work" else (lambda prefix="": GitTree(repo, "HEAD", prefix))


def test_both_kinds_say_the_same_of_a_clean_repository(repo):
    work, past = WorkTree(repo), GitTree(repo, "HEAD")
    assert dict(work.paths()) == dict(past.paths())
    assert set(work.paths()) == set(FILES)
    assert work.documents(is_document) == past.documents(is_document) == ["d/e/tau.yaml"]
    assert work.below("d") == past.below("d") == ["d/b.txt", "d/e/tau.yaml"]
    assert work.folders() == past.folders() == {"", "d", "d/e"}
    assert (work.commit, past.commit) == (None, git(repo, "rev-parse", "HEAD"))
    past.prefetch(FILES)
    for path, text in FILES.items():
        assert work.read(path) == past.read(path) == text.encode()


def test_a_root_below_the_top(both):
    tree = both("d")
    assert sorted(tree.paths()) == ["b.txt", "e/tau.yaml"]
    assert tree.read("e/tau.yaml") == b"name: x\n"
    assert tree.documents(is_document) == ["e/tau.yaml"]


def test_reading_what_is_no_file(both):
    tree = both()
    assert tree.paths()
    for path, why in {"nothing": "not exist", "d": "a folder", "a.txt/x": "not exist", "d/nothing/x": "not exist"}.items():
        with pytest.raises(Unreadable, match=why):
            tree.read(path)


def test_a_large_file_is_not_read(repo, both):
    with (repo / "big").open("wb") as file:
        file.truncate(3 * 1024 * 1024)
    commit(repo)
    tree = both()
    with pytest.raises(Unreadable, match=f"has {3 * 1024 * 1024} bytes, more than the 1000"):
        tree.read("big", 1000)
    assert tree.read("a.txt", 1000) == b"one\n"
    assert tree.read("a.txt", 4) == b"one\n"
    with pytest.raises(Unreadable):
        tree.read("a.txt", 3)


def test_changes_on_disk(repo):
    write(repo, {"a.txt": "edited\n", "d/b.txt": None, "new": "n", "ignored": "i", "sub/tau.yaml": "y"})
    tree = WorkTree(repo)
    assert tree.paths()["a.txt"] == ("100644", None)
    assert "d/b.txt" not in tree.paths()
    assert tree.untracked() == ["new", "sub/tau.yaml"]
    assert tree.documents(is_document) == ["d/e/tau.yaml", "sub/tau.yaml"]
    assert tree.read("a.txt") == b"edited\n"
    assert tree.read("sub/tau.yaml") == b"y"


@pytest.mark.parametrize("only", [(), ("d",)])
@pytest.mark.parametrize("below", ["", "d"])
def test_asked_ahead_it_says_the_same(repo, only, below):
    write(repo, {"a.txt": "changed\n", "d/new.txt": "new\n", "d/sub/other.txt": "new\n", "? odd": "tracked\n", "ignored": "x\n"})
    git(repo, "add", "? odd")
    git(repo, "update-index", "--assume-unchanged", "d/b.txt")
    (repo / "d/b.txt").write_text("told to overlook\n")
    (repo / "d/e/tau.yaml").unlink()
    plain, asked = (WorkTree(repo / below, [] if below else only) for _ in range(2))
    asked.prepare(Ahead(repo / below))
    assert asked.top == plain.top == repo
    assert dict(asked.paths()) == dict(plain.paths())
    assert asked.untracked() == plain.untracked() != []
    assert asked.documents(is_document) == plain.documents(is_document)
    assert asked.read("b.txt" if below else "d/b.txt") == b"told to overlook\n"
    assert "ignored" not in {*asked.paths(), *asked.untracked()}


def test_asked_ahead_where_there_is_no_git(tmp_path):
    write(tmp_path, FILES)
    tree = WorkTree(tmp_path)
    tree.prepare(Ahead(tmp_path))
    assert tree.top is None
    assert set(tree.paths()) == set(FILES)
    assert tree.untracked() == []


def test_a_mode_changed_on_disk(repo):
    (repo / "a.txt").chmod(0o755)
    (repo / "d/b.txt").unlink()
    (repo / "d/b.txt").symlink_to("../a.txt")
    paths = WorkTree(repo).paths()
    assert (paths["a.txt"].mode, paths["d/b.txt"].mode) == ("100755", "120000")


def test_files_that_git_was_told_to_overlook_are_looked_at(repo):
    git(repo, "update-index", "--assume-unchanged", "a.txt")
    git(repo, "update-index", "--skip-worktree", "d/b.txt")
    write(repo, {"a.txt": "edited\n", "d/b.txt": "edited too\n"})
    paths = WorkTree(repo).paths()
    assert (paths["a.txt"].blob, paths["d/b.txt"].blob) == (None, None)


def test_files_outside_of_a_sparse_checkout_are_read_from_the_store(repo):
    (repo / "d/link").symlink_to("b.txt")
    commit(repo)
    git(repo, "sparse-checkout", "set", "--no-cone", "/a.txt")
    assert not (repo / "d").exists()
    tree = WorkTree(repo)
    assert dict(tree.paths()) == dict(GitTree(repo, "HEAD").paths())
    assert tree.read("d/b.txt", 4) == b"two\n"
    assert tree.readlink("d/link") == "b.txt"
    assert resolve_link(tree, "d/link").target == "d/b.txt"
    assert tree.documents(is_document) == ["d/e/tau.yaml"]
    with pytest.raises(Unreadable, match="more than the 3"):
        tree.read("d/b.txt", 3)


def test_an_added_file_that_is_not_committed_counts(repo):
    write(repo, {"new": "n"})
    git(repo, "add", "new")
    assert "new" in WorkTree(repo).paths()


def test_unmerged_files_are_read_from_disk(repo):
    git(repo, "checkout", "-q", "-b", "other")
    commit(repo, {"a.txt": "theirs\n"})
    git(repo, "checkout", "-q", "main")
    commit(repo, {"a.txt": "ours\n"})
    with pytest.raises(AssertionError):
        git(repo, "merge", "other")
    tree = WorkTree(repo)
    assert tree.paths()["a.txt"].blob is None
    assert b"<<<<<<<" in tree.read("a.txt")


def test_without_git_every_file_counts(tmp_path):
    write(tmp_path, {"a": "1", "d/tau.yaml": "2", ".git-not/x": "3", "node_modules/m": "4", ".venv/v": "5"})
    (tmp_path / "tau.yaml").mkdir()
    (tmp_path / "folder-link").symlink_to("d")
    tree = WorkTree(tmp_path)
    assert sorted(tree.paths()) == [".git-not/x", "a", "d/tau.yaml", "folder-link"]
    assert tree.paths()["folder-link"].mode == "120000"
    assert tree.documents(is_document) == ["d/tau.yaml", "tau.yaml"]
    assert tree.untracked() == []


def test_a_folder_that_the_repository_around_it_ignores_is_one_without_git(repo):
    write(repo, {"ignored/tau.yaml": "x", "other/tau.yaml": "y"})
    assert list(WorkTree(repo / "ignored").paths()) == ["tau.yaml"]
    fresh = WorkTree(repo / "other")
    assert list(fresh.paths()) == []
    assert fresh.documents(is_document) == ["tau.yaml"]


@pytest.mark.parametrize("inside", ["", "d/", "fresh/", "fresh/deep/"])
def test_an_empty_folder_named_like_a_document_is_found(repo, inside):
    (repo / inside / "tau.yaml").mkdir(parents=True)
    tree = WorkTree(repo)
    assert f"{inside}tau.yaml" in tree.documents(is_document)
    with pytest.raises(Unreadable, match="is a folder"):
        tree.read(f"{inside}tau.yaml")


def test_a_tracked_folder_named_like_a_document_is_found(repo, both):
    commit(repo, {"x/tau.yaml/file": "1"})
    assert "x/tau.yaml" in both().documents(is_document)


def test_pipes_are_never_opened(repo):
    (repo / "a.txt").unlink()
    os.mkfifo(repo / "a.txt")
    os.mkfifo(repo / "tau.yaml")
    tree = WorkTree(repo)
    for path in ("a.txt", "tau.yaml"):
        with pytest.raises(Unreadable, match="a pipe, a socket or a device"):
            tree.read(path)


def test_no_permission(repo, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(worktree.os, "open", refuse)
    with pytest.raises(Unreadable, match="permission denied"):
        WorkTree(repo).read("a.txt")


def test_a_tracked_folder_replaced_by_a_link_leads_nowhere(repo, tmp_path):
    write(tmp_path / "secret", {"b.txt": "secret", "e/tau.yaml": "secret"})
    for path in ("d/b.txt", "d/e/tau.yaml"):
        (repo / path).unlink()
    (repo / "d/e").rmdir()
    (repo / "d").rmdir()
    (repo / "d").symlink_to(tmp_path / "secret")
    tree = WorkTree(repo)
    assert "d/b.txt" not in tree.paths()
    for path in ("d/b.txt", "d/e/tau.yaml", "../secret/b.txt", str(tmp_path / "secret/b.txt"), "d/../../secret/b.txt"):
        with pytest.raises(Unreadable):
            tree.read(path)


LINKS = {
    "ok": ("a.txt", Outcome.FILE, "a.txt"),
    "d/up": ("../a.txt", Outcome.FILE, "a.txt"),
    "chain": ("d/up", Outcome.FILE, "a.txt"),
    "folder": ("d", Outcome.FOLDER, "d"),
    "through": ("folder/e/tau.yaml", Outcome.FILE, "d/e/tau.yaml"),
    "physical": ("folder/e/../../a.txt", Outcome.FILE, "a.txt"),
    "slash": ("d/", Outcome.FOLDER, "d"),
    "root": (".", Outcome.FOLDER, ""),
    "dangling": ("nothing", Outcome.DANGLING, "nothing"),
    "file-as-folder": ("a.txt/x", Outcome.DANGLING, "a.txt"),
    "self": ("self", Outcome.LOOP, None),
    "ping": ("pong", Outcome.LOOP, None),
    "pong": ("ping", Outcome.LOOP, None),
    "outside": ("../../etc/passwd", Outcome.OUTSIDE, None),
    "out-and-back": ("../r/a.txt", Outcome.OUTSIDE, None),
    "absolute": ("/etc/passwd", Outcome.OUTSIDE, "/etc/passwd"),
}


def test_links(repo, both):
    for name, (text, _, _) in LINKS.items():
        (repo / name).symlink_to(text)
    commit(repo)
    tree = both()
    for name, (text, outcome, target) in LINKS.items():
        got = resolve_link(tree, name)
        assert (name, got.outcome) == (name, outcome)
        assert target is None or got.target == target
        assert tree.paths()[name].mode == "120000"
        assert tree.readlink(name) == text
        with pytest.raises(Unreadable, match="is a symbolic link"):
            tree.read(name)
    with pytest.raises(Unreadable):
        tree.readlink("a.txt")


def test_a_link_to_an_untracked_file_dangles(repo):
    (repo / "l").symlink_to("ignored")
    write(repo, {"ignored": "x"})
    git(repo, "add", "l")
    assert resolve_link(WorkTree(repo), "l").outcome is Outcome.DANGLING


def test_names_that_are_not_utf8_keep_their_bytes(repo, both):
    name = b"\xff.txt".decode("utf-8", "surrogateescape")
    commit(repo, {name: "x", 'quo"te\n.txt': "y"})
    tree = both()
    assert tree.read(name) == b"x"
    assert tree.read('quo"te\n.txt') == b"y"
    assert tree.paths()[name].blob


def test_a_submodule_is_an_entry_that_can_not_be_read(repo, tmp_path, both):
    module = make_repo(tmp_path / "module", {"m.py": "1"})
    git(repo, "submodule", "add", "-q", str(module), "sub")
    commit(repo)
    tree = both()
    assert tree.paths()["sub"].mode == "160000"
    assert "sub/m.py" not in tree.paths()
    with pytest.raises(Unreadable, match=r"is a (submodule|folder)"):
        tree.read("sub")


def test_a_repository_inside_that_is_not_tracked(repo):
    make_repo(repo / "nested", {"tau.yaml": "1"})
    assert WorkTree(repo).untracked() == ["nested/"]


def test_a_bare_repository(repo, tmp_path):
    git(repo, "clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    with GitTree(tmp_path / "bare", "main", "d") as tree:
        assert tree.read("b.txt") == b"two\n"
        tree.close()
        assert tree.read("e/tau.yaml") == b"name: x\n"


def test_a_missing_object_is_unreadable(repo):
    blob = git(repo, "rev-parse", "HEAD:a.txt")
    (repo / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(Unreadable, match=re.escape(blob[:12])):
        GitTree(repo, "HEAD").read("a.txt")


def test_a_partial_clone_is_told_and_not_filled(repo, tmp_path):
    git(repo, "config", "uploadpack.allowFilter", "true")
    git(repo, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(repo, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repo}", str(tmp_path / "partial"))
    tree = GitTree(tmp_path / "partial", "HEAD")
    assert "a.txt" in tree.paths()
    with pytest.raises((Unreadable, GitError), match="partial clone"):
        tree.read("a.txt")
    assert "missing" in git(tmp_path / "partial", "rev-list", "--objects", "--missing=print", "HEAD").replace("?", "missing ")


def test_a_root_that_is_no_folder(repo):
    with pytest.raises(Unreadable, match="is no folder"):
        WorkTree(repo / "a.txt")


@pytest.mark.parametrize("many", [500, 2])
def test_untracked_folders_are_listed_file_by_file(repo, monkeypatch, many):
    monkeypatch.setattr(worktree, "_MANY", many)
    write(repo, {"*/x": "", "n/m/y": "", "n/ignored": "", "z z/tau.yaml": ""})
    (repo / "empty").mkdir()
    assert WorkTree(repo).untracked() == ["*/x", "n/m/y", "z z/tau.yaml"]


def test_a_forked_process_reads_through_a_git_of_its_own(repo):
    tree = GitTree(repo, "HEAD")
    assert tree.read("a.txt") == b"one\n"
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write_end, tree.read("d/b.txt"))
            tree.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read_end, 100) == b"two\n"
    assert tree.read("d/e/tau.yaml") == b"name: x\n"
    os.close(read_end)
    os.close(write_end)
