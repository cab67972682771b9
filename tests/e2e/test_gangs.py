"""Gangs that lose a part: what Kubernetes and Kueue start again, and what not.

Kueue gives back what a finished pod held and, after an eviction, starts only the others: a gang whose rank 0 is over never gets it
back. So such an attempt has to end and the next one begin; nothing but a new object starts all ranks.
"""

from collections.abc import Iterator

import pytest

from tests.e2e import runs
from tests.e2e.kube import Kube, Object, holds
from tests.e2e.lab import Lab
from tests.e2e.plane import Plane

WITH = ("jobset", "kueue")
SHARES = "lab"
INDEX = "batch.kubernetes.io/job-completion-index"
KINDS = ("job", "jobset")


@pytest.fixture(scope="module")
def _lab(plane: Plane, kube: Kube, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("gangs") / "repo", kube)


@pytest.fixture
def lab(_lab: Lab) -> Iterator[Lab]:
    yield _lab
    _lab.clear()


def index(pod: Object) -> str:
    """Which one of its gang a pod is."""
    return str(pod["metadata"]["annotations"][INDEX])


def gang(lab: Lab, kube: Kube, name: str, kind: str) -> tuple[Object, dict[str, Object]]:
    """A gang of two nodes with eight GPUs each that runs, and its pods by index."""
    item = lab.submit(name, "h100", kind=kind, seconds=900, execution={"launcher": "torchrun", "nodes": 2})
    return item, {index(pod): pod for pod in runs.running(kube, item, 2)}


def preempt(lab: Lab, kube: Kube, item: Object, name: str) -> None:
    """Let a gang of four nodes with a higher priority run, and wait until it has evicted `item` and is over."""
    more = {"execution": {"launcher": "torchrun", "nodes": 4}, "policy": {"priority": "high", "topology": "unconstrained"}}
    high = lab.submit(name, "h100", seconds=3, **more)
    runs.evicted(kube, item, "Preempted")
    runs.finished(kube, high)


@pytest.mark.parametrize("kind", KINDS)
def test_a_gang_that_is_evicted_whole_starts_again_whole(lab: Lab, kube: Kube, kind: str):
    item, before = gang(lab, kube, f"whole-{kind}", kind)
    preempt(lab, kube, item, f"whole-{kind}-high")
    after = {index(pod): pod for pod in runs.running(kube, item, 2)}
    assert set(after) == {"0", "1"}
    assert not {pod["metadata"]["uid"] for pod in after.values()} & {pod["metadata"]["uid"] for pod in before.values()}
    assert not holds(runs.live(kube, item), "Failed")


@pytest.mark.parametrize("kind", KINDS)
def test_a_gang_that_is_evicted_after_a_part_succeeded_never_gets_it_back(lab: Lab, kube: Kube, kind: str):
    item, before = gang(lab, kube, f"part-{kind}", kind)
    runs.end(kube, before["0"], 0)
    preempt(lab, kube, item, f"part-{kind}-high")
    again = [pod for pod in runs.running(kube, item, 2) if pod["status"]["phase"] == "Running"]
    assert [index(pod) for pod in again] == ["1"]
    runs.end(kube, again[0], 0)
    runs.finished(kube, item)
    found = runs.live(kube, item)
    assert holds(found, "Complete") or holds(found, "Completed"), "to Kubernetes both indexes are done, though they never met again"


@pytest.mark.parametrize("kind", KINDS)
def test_a_gang_of_which_one_pod_fails_is_over(lab: Lab, kube: Kube, kind: str):
    item, pods = gang(lab, kube, f"fails-{kind}", kind)
    runs.end(kube, pods["1"], 137, "OOMKilled")
    runs.finished(kube, item)
    assert holds(runs.live(kube, item), "Failed")
    runs.until_no_pods(kube, item, ("Failed",))


@pytest.mark.parametrize("kind", KINDS)
def test_a_pod_that_is_taken_behind_kueue_ends_its_run(lab: Lab, kube: Kube, kind: str):
    """A drained node or one that is lost: whatever took it, the Job controller counts the pod as failed, and one is too many."""
    item, pods = gang(lab, kube, f"drained-{kind}", kind)
    runs.end(kube, pods["1"], 143, lost=True)
    runs.finished(kube, item)
    assert holds(runs.live(kube, item), "Failed")
