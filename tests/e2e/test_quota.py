"""Edits of queues and flavors under running work: what runs goes on, what waits is told why, a drained run comes back as it was."""

from collections.abc import Iterator

import pytest

from tests.e2e import runs
from tests.e2e.kube import Kube, Object, Refused, condition, holds
from tests.e2e.lab import Lab
from tests.e2e.plane import Plane

WITH = ("kueue",)
SHARES = "lab"
COHORT = "kueue.x-k8s.io/v1beta2/Cohort"
CYCLE = """apiVersion: taugen.dev/v1alpha1
kind: Cohort
metadata: {name: ring}
spec: {parent: round}
---
apiVersion: taugen.dev/v1alpha1
kind: Cohort
metadata: {name: round}
spec: {parent: ring}
"""
QUEUE = "kueue.x-k8s.io/v1beta2/ClusterQueue"


@pytest.fixture(scope="module")
def _lab(plane: Plane, kube: Kube, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("quota") / "repo", kube)


@pytest.fixture
def lab(_lab: Lab) -> Iterator[Lab]:
    yield _lab
    _lab.clear()


def identity(kube: Kube, item: Object) -> tuple[str, list[str]]:
    """What a restart would change: the object's uid and those of its pods."""
    found = runs.live(kube, item)
    assert found
    return found["metadata"]["uid"], sorted(pod["metadata"]["uid"] for pod in runs.pods(kube, item))


def until_waiting(kube: Kube, item: Object, words: str) -> None:
    """Wait until Kueue says of a run why it waits."""
    name = runs.workload(kube, item)["metadata"]["name"]
    says = lambda found: words in condition(found, "QuotaReserved").get("message", "")  # noqa: E731
    kube.until(runs.WORKLOAD, name, item["metadata"]["namespace"], says, words)


def test_a_lowered_quota_evicts_nobody(lab: Lab, kube: Kube):
    running = [lab.submit(f"under-{number}", "t4", compute={"gpus": 4}, seconds=900) for number in (1, 2)]
    for item in running:
        runs.running(kube, item, 1)
    before = [identity(kube, item) for item in running]
    late = lab.submit("too-big-then", "t4", compute={"gpus": 2}, seconds=2)
    until_waiting(kube, late, "insufficient unused quota")
    lab.quota("steady", "t4", nominal=1, borrow=0)
    until_waiting(kube, late, "maximum capacity")
    assert [identity(kube, item) for item in running] == before
    for item in running:
        runs.finish(kube, item)
    lab.quota("steady", "t4", nominal=4, borrow=4)
    runs.finished(kube, late)


def test_a_held_queue_lets_running_work_go_on(lab: Lab, kube: Kube):
    item = lab.submit("held-under", "t4", seconds=900)
    runs.running(kube, item, 1)
    before = identity(kube, item)
    lab.set("Queue", "steady", stop="Hold")
    late = lab.submit("held-later", "t4")
    until_waiting(kube, late, "inactive")
    assert identity(kube, item) == before
    runs.finish(kube, item)
    lab.set("Queue", "steady", stop="None")
    runs.finished(kube, late)


def test_a_drained_queue_gives_back_the_same_objects(lab: Lab, kube: Kube):
    item = lab.submit("drained", "t4", seconds=900)
    runs.running(kube, item, 1)
    uid, pods = identity(kube, item)
    lab.set("Queue", "steady", stop="HoldAndDrain")
    assert "stopped" in runs.evicted(kube, item, "ClusterQueueStopped")
    runs.until_no_pods(kube, item)
    lab.set("Queue", "steady", stop="None")
    runs.running(kube, item, 1)
    again, fresh = identity(kube, item)
    assert again == uid
    assert not set(fresh) & set(pods)
    runs.finish(kube, item)
    assert holds(runs.live(kube, item), "Complete")


def test_a_taint_that_a_flavor_gets_keeps_older_waiting_runs_out(lab: Lab, kube: Kube):
    """A run is frozen with the tolerations of its day: what waits when a taint comes waits for ever, what is written later runs."""
    running = [lab.submit(f"taint-{number}", "t4", compute={"gpus": 4}, seconds=900) for number in (1, 2)]
    for item in running:
        runs.running(kube, item, 1)
    before = [identity(kube, item) for item in running]
    waits = lab.submit("taint-waits", "t4", compute={"gpus": 4})
    until_waiting(kube, waits, "nvidia.com/gpu")
    gpu = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
    lab.set("Flavor", "t4", nodeTaints=[gpu, {"key": "lab.example/new", "value": "yes", "effect": "NoSchedule"}])
    new = lab.submit("taint-knows", "t4", compute={"gpus": 1})
    until_waiting(kube, waits, "untolerated taint")
    assert [identity(kube, item) for item in running] == before
    for item in running:
        runs.finish(kube, item)
    runs.finished(kube, new)
    lab.set("Flavor", "t4", nodeTaints=[gpu])
    runs.finished(kube, waits)


def test_a_queue_that_leaves_lets_running_work_end(lab: Lab, kube: Kube):
    item = lab.submit("last-here", "t4", seconds=900, policy={"queue": "burst"})
    runs.running(kube, item, 1)
    before = identity(kube, item)
    kube.delete(QUEUE, "burst")
    late = lab.submit("too-late", "t4", policy={"queue": "burst"})
    until_waiting(kube, late, "inactive")
    assert identity(kube, item) == before
    assert kube.get(QUEUE, "burst"), "Kueue keeps it while something runs in it"
    runs.finish(kube, item)
    kube.until(QUEUE, "burst", "", lambda queue: queue is None, "gone")
    lab.edit(lambda document: None)
    runs.finished(kube, late)


def test_queues_of_a_cohort_cycle_admit_nothing_until_it_is_cut(lab: Lab, kube: Kube, plane: Plane):
    """Kueue takes the cycle and calls its queues ready; then it hangs, or calls them inactive to whoever waits. The compiler refuses it."""
    lab.fleet.commit({"policy/cycle.yaml": CYCLE})
    try:
        assert "cohort-cycle" in lab.fleet.taugen("check", fails=1)
    finally:
        lab.fleet.commit({"policy/cycle.yaml": None})
    running = lab.submit("before-the-cycle", "t4", seconds=900)
    runs.running(kube, running, 1)
    before = identity(kube, running)
    kube.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": "ring"}, "spec": {"parentName": "lab"}})
    kube.patch(COHORT, "lab", "", {"spec": {"parentName": "ring"}})
    late: Object = {}
    try:
        late = lab.submit("in-the-cycle", "t4")
        until_waiting(kube, late, "inactive")
    except Refused as refused:
        if "mjob.kb.io" not in refused.message:  # no webhook of Kueue answers any more
            raise
    finally:
        assert holds(kube.get(QUEUE, "steady"), "Active"), "the queue itself says nothing of it"
        kube.patch(COHORT, "lab", "", {"spec": {"parentName": None}})
        kube.delete(COHORT, "ring")
        plane.restart_kueue()  # nothing else wakes it once it hangs
    assert identity(kube, running) == before
    runs.finished(kube, late or lab.submit("after-the-cycle", "t4"))


def test_with_a_topology_quota_and_nodes_both_count(lab: Lab, kube: Kube):
    """Three of four nodes are in use. A quota of three refuses by quota, one of five by topology; an end of a run lets the gang in."""
    lab.quota("steady", "h100", nominal=24)
    ends = lab.submit("single-0", "h100", seconds=900, policy={"topology": "unconstrained"})
    others = [lab.submit(f"single-{number}", "h100", seconds=900, policy={"topology": "unconstrained"}) for number in (1, 2)]
    for item in (ends, *others):
        runs.running(kube, item, 1)
    gang = lab.submit("gang-of-two", "h100", execution={"launcher": "torchrun", "nodes": 2}, policy={"topology": "unconstrained"})
    until_waiting(kube, gang, "insufficient unused quota")
    lab.quota("steady", "h100", nominal=40)
    until_waiting(kube, gang, "allows to fit only 1 out of 2 pod(s)")
    runs.finish(kube, ends)
    runs.finished(kube, gang)
    lab.quota("steady", "h100", nominal=32)
