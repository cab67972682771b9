"""The bench itself: planes side by side, and nothing left of one whose owner is gone, however it went."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e import build, core, install
from tests.e2e.kube import Kube
from tests.e2e.plane import Plane
from tests.e2e.processes import MARK, ROOT, Died, Processes, marked

WITH = ()
OWNER = """
import sys, time
from pathlib import Path
from tests.e2e.plane import Plane
Plane(Path(sys.argv[1])).up((), owned=True)
print("up", flush=True)
time.sleep(600)
"""


def until_marked(folder: Path, wanted: Callable[[int], bool], seconds: float = 60) -> None:
    """Wait until the number of processes that carry a plane's mark is as wanted."""
    end = time.monotonic() + seconds
    while not wanted(len(marked(folder))):
        assert time.monotonic() < end, [Path(f"/proc/{pid}/cmdline").read_bytes()[:200] for pid in marked(folder)]
        time.sleep(0.1)


def none(number: int) -> bool:
    return number == 0


def some(number: int) -> bool:
    return number >= 2


def command(*args: str) -> subprocess.CompletedProcess[str]:
    """`python -m tests.e2e.plane`."""
    argv = [sys.executable, "-m", "tests.e2e.plane", *args]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)


def test_two_planes_stand_side_by_side(plane: Plane, kube: Kube, tmp_path: Path):
    other = Plane(tmp_path / "other")
    other.up((), owned=True)
    try:
        assert abs(other.site.base - plane.site.base) >= core.SPAN
        with other.kube() as elsewhere:
            install.ensure_namespace(elsewhere, "only-there")
            assert elsewhere.get("v1/Namespace", "only-there")
        assert kube.get("v1/Namespace", "only-there") is None
    finally:
        other.down()
    assert not marked(other.folder)
    assert len(plane.processes.running()) == len(plane.processes.records())
    assert kube.get("v1/Namespace", "default")


def test_a_plane_goes_with_its_killed_owner(tmp_path: Path):
    folder = tmp_path / "plane"
    with subprocess.Popen([sys.executable, "-c", OWNER, str(folder)], cwd=ROOT, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "up\n"
        assert len(marked(folder)) == len(build.CORE)
        owner.kill()
    until_marked(folder, none)


def test_a_plane_whose_start_was_killed_leaves_nothing(tmp_path: Path):
    folder = tmp_path / "plane"
    argv = [sys.executable, "-m", "tests.e2e.plane", "up", "--with", "", "--state", str(folder)]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as owner:
        until_marked(folder, some)
        owner.kill()
    until_marked(folder, none)


def test_a_plane_of_the_command_stays_until_it_is_ended(tmp_path: Path):
    folder = tmp_path / "plane"
    up = command("up", "--with", "", "--state", str(folder))
    assert up.returncode == 0, up.stderr
    try:
        assert command("status", "--state", str(folder)).returncode == 0
        assert Path(command("kubeconfig", "--state", str(folder)).stdout.strip()).exists()
        assert command("up", "--with", "", "--state", str(folder)).returncode == 1
    finally:
        down = command("down", "--state", str(folder))
    assert down.returncode == 0, down.stderr
    assert not marked(folder)
    assert not folder.exists()


def test_what_has_no_record_is_ended_too(tmp_path: Path):
    processes = Processes(tmp_path)
    processes.start("known", ("sleep", "300"))
    with subprocess.Popen(["sleep", "300"], env=os.environ | {MARK: str(tmp_path)}, start_new_session=True) as stray:
        until_marked(tmp_path, some)
        processes.stop()
        assert stray.wait(20) == -signal.SIGKILL
    assert not marked(tmp_path)


def test_a_component_that_ends_says_why(tmp_path: Path):
    processes = Processes(tmp_path)
    processes.start("unlucky", ("sh", "-c", "echo no luck today; exit 3"))
    with pytest.raises(Died, match="unlucky ended:\nno luck today"):
        processes.wait("unlucky", lambda: False)
    processes.stop()
