import os

import pytest

from taugen.load import git, messages, partial
from tests.gitkit import commit, make_repo
from tests.gitkit import git as user_git


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path / "r", {"a.txt": "one\n", "d/b.txt": "two\n"})


def test_variables_of_a_surrounding_git_are_dropped(repo, tmp_path, monkeypatch):
    other = make_repo(tmp_path / "other", {"x": "y"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -i key")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "http.extraheader")
    assert list(git.ls_tree(repo, "HEAD")) == ["a.txt", "d/b.txt"]
    env = git.environment()
    assert env["GIT_SSH_COMMAND"] == "ssh -i key"
    assert env["GIT_CONFIG_KEY_0"] == "http.extraheader"
    assert env["GIT_TERMINAL_PROMPT"] == "0"


def test_transports_are_named_by_the_caller(monkeypatch):
    assert git.environment()["GIT_ALLOW_PROTOCOL"] == "none"
    assert git.environment(["https", "ext"])["GIT_ALLOW_PROTOCOL"] == "https"
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "file")
    assert git.environment(git.REMOTE_PROTOCOLS)["GIT_ALLOW_PROTOCOL"] == "file"
    assert "http" in git.protocols_for("http://127.0.0.1:8080/x.git")
    assert "http" not in git.protocols_for("http://127.0.0.1.example.org/x.git")
    assert "http" not in git.protocols_for("http://example.org/x.git")


def test_errors_carry_the_command_and_what_git_said(repo, tmp_path):
    with pytest.raises(git.GitError) as caught:
        git.run(["cat-file", "blob", "nonsense"], cwd=repo)
    assert caught.value.argv == ("cat-file", "blob", "nonsense")
    assert caught.value.code == 128
    assert "Not a valid object name nonsense" in str(caught.value)
    assert git.run(["cat-file", "blob", "nonsense"], cwd=repo, check=False).code == 128
    with pytest.raises(git.GitError, match="does not exist"):
        git.run(["status"], cwd=tmp_path / "missing")
    with pytest.raises(git.GitError, match="is not a folder"):
        git.run(["status"], cwd=repo / "a.txt")


def test_a_name_of_two_things_is_refused(repo):
    user_git(repo, "branch", "release")
    assert git.resolve(repo, "release") == user_git(repo, "rev-parse", "HEAD")
    commit(repo, {"a.txt": "new\n"})
    user_git(repo, "tag", "release")
    user_git(repo, "update-ref", "refs/heads/HEAD", "release")
    with pytest.raises(git.GitError, match="write it in full, such as refs/heads/release"):
        git.resolve(repo, "release")
    with pytest.raises(git.GitError, match="write it in full"):
        git.resolve(repo, "release~1")
    assert git.resolve(repo, "refs/heads/release") == git.resolve(repo, "HEAD~1") != git.resolve(repo, "refs/tags/release")
    user_git(repo, "config", "core.warnAmbiguousRefs", "false")
    with pytest.raises(git.GitError, match="write it in full"):
        git.resolve(repo, "release")


def test_a_missing_git_is_one_sentence(repo, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(git.GitError, match="git is not installed"):
        git.run(["status"], cwd=repo)


def test_a_repository_of_another_user_is_one_sentence(repo):
    os.chown(repo / ".git", 12345, 12345)
    os.chown(repo, 12345, 12345)
    with pytest.raises(git.GitError, match=r"safe\.directory"):
        git.resolve(repo, "HEAD")


def test_an_endless_command_is_ended(repo):
    os.mkfifo(repo / "pipe")
    with pytest.raises(git.GitError, match="no end after"):
        git.run(["hash-object", "pipe"], cwd=repo, timeout=0.2)


def test_stdin_in_pieces_and_whole(repo):
    whole = git.run(["hash-object", "--stdin"], cwd=repo, stdin=b"ab").out
    assert git.run(["hash-object", "--stdin"], cwd=repo, stdin=iter([b"a", b"b"])).out == whole


def test_a_process_that_ends_before_its_input_reports_why(repo):
    with pytest.raises(git.GitError, match="unknown option"):
        git.run(["hash-object", "--nonsense"], cwd=repo, stdin=(b"x" * 65536 for _ in range(100)))


def test_toplevel_and_resolve(repo, tmp_path):
    head = user_git(repo, "rev-parse", "HEAD")
    user_git(repo, "tag", "-a", "v1", "-m", "x")
    assert git.toplevel(repo / "d") == repo
    assert git.toplevel(tmp_path) is None
    assert git.resolve(repo, "main") == git.resolve(repo, head[:12]) == git.resolve(repo, "v1") == head
    for bad in ("nope", "--all", "HEAD:a.txt", "", "0" * 40):
        with pytest.raises(git.GitError, match="there is no commit"):
            git.resolve(repo, bad)
        assert (git.find(repo, bad) is None) == (bad != "HEAD:a.txt")


def test_objects_of_any_kind(repo):
    assert git.find(repo, "HEAD:a.txt") == git.run(["hash-object", "--stdin"], cwd=repo, stdin=b"one\n").out.decode().strip()
    assert git.find(repo, "HEAD:") == git.commit_info(repo, git.resolve(repo, "HEAD")).tree
    assert git.find(repo, "HEAD:nothing") is None
    assert git.empty_blob(repo) == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def test_history(repo):
    first = git.resolve(repo, "HEAD")
    second = commit(repo, {"a.txt": "changed\n", "new": "n", "d/b.txt": None}, "second\n\nbody", date="2026-02-03T04:05:06+09:00")
    assert git.is_ancestor(repo, first, second)
    assert git.is_ancestor(repo, second, second)
    assert not git.is_ancestor(repo, second, first)
    with pytest.raises(git.GitError):
        git.is_ancestor(repo, "0" * 40, first)
    assert git.diff_names(repo, first, second) == [("M", "a.txt"), ("D", "d/b.txt"), ("A", "new")]
    assert git.diff_names(repo, first, second, ["d", "new"]) == [("D", "d/b.txt"), ("A", "new")]
    info = git.commit_info(repo, second)
    assert info.parents == (first,)
    assert (info.author_name, info.author_email, info.author_date) == ("Ada", "ada@example.org", "1770059106 +0900")
    assert (info.committer_date, info.subject) == ("1770059106 +0900", "second")
    assert not git.is_shallow(repo)


def test_paths_are_no_patterns_and_renames_are_two_changes(repo):
    first = git.resolve(repo, "HEAD")
    second = commit(repo, {"*.txt": "star", "a.txt": None, "renamed": "one\n"})
    assert git.diff_names(repo, first, second, ["*.txt"]) == [("A", "*.txt")]
    assert git.diff_names(repo, first, second) == [("A", "*.txt"), ("D", "a.txt"), ("A", "renamed")]


def test_ls_tree_below_a_prefix_and_from_a_subfolder(repo):
    assert list(git.ls_tree(repo, "HEAD", "d")) == ["b.txt"]
    assert list(git.ls_tree(repo / "d", "HEAD")) == ["a.txt", "d/b.txt"]
    assert git.ls_tree(repo, "HEAD", "nothing") == {}
    with pytest.raises(git.GitError, match="there is no commit"):
        git.ls_tree(repo, "nothing")


def test_cat_file(repo):
    with git.CatFile(repo) as cat:
        assert cat.read("HEAD:a.txt") == b"one\n"
        assert cat.read("HEAD:nothing") is None
        assert cat.read("0" * 40) is None
        names = ["HEAD:a.txt", "HEAD:d/b.txt", "HEAD:x"] * 100
        assert list(cat.read_many(names)) == [b"one\n", b"two\n", None] * 100
        assert list(cat.read_many(["HEAD:a.txt", "HEAD:d/b.txt"], limit=3)) == [4, 4]
        assert cat.read("HEAD:a.txt") == b"one\n"
        with pytest.raises(git.GitError, match="line break"):
            cat.read("HEAD:a\nHEAD:d/b.txt")
    assert git.sizes(repo, ["HEAD:a.txt", "HEAD:nothing"]) == [4, None]


def test_many_contents_are_those_of_one_by_one(repo, monkeypatch):
    monkeypatch.setattr(partial, "_IN_ONE_GO", 7)
    sha = git.resolve(repo, "HEAD")
    names = ["HEAD:a.txt", "HEAD:x", "HEAD:d/b.txt", "0" * 40, f"{sha}^{{tree}}", "HEAD:d"] * 9
    with git.CatFile(repo) as cat:
        assert list(partial.contents(repo, names)) == list(cat.read_many(names))
    assert list(partial.contents(repo, [])) == []
    with pytest.raises(git.GitError, match="line break"):
        list(partial.contents(repo, ["HEAD:a\nHEAD:d/b.txt"]))
    real = git.run
    monkeypatch.setattr(git, "run", lambda *args, **more: real(*args, **more)._replace(out=b"a blob 900\nshort"))
    with pytest.raises(git.GitError, match="a blob 900"):
        list(partial.contents(repo, names))


def test_a_commit_that_was_seen_is_not_asked_for_again(repo, monkeypatch):
    sha = git.resolve(repo, "HEAD")
    monkeypatch.setattr(git, "run", lambda *_, **__: pytest.fail("git was asked"))
    assert git.resolve(repo, sha) == sha


def test_cat_file_that_died(repo):
    with git.CatFile(repo) as cat:
        cat._process.kill()
        cat._process.wait()
        with pytest.raises(git.GitError, match="git ended"):
            cat.read("HEAD:a.txt")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("subject\n\nbody\n\nTau-Source: abc\nTau-Policy: x\nTau-Policy: y\n", {"Tau-Source": ["abc"], "Tau-Policy": ["x", "y"]}),
        ("subject\n", {}),
        ("Key: value\n", {}),
        ("subject\n\nwords: and\nmore words\n", {}),
        ("", {}),
    ],
)
def test_trailers(message, expected):
    assert messages.trailers(message) == expected


def test_replaced_objects_do_not_count(repo):
    first = git.resolve(repo, "HEAD")
    second = commit(repo, {"a.txt": "changed\n"})
    user_git(repo, "replace", second, first)
    with git.CatFile(repo) as cat:
        assert cat.read(f"{second}:a.txt") == b"changed\n"


def test_a_full_disk_is_one_sentence(repo, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.delattr(git.os, "memfd_create", raising=False)
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(git.GitError, match="No space left on device"):
        git.resolve(repo, "HEAD")
