import shutil

import pytest

from taugen.load import contents as module
from taugen.load import git
from taugen.load.contents import contents
from tests.gitkit import make_repo


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path / "r", {"a.txt": "one\n", "d/b.txt": "two\n"})


def test_contents_come_from_one_process(repo, tmp_path, monkeypatch):
    started = []
    start = git.start
    monkeypatch.setattr(git, "start", lambda args, **kwargs: started.append(args) or start(args, **kwargs))
    assert contents(repo, ["HEAD:a.txt", "HEAD:nothing"]) == [b"one\n", None]
    assert contents(repo, ["HEAD:a.txt"], limit=3) == [4]
    with pytest.raises(git.GitError, match="line break"):
        contents(repo, ["HEAD:a\nHEAD:d/b.txt"])
    assert contents(repo, ["HEAD:a.txt"]) == [b"one\n"]
    assert len(started) == 1
    # Another repository has a process of its own, and so has one that took the place of the first.
    other = make_repo(tmp_path / "other", {"a.txt": "other\n"})
    assert contents(other, ["HEAD:a.txt"]) == [b"other\n"]
    shutil.rmtree(other)
    make_repo(other, {"a.txt": "third\n"})
    assert contents(other, ["HEAD:a.txt"]) == [b"third\n"]
    with pytest.raises(git.GitError, match="does not exist"):
        contents(tmp_path / "nowhere", ["HEAD"])


def test_contents_after_the_process_was_killed(repo):
    assert contents(repo, ["HEAD:a.txt"]) == [b"one\n"]
    for cat in module._kept.by_place.values():
        cat._process.kill()
        cat._process.wait()
    assert contents(repo, ["HEAD:a.txt"]) == [b"one\n"]


def test_contents_that_were_written_meanwhile(repo):
    assert contents(repo, ["HEAD:later"]) == [None]
    (repo / "later").write_text("later\n")
    git.run(["add", "later"], cwd=repo)
    git.run(["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "later"], cwd=repo)
    assert contents(repo, ["HEAD:later"]) == [b"later\n"]
