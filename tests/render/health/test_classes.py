"""Every check on a machine of every class that has it: as many GPUs, links and counters as those machines have."""

import shutil
from pathlib import Path

import pytest

from taugen.policy import health_checks
from taugen.render.health.scripts.gpuhealth import judge
from tests.render.health.fakes import RECORDINGS, Node
from tests.render.health.machines import MACHINES, Machine, record
from tests.render.health.test_checks import runtime

PAIRS = [(family, name) for family in MACHINES for name, check in health_checks.checks().items() if family in check.families]
LISTS = {"driver": "list.9", "missing": "list-one-lost.15"}


class Kept:
    """A node of a class and the samples of its rounds."""

    def __init__(self, folder: Path, family: str) -> None:
        self.machine: Machine = record(folder / "recordings", family)
        shutil.copytree(RECORDINGS / "garbage", folder / "recordings/garbage")
        self.family = family
        self.node = Node(folder / "node", folder / "recordings")
        self.samples: judge.Samples = {}
        self.now = 0.0

    def verdict(self, name: str, timeout: float = 20) -> judge.Result:
        check = runtime(name, self.family)
        env = {"GPUHEALTH_GPUS": str(self.machine.gpus), "GPUHEALTH_WINDOW": str(check.window)}
        answer = self.node.scripts().run(name, check.script, check.arguments, env, timeout)
        result, self.samples = judge.judge(check, answer, self.samples, self.now)
        self.now += 30
        return result


@pytest.mark.parametrize(("family", "name"), PAIRS)
def test_healthy_then_at_fault_then_well(tmp_path: Path, family: str, name: str) -> None:
    kept = Kept(tmp_path, family)
    assert (kept.verdict(name).state, kept.verdict(name).state) == (judge.OK, judge.OK)
    kept.node.form("faulty")
    kept.node.list(LISTS.get(name, "list.9"))
    found = kept.verdict(name)
    assert found.state == judge.PROBLEM, found
    kept.node.form("healthy")
    kept.now += 2 * 86400
    kept.verdict(name)
    assert kept.verdict(name).state == judge.OK


@pytest.mark.parametrize(("family", "name"), PAIRS)
def test_nobody_can_tell(tmp_path: Path, family: str, name: str) -> None:
    kept = Kept(tmp_path, family)
    assert kept.verdict(name).state == judge.OK
    kept.node.form("garbage")
    assert kept.verdict(name).state == judge.UNKNOWN
    kept.node.hanging()
    assert kept.verdict(name, timeout=0.3) == judge.Result(judge.UNKNOWN, "no answer within 0.3 s")
    kept.node.without_tools()
    assert kept.verdict(name).state == judge.UNKNOWN


def test_each_class_is_there() -> None:
    assert set(MACHINES) == set(health_checks.ALL)
    assert {family for family, _ in PAIRS} == set(health_checks.ALL)


@pytest.mark.parametrize("family", ["a100", "gb200"])
def test_a_gpu_that_lost_all_its_links(tmp_path: Path, family: str) -> None:
    kept = Kept(tmp_path, family)
    kept.node.form("faulty")
    count = kept.machine.links
    assert kept.verdict("nvlink").message == f"gpu{kept.machine.gpus - 1}: {count} inactive links (all of {count})"


def test_a_machine_without_links_can_t_be_told_from_one_that_lost_all(tmp_path: Path) -> None:
    kept = Kept(tmp_path, "a10")
    assert kept.verdict("nvlink").state == judge.UNKNOWN


def test_what_the_links_of_blackwell_correct_is_no_fault(tmp_path: Path) -> None:
    kept = Kept(tmp_path, "gb200")
    kept.verdict("nvlink-errors")
    recording = tmp_path / "recordings/healthy/nvidia-smi.nvlink-errors"
    recording.write_text(recording.read_text().replace("7311", "99311").replace("938475102", "999999999"))
    assert kept.verdict("nvlink-errors").state == judge.OK
    kept.node.form("faulty")
    assert kept.verdict("nvlink-errors").message == "gpu3: 505 errors in the window"
