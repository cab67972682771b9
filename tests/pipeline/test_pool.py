"""Many processes make what one makes, and none outlives the process that started it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from taugen.pipeline import pool
from tests.publish.kit import Fleet, job

MANY = 2 * pool.SERIAL + 10


def fleet(path: Path) -> Fleet:
    return Fleet.make(path, {f"workspaces/protein/n{n}/tau.yaml": job(f"n{n}", n + 1) for n in range(MANY)})


def test_processes_make_the_commit_that_one_process_makes(tmp_path, monkeypatch):
    many = fleet(tmp_path / "many")
    one = many.copy(tmp_path / "one")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    used = []
    monkeypatch.setattr(pool, "_parallel", lambda *args, of=pool._parallel: used.append(args[2]) or of(*args))
    parallel = many.publish().commit
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert (used, one.publish().commit) == ([2], parallel)


def test_contents_that_are_alike_stand_together():
    contents = pool.Contents(7)
    marks = [contents.add(kind, text) for kind, text in (("Job", b"long job"), ("ConfigMap", b"c"), ("Job", b"job"))]
    assert marks == [7, 8, 9]
    assert contents.stream().split(b"\n")[1::4] == [b"mark :8", b"mark :9", b"mark :7"]


WAITS = """
import os, sys, time
from taugen.pipeline import pool
class Stub: pass
job = Stub(); job.compiler = Stub(); job.compiler.project = Stub(); job.compiler.project.tree = None
def work(task):
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(60)
pool.compile_chunk = lambda job, task: work(task)
list(pool._parallel(job, [((), 0), ((), 0)], 2))
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for the workers in /proc")
def test_workers_end_with_a_process_that_is_killed():
    with subprocess.Popen([sys.executable, "-c", WAITS], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(parent.stdout.readline()) for _ in range(2)]
        parent.send_signal(signal.SIGKILL)
    for _ in range(100):
        if not any(_runs(worker) for worker in workers):
            return
        time.sleep(0.05)
    pytest.fail(f"still there: {[worker for worker in workers if _runs(worker)]}")


def _runs(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
