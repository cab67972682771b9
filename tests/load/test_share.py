"""Work that several processes share."""

import multiprocessing
import os
import signal

import pytest

from taugen.diag import Refused
from taugen.load import git, share


def _square(number):
    return number * number, os.getpid()


def _killed(number):
    os.kill(os.getpid(), signal.SIGKILL)


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


def test_a_worker_that_is_killed_is_told(monkeypatch):
    monkeypatch.setattr(share, "processors", lambda: 2)
    with pytest.raises(Refused, match="a worker process was killed"):
        list(share.shared(_killed, range(4)))


def test_where_there_are_no_semaphores_one_process_does_it(monkeypatch):
    def none(method):
        raise PermissionError(13, "no /dev/shm")

    monkeypatch.setattr(share, "processors", lambda: 2)
    monkeypatch.setattr(multiprocessing, "get_context", none)
    assert {process for _, process in share.shared(_square, range(4))} == {os.getpid()}
