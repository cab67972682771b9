"""A publish that is killed, or whose disk is full: the branch is old or new, the repository whole, and the next publish works."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from taugen.diag import Refused
from taugen.pipeline import pool
from tests.publish.kit import added, job

OTHER = "workspaces/protein/other/tau.yaml"
ROOT = Path(__file__).parents[2]

# Stands for git: counts its calls, and at the one that is asked for kills the process that called it, before or after git did its work.
WRAPPER = """#!{python}
import fcntl, os, signal, subprocess, sys
with open({count!r}, "a+b") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    file.write(b"x")
    file.flush()
    number = file.tell()
if number == {at} and {before}:
    os.kill(os.getppid(), signal.SIGKILL)
    sys.exit(1)
if number != {at}:
    os.execv({git!r}, [{git!r}, *sys.argv[1:]])
done = subprocess.run([{git!r}, *sys.argv[1:]])
os.kill(os.getppid(), signal.SIGKILL)
sys.exit(done.returncode)
"""


def command(*args):
    return [sys.executable, "-m", "taugen", "publish", *args]


def environment(path=None):
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "PATH": f"{path}{os.pathsep}{os.environ['PATH']}" if path else os.environ["PATH"],
    }


def whole(fleet, old, new):
    """The branch is old or new, no object is broken, and another publish ends where the first would have."""
    assert fleet.tip in (old, new)
    fleet.fsck()
    outcome = fleet.publish()
    assert (outcome.code, fleet.tip) == (0, new)


@pytest.fixture
def ready(fleet, tmp_path):
    """A fleet with something to publish, its tip now, and what it would be."""
    fleet.commit({OTHER: job("other")})
    twin = fleet.copy(tmp_path / "twin")
    assert added(twin.publish()) == ["protein/other"]
    return fleet, fleet.tip, twin.tip


def calls(fleet, tmp_path, at, *, before):
    folder = tmp_path / f"bin-{at}-{before}"
    folder.mkdir()
    count = folder / "count"
    wrapper = folder / "git"
    wrapper.write_text(WRAPPER.format(python=sys.executable, count=str(count), at=at, before=before, git=shutil.which("git")))
    wrapper.chmod(0o755)
    done = subprocess.run(command(), cwd=fleet.root, env=environment(folder), capture_output=True, text=True, check=False)
    return done, count.stat().st_size


def test_killed_at_each_call_of_git(ready, tmp_path):
    fleet, old, new = ready
    done, number = calls(fleet.copy(tmp_path / "count"), tmp_path, 0, before=True)
    assert done.returncode == 0, done.stderr
    assert number > 10
    # The calls that write come last: before and after each of them; of the others, some.
    instants = {(at, True) for at in range(2, number, 8)} | {(at, before) for at in range(number - 3, number) for before in (True, False)}
    moved = 0
    for at, before in sorted(instants):
        one = fleet.copy(tmp_path / f"{at}-{before}")
        done, _ = calls(one, tmp_path, at, before=before)
        assert done.returncode == -signal.SIGKILL
        moved += one.tip == new
        whole(one, old, new)
    assert 0 < moved < len(instants)


def test_killed_with_all_its_processes_at_any_time(ready, tmp_path):
    fleet, old, new = ready
    started = time.monotonic()
    subprocess.run(command("--dry-run"), cwd=fleet.root, env=environment(), capture_output=True, check=True)
    took = time.monotonic() - started
    for part in (0.6, 0.8, 1.0):
        one = fleet.copy(tmp_path / f"part{part}")
        process = subprocess.Popen(
            command(), cwd=one.root, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(took * part)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        # What a killed git leaves is named, and removed as told.
        for lock in (one.path / ".git/refs").rglob("*.lock"):
            lock.unlink()
        whole(one, old, new)


def test_interrupted(ready):
    fleet, old, new = ready
    process = subprocess.Popen(
        command(), cwd=fleet.root, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode in (130, 0, 1, -signal.SIGINT), said
    assert b"bug" not in said
    whole(fleet, old, new)


def test_files_can_not_grow(ready):
    """RLIMIT_FSIZE: what a quota does. Git ends in the middle of writing."""
    fleet, old, new = ready

    def limit(size):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    for size in (0, 600, 2000):
        done = subprocess.run(
            command(), cwd=fleet.root, env=environment(), capture_output=True, text=True, check=False, preexec_fn=partial(limit, size)
        )
        assert done.returncode in (2, 4), done.stderr
        assert fleet.tip == old, done.stderr
        assert not [name for name in os.listdir(fleet.path / ".git") if "crash" in name]
    whole(fleet, old, new)


@pytest.fixture
def disk(tmp_path):
    """A file system of 8 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(place)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk(ready, disk):
    """Full from the start, or after some kilobytes."""
    fleet, old, new = ready
    for free in (0, 4, 12):
        one = fleet.copy(disk / f"repo{free}")
        filler = disk / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
        os.truncate(filler, filler.stat().st_size - free * 1024)
        done = subprocess.run(command(), cwd=one.root, env=environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 4, done.stderr
        assert "space" in done.stderr
        assert one.tip == old
        filler.unlink()
        whole(one, old, new)
        shutil.rmtree(one.path)


@pytest.fixture(params=["SIGTERM ends", "SIGTERM is handled"])
def handled(request):
    """What the process makes of SIGTERM, which its workers inherit."""
    before = signal.signal(signal.SIGTERM, (lambda *_: None) if request.param == "SIGTERM is handled" else signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("handled")
def test_a_worker_that_is_killed(new, monkeypatch):
    """Out of memory in a process of the pool."""
    new.commit({f"workspaces/protein/n{i}/tau.yaml": job(f"n{i}") for i in range(2 * pool.SERIAL)})
    work = pool.compile_chunk

    def killed(job_, task):
        if task[0][0].endswith("n1/tau.yaml") or "n40" in str(task[0]):
            os.kill(os.getpid(), signal.SIGKILL)
        return work(job_, task)

    monkeypatch.setattr(pool, "compile_chunk", killed)
    if min(len(os.sched_getaffinity(0)), 8) < 2:
        pytest.skip("one processor, no pool")
    with pytest.raises(Refused, match="a worker process was killed"):
        new.publish()
    assert "deploy" not in new.refs()
    monkeypatch.undo()
    assert new.publish().code == 0
