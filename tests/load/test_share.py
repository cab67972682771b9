"""Work that several processes share."""

import os

import pytest

from taugen.load import git, share


def _square(number):
    return number * number, os.getpid()


def _refused(repo):
    git.run(["cat-file", "-p", "no-such-object"], cwd=repo)


@pytest.mark.parametrize("processors", [1, 2, 5])
@pytest.mark.parametrize("parts", [0, 1, 9])
def test_answers_come_in_the_order_of_the_parts(monkeypatch, processors, parts):
    monkeypatch.setattr(share, "processors", lambda: processors)
    made = list(share.shared(_square, range(parts)))
    assert [number for number, _ in made] == [number * number for number in range(parts)]
    assert (os.getpid() in {process for _, process in made}) == (parts > 0 and min(parts, processors) == 1)


@pytest.mark.parametrize("processors", [1, 2])
def test_what_git_says_in_another_process_is_what_it_says(monkeypatch, tmp_path, processors):
    git.run(["init", "--quiet", "."], cwd=tmp_path)
    monkeypatch.setattr(share, "processors", lambda: processors)
    with pytest.raises(git.GitError, match="no-such-object") as caught:
        list(share.shared(_refused, [tmp_path] * 3))
    assert caught.value.code == 128
