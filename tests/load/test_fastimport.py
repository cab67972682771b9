import subprocess
import sys
from pathlib import Path

import pytest

from taugen.load import fastimport, git, messages
from taugen.load.fastimport import Pushed
from tests.gitkit import commit, make_bare, make_repo
from tests.gitkit import git as user_git
from tests.httpkit import can_serve, serving

WHO = b"Ada <ada@example.org> 1700000000 +0000"


def make(repo: Path, changes, *, parents=(), base=None, message=b"m\n") -> str:
    return fastimport.commit_tree(repo, parents=parents, message=message, author=WHO, committer=WHO, changes=changes, base=base)


def refs(repo: Path) -> str:
    return user_git(repo, "for-each-ref")


def test_a_first_commit_has_the_files_and_moves_nothing(tmp_path):
    repo = make_bare(tmp_path / "r")
    sha = make(repo, [("b/c.txt", b"two"), ("a", b"one\n")], message="Grüße\n\nTau-Source: x\n".encode())
    assert {p: e.mode for p, e in git.ls_tree(repo, sha).items()} == {"a": "100644", "b/c.txt": "100644"}
    assert user_git(repo, "show", f"{sha}:b/c.txt") == "two"
    info = git.commit_info(repo, sha)
    assert (info.parents, info.author_date, info.subject) == ((), "1700000000 +0000", "Grüße")
    assert messages.trailers(info.message) == {"Tau-Source": ["x"]}
    assert refs(repo) == ""
    assert user_git(repo, "fsck", "--no-dangling") == ""


def test_the_same_changes_in_any_order_give_the_same_commit(tmp_path):
    files = [(f"d{i % 3}/f{i}", b"%d" % i) for i in range(20)]
    one, two = make_bare(tmp_path / "1"), make_bare(tmp_path / "2")
    assert make(one, files) == make(two, files[::-1])


def test_changes_apply_to_the_base(tmp_path):
    repo = make_repo(tmp_path / "r", {"keep": "k", "gone": "g", "edit": "old", "x/y": "deep"})
    head = git.resolve(repo, "HEAD")
    sha = make(repo, [("x", b"a file where a folder was"), ("edit", b"new"), ("gone", None), ("x/y", None)], parents=[head], base=head)
    assert sorted(git.ls_tree(repo, sha)) == ["edit", "keep", "x"]
    assert git.commit_info(repo, sha).parents == (head,)
    assert git.resolve(repo, "HEAD") == head


def test_base_and_parents_are_independent(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1"})
    first = git.resolve(repo, "HEAD")
    second = commit(repo, {"b": "2"})
    on_second = make(repo, [("c", b"3")], parents=[second], base=first)
    assert sorted(git.ls_tree(repo, on_second)) == ["a", "c"]
    assert sorted(git.ls_tree(repo, make(repo, [("c", b"3")], parents=[second]))) == ["c"]
    orphan = make(repo, [], base=second)
    assert sorted(git.ls_tree(repo, orphan)) == ["a", "b"]
    assert git.commit_info(repo, orphan).parents == ()
    assert git.commit_info(repo, make(repo, [], parents=[first, second], base=first)).parents == (first, second)


NOT_UTF8 = b"\xff\xfe".decode("utf-8", "surrogateescape")
NAMES = ['quo"te', "back\\slash", "new\nline", "tab\t", "ümlaut", "\x01", " lead", "trail ", "a b/c d", '"', "'", NOT_UTF8]


def test_every_name_survives(tmp_path):
    repo = make_bare(tmp_path / "r")
    sha = make(repo, [(name, name.encode("utf-8", "surrogateescape")) for name in NAMES])
    assert sorted(git.ls_tree(repo, sha)) == sorted(NAMES)
    gone = make(repo, [(name, None) for name in NAMES[1:]], parents=[sha], base=sha)
    assert list(git.ls_tree(repo, gone)) == NAMES[:1]


@pytest.mark.parametrize("path", ["", "/abs", "a//b", "a/../b", "./a", ".git/config", "a/.GIT/x", "nul\0", "a/"])
def test_a_path_outside_a_tree_is_refused(tmp_path, path):
    with pytest.raises(ValueError, match="no path that Git can hold"):
        make(make_bare(tmp_path / "r"), [(path, b"")])


def test_an_iterator_must_delete_first(tmp_path):
    repo = make_bare(tmp_path / "r")
    with pytest.raises(ValueError, match="deletions come first"):
        make(repo, iter([("a", b""), ("b", None)]))
    assert refs(repo) == ""
    assert list(git.ls_tree(repo, make(repo, iter([("b", None), ("a", b"")])))) == ["a"]


def test_binary_and_large_contents(tmp_path):
    repo = make_bare(tmp_path / "r")
    blob = bytes(range(256)) * 8192
    sha = make(repo, [("big", blob), ("empty", b""), ("n", b"\n")])
    with git.CatFile(repo) as cat:
        assert [cat.read(f"{sha}:{p}") for p in ("big", "empty", "n")] == [blob, b"", b"\n"]


def test_an_unknown_base_is_an_error_and_leaves_nothing(tmp_path):
    repo = make_bare(tmp_path / "r")
    with pytest.raises(git.GitError):
        make(repo, [("a", b"")], parents=["1" * 40], base="1" * 40)
    assert not list(repo.glob("fast_import_crash*"))
    assert refs(repo) == ""


def test_sha256_repositories(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1"}, object_format="sha256")
    head = git.resolve(repo, "HEAD")
    sha = make(repo, [("b", b"2")], parents=[head], base=head)
    assert len(sha) == 64
    assert git.commit_info(repo, make(repo, [("b", b"2")])).parents == ()
    assert fastimport.update_ref(repo, "refs/heads/deploy", sha, None)
    assert fastimport.update_ref(repo, "refs/heads/deploy", None, sha)


def test_update_ref_compares_and_swaps(tmp_path):
    repo = make_bare(tmp_path / "r")
    one, two = make(repo, [("a", b"1")]), make(repo, [("a", b"2")])
    ref = "refs/heads/deploy"
    assert not fastimport.update_ref(repo, ref, one, two)
    assert fastimport.update_ref(repo, ref, one, None)
    assert not fastimport.update_ref(repo, ref, two, None)
    assert fastimport.update_ref(repo, ref, two, one)
    assert not fastimport.update_ref(repo, ref, None, one)
    assert git.resolve(repo, ref) == two
    assert fastimport.update_ref(repo, ref, None, two)
    assert git.find(repo, ref) is None


def test_update_ref_with_a_lock_left_behind_is_an_error(tmp_path):
    repo = make_bare(tmp_path / "r")
    one = make(repo, [("a", b"1")])
    (repo / "refs/heads/deploy.lock").touch()
    with pytest.raises(git.GitError, match="lock"):
        fastimport.update_ref(repo, "refs/heads/deploy", one, None)


@pytest.fixture
def pair(tmp_path):
    repo, server = make_repo(tmp_path / "r", {"a": "1"}), make_bare(tmp_path / "server")
    return repo, server, git.resolve(repo, "HEAD")


def test_push_creates_advances_and_notices_a_race(pair):
    repo, server, head = pair
    ref = "refs/heads/deploy"
    assert fastimport.fetch(repo, str(server), ref) is None
    assert fastimport.push(repo, str(server), head, ref, None).outcome is Pushed.OK
    mine = make(repo, [("m", b"")], parents=[head], base=head)
    theirs = make(repo, [("t", b"")], parents=[head], base=head)
    assert fastimport.push(repo, str(server), theirs, ref, head).outcome is Pushed.OK
    for expected in (head, None):
        assert fastimport.push(repo, str(server), mine, ref, expected).outcome is Pushed.RACED
    assert fastimport.fetch(repo, f"file://{server}", ref) == theirs
    assert git.resolve(server, ref) == theirs


def test_a_branch_that_was_set_back_is_a_race(pair):
    repo, server, head = pair
    ref = "refs/heads/deploy"
    second = make(repo, [("m", b"")], parents=[head], base=head)
    third = make(repo, [("n", b"")], parents=[second], base=second)
    fastimport.push(repo, str(server), second, ref, None)
    user_git(server, "update-ref", ref, head)
    assert fastimport.push(repo, str(server), third, ref, second).outcome is Pushed.RACED


def test_push_never_rewrites(pair):
    repo, server, head = pair
    ref = "refs/heads/deploy"
    fastimport.push(repo, str(server), head, ref, None)
    stranger = make(repo, [("m", b"")])
    result = fastimport.push(repo, str(server), stranger, ref, head)
    assert (result.outcome, git.resolve(server, ref)) == (Pushed.FAILED, head)
    assert "rewrite" in result.message


def test_a_hook_of_the_server_refuses_with_its_words(pair):
    repo, server, head = pair
    hook = server / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho 'the branch is protected' >&2\nexit 1\n")
    hook.chmod(0o755)
    result = fastimport.push(repo, str(server), head, "refs/heads/deploy", None)
    assert result.outcome is Pushed.FAILED
    assert "the branch is protected" in result.message
    assert "pre-receive hook declined" in result.message


def test_own_hooks_do_not_run(pair):
    repo, server, head = pair
    for name in ("pre-push", "reference-transaction"):
        hook = repo / ".git/hooks" / name
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
    assert fastimport.push(repo, str(server), head, "refs/heads/deploy", None).outcome is Pushed.OK
    assert fastimport.update_ref(repo, "refs/heads/x", head, None)


@pytest.mark.parametrize("remote", ["ext::sh -c touch% pwned", "--upload-pack=touch pwned", "fd::7"])
def test_a_remote_that_would_run_something_is_refused(pair, remote):
    repo, _, head = pair
    with pytest.raises(git.GitError, match="no https, ssh or file address"):
        fastimport.fetch(repo, remote, "refs/heads/x")
    assert fastimport.push(repo, remote, head, "refs/heads/x", None).outcome is Pushed.FAILED
    assert not (repo / "pwned").exists()


def test_an_ext_remote_hidden_behind_a_name_is_refused_by_git(pair):
    repo, _, head = pair
    user_git(repo, "config", "remote.evil.url", "ext::sh -c 'touch pwned'")
    user_git(repo, "config", "protocol.ext.allow", "always")
    with pytest.raises(git.GitError, match="not allowed"):
        fastimport.fetch(repo, "evil", "refs/heads/x")
    assert fastimport.push(repo, "evil", head, "refs/heads/x", None).outcome is Pushed.FAILED
    assert not (repo / "pwned").exists()


def test_a_remote_that_is_gone(pair, tmp_path):
    repo, _, head = pair
    with pytest.raises(git.GitError, match="does not appear to be a git repository"):
        fastimport.fetch(repo, str(tmp_path / "nowhere"), "refs/heads/x")
    assert fastimport.push(repo, str(tmp_path / "nowhere"), head, "refs/heads/x", None).outcome is Pushed.FAILED


def test_fetch_moves_no_branch_of_ours(pair):
    repo, server, head = pair
    fastimport.push(repo, str(server), head, "refs/heads/main", None)
    user_git(repo, "remote", "add", "origin", str(server))
    assert fastimport.fetch(repo, "origin", "refs/heads/main") == head
    assert "refs/remotes" not in refs(repo)
    assert not (repo / ".git/FETCH_HEAD").exists()


def test_a_pinned_commit_is_fetched_by_its_id(pair):
    repo, server, head = pair
    fastimport.push(repo, str(server), head, "refs/heads/main", None)
    user_git(server, "config", "uploadpack.allowReachableSHA1InWant", "true")
    other = make_bare(server.parent / "other")
    assert fastimport.fetch(other, str(server), head) == head
    with pytest.raises(git.GitError, match="not our ref"):
        fastimport.fetch(other, str(server), "1" * 40)


@pytest.fixture
def web(pair):
    _, server, _ = pair
    if not can_serve(server):
        pytest.skip("this git has no http-backend")
    with serving(server.parent) as (url, handler):
        yield f"{url}/{server.name}", handler


def test_over_http(pair, web):
    repo, _, head = pair
    url, _ = web
    ref = "refs/heads/deploy"
    assert fastimport.fetch(repo, url, ref) is None
    assert fastimport.push(repo, url, head, ref, None).outcome is Pushed.OK
    mine = make(repo, [("m", b"")], parents=[head], base=head)
    theirs = make(repo, [("t", b"")], parents=[head], base=head)
    assert fastimport.push(repo, url, theirs, ref, head).outcome is Pushed.OK
    assert fastimport.push(repo, url, mine, ref, head).outcome is Pushed.RACED
    assert fastimport.fetch(repo, url, ref) == theirs


def test_a_server_that_asks_for_a_password_gets_no_prompt(pair, web):
    repo, _, head = pair
    url, handler = web
    handler.password = "Basic YWRhOnNlY3JldA=="
    with pytest.raises(git.GitError, match="terminal prompts disabled"):
        fastimport.fetch(repo, url, "refs/heads/deploy")
    assert fastimport.push(repo, url, head, "refs/heads/deploy", None).outcome is Pushed.FAILED
    user_git(repo, "config", "http.extraHeader", f"Authorization: {handler.password}")
    assert fastimport.push(repo, url, head, "refs/heads/deploy", None).outcome is Pushed.OK


KILLED = """
import os, signal, sys
from taugen.load import fastimport
def changes():
    for i in range(2000):
        if i == 1500:
            os.kill(os.getpid(), signal.SIGKILL)
        yield f"f{i}", b"x" * 2000
fastimport.commit_tree(sys.argv[1], parents=[], message=b"m", author=b"A <a> 1 +0000", committer=b"A <a> 1 +0000", changes=changes())
"""


def test_a_killed_process_leaves_no_reference(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1"})
    before = refs(repo)
    done = subprocess.run([sys.executable, "-c", KILLED, str(repo)], cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == -9
    assert refs(repo) == before
    user_git(repo, "fsck", "--strict")
