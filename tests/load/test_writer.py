"""Contents written as they come, and one commit of them."""

import pytest

from taugen.load import git
from taugen.load.fastimport import Writer, blob
from tests.gitkit import git as user_git
from tests.gitkit import make_bare, make_repo

WHO = b"Ada <ada@example.org> 1700000000 +0000"


def sign(writer, changes, *, message=b"m\n", parents=(), base=None):
    return writer.commit(changes, parents=parents, message=message, author=WHO, committer=WHO, base=base)


def test_marked_and_plain_contents_make_the_commit_that_plain_ones_make(tmp_path):
    one, two = make_bare(tmp_path / "1"), make_bare(tmp_path / "2")
    with Writer(one) as writer:
        mark = writer.reserve()
        writer.write(blob(mark, b"first") + blob(mark + 1, b"second\n"))
        marked = sign(writer, [("a", mark), ("d/b", mark + 1), ("c", b"third")])
    with Writer(two) as writer:
        plain = sign(writer, [("c", b"third"), ("a", b"first"), ("d/b", b"second\n")])
    assert marked == plain
    assert user_git(one, "fsck", "--no-dangling") == ""


def test_the_message_can_name_the_tree(tmp_path):
    repo = make_repo(tmp_path / "r", {"keep": "k", "gone": "g"})
    head = git.resolve(repo, "HEAD")
    with Writer(repo) as writer:
        made = sign(writer, [("gone", None), ("new", b"n")], message=lambda tree: f"Tree {tree}\n".encode(), parents=[head], base=head)
    info = git.commit_info(repo, made)
    assert (info.message, info.parents, sorted(git.ls_tree(repo, made))) == (f"Tree {info.tree}\n", (head,), ["keep", "new"])
    assert user_git(repo, "for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_blocks_of_marks_do_not_overlap(tmp_path):
    with Writer(make_bare(tmp_path / "r")) as writer:
        first, second = writer.reserve(), writer.reserve()
    assert second - first >= 1_000_000


def test_git_starts_only_when_something_is_written(tmp_path):
    with Writer(tmp_path / "nowhere") as writer:
        writer.reserve()


def test_contents_without_a_commit_are_kept_by_nothing(tmp_path):
    repo = make_bare(tmp_path / "r")
    with Writer(repo) as writer:
        writer.write(blob(writer.reserve(), b"lost"))
    assert user_git(repo, "for-each-ref") == ""
    assert user_git(repo, "fsck", "--no-dangling") == ""
    assert not list(repo.glob("fast_import_crash*"))


def test_a_mark_that_was_never_written_is_an_error_and_leaves_nothing(tmp_path):
    repo = make_bare(tmp_path / "r")
    with Writer(repo) as writer, pytest.raises(git.GitError):
        sign(writer, [("a", writer.reserve())])
    assert user_git(repo, "for-each-ref") == ""
    assert not list(repo.glob("fast_import_crash*"))
