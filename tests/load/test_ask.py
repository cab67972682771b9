import pytest

from taugen.load import ask, git
from tests.gitkit import commit, make_repo


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path / "r", {"a.txt": "one\n"})


@pytest.fixture
def started(monkeypatch):
    """The arguments of each git process from now on."""
    found, start = [], git.start
    monkeypatch.setattr(git, "start", lambda args, **how: (found.append(list(args)), start(args, **how))[1])
    return found


def test_who_asks_the_same_gets_the_answer_that_was_begun(repo, started):
    first = git.resolve(repo, "HEAD")
    second = commit(repo, {"b.txt": "two\n"})
    started.clear()
    ask.begin(git.diff_args(first, second), repo)
    ask.begin(git.ancestor_args(second, first), repo)
    assert git.diff_names(repo, first, second) == [("A", "b.txt")]
    assert not git.is_ancestor(repo, second, first)
    assert started == [git.diff_args(first, second), git.ancestor_args(second, first)]
    assert not git.begun


def test_it_is_given_once_and_to_no_other_question(repo, tmp_path, started):
    other = make_repo(tmp_path / "other", {"c.txt": "three\n"})
    args = ["ls-tree", "--name-only", "HEAD"]
    ask.begin(args, repo)
    assert git.run(args, cwd=other).out == b"c.txt\n"
    assert git.run([*args, "a.txt"], cwd=repo).out == b"a.txt\n"
    assert len(started) == 3
    assert git.run(args, cwd=repo).out == b"a.txt\n"
    assert len(started) == 3
    assert git.run(args, cwd=repo).out == b"a.txt\n"
    assert len(started) == 4


def test_what_nobody_wanted_ends(repo, monkeypatch):
    stopped, stop = [], git.stop
    monkeypatch.setattr(git, "stop", lambda process: (stop(process), stopped.append(process.poll())))
    ask.begin(["cat-file", "--batch-check"], repo)
    ask.begin(["ls-tree", "HEAD"], repo)
    ask.forget()
    assert not git.begun
    assert len(stopped) == 2
    assert None not in stopped


def test_what_git_refuses_is_raised_where_it_is_asked(repo):
    args = ["rev-parse", "--verify", "nothing"]
    ask.begin(args, repo)
    with pytest.raises(git.GitError, match="Needed a single revision"):
        git.run(args, cwd=repo)
    ask.begin(args, repo)
    assert git.run(args, cwd=repo, check=False).code == 128
