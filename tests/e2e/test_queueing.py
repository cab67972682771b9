"""What Kueue does with rendered runs: admission on the right nodes, waiting, preemption, borrowing and reclaim, timeouts; for every
kind of workload.
"""

from collections.abc import Iterator

import pytest

from tests.e2e import runs
from tests.e2e.kube import Kube, condition, holds
from tests.e2e.lab import Lab
from tests.e2e.plane import Plane
from tests.e2e.ray import ends, outcome, refused, release

WITH = ("jobset", "kuberay", "kueue")
SHARES = "lab"
KINDS = ("job", "jobset", "rayjob")
CLUSTER_QUEUE = "kueue.x-k8s.io/v1beta2/ClusterQueue"
GPU = "nvidia.com/gpu"


@pytest.fixture(scope="module")
def _lab(plane: Plane, kube: Kube, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("lab") / "repo", kube)


@pytest.fixture
def lab(_lab: Lab) -> Iterator[Lab]:
    yield _lab
    _lab.clear()


def gang(kind: str, nodes: int) -> dict[str, object]:
    """The sections that ask for several nodes."""
    if nodes == 1:
        return {}
    return {"compute": {"workers": nodes}} if kind == "rayjob" else {"execution": {"launcher": "torchrun", "nodes": nodes}}


def pools_of(kube: Kube, pods: list[dict]) -> set[str]:
    """Which pools of nodes pods run on, by the flavor's label."""
    names = {pod["spec"]["nodeName"] for pod in pods}
    return {kube.get("v1/Node", name)["metadata"]["labels"]["lab.example/nodes"] for name in names}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("profile", "nodes"), [("t4", 1), ("t4", 2), ("h100", 2)])
def test_a_run_with_room_runs_on_nodes_of_its_flavor_and_finishes(
    lab: Lab, kube: Kube, plane: Plane, kind: str, profile: str, nodes: int
):
    name = f"held-fits-{kind}-{profile}-{nodes}"
    outcome(plane, name, "RUNNING")
    item = lab.submit(name, profile, kind=kind, seconds=4, **gang(kind, nodes))
    admitted = runs.admitted(kube, item)
    gpu = {name: flavors for name, flavors in runs.flavors(admitted).items() if profile in flavors}
    others = {flavor for name, flavors in runs.flavors(admitted).items() if name not in gpu for flavor in flavors}
    assert gpu, runs.flavors(admitted)
    assert others <= {"cpu"}, runs.flavors(admitted)
    expected = nodes + (2 if kind == "rayjob" else 0)  # head and submitter
    pods = runs.running(kube, item, expected)
    workers = [pod for pod in pods if any("nvidia.com/gpu" in c["resources"].get("limits", {}) for c in pod["spec"]["containers"])]
    assert len(workers) == nodes
    assert pools_of(kube, workers) == {profile}
    assert pools_of(kube, [pod for pod in pods if pod not in workers]) <= {"general"}
    if profile == "h100" and nodes == 2:
        racks = {kube.get("v1/Node", pod["spec"]["nodeName"])["metadata"]["labels"]["lab.example/rack"] for pod in workers}
        assert len(racks) == 1, "the gang asked for one network domain"
    release(plane, kube, item)
    runs.finished(kube, item)
    assert succeeded(kube, item)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_fails_is_finished_and_not_started_again(lab: Lab, kube: Kube, plane: Plane, kind: str):

    name = f"fails-{kind}"
    outcome(plane, name, "FAILED")
    item = lab.submit(name, "t4", kind=kind, exits=3, **gang(kind, 2))
    runs.finished(kube, item)
    assert not succeeded(kube, item)
    assert len(runs.pods(kube, item)) <= 4


def test_a_cpu_run_stays_off_gpu_nodes(lab: Lab, kube: Kube):
    item = lab.submit("cpu-only", "cpu", compute={"cpus": 4, "memory": "8Gi"})
    admitted = runs.admitted(kube, item)
    assert runs.flavors(admitted) == {"main": {"cpu"}}
    assert pools_of(kube, runs.running(kube, item, 1)) == {"general"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_without_room_waits_and_starts_when_there_is_some(lab: Lab, kube: Kube, kind: str):
    first = lab.submit(
        f"full-{kind}", "h100", seconds=900, execution={"launcher": "torchrun", "nodes": 4}, policy={"topology": "unconstrained"}
    )
    runs.admitted(kube, first)
    second = lab.submit(f"waits-{kind}", "h100", kind=kind, **gang(kind, 2))
    assert "nvidia.com/gpu" in runs.waiting(kube, second) or "topology" in runs.waiting(kube, second)
    assert not runs.pods(kube, second)
    runs.finish(kube, first)
    runs.finished(kube, second)
    assert succeeded(kube, second)


@pytest.mark.parametrize("kind", KINDS)
def test_priority_preempts_and_the_victim_comes_back_as_the_same_object(lab: Lab, kube: Kube, plane: Plane, kind: str):

    outcome(plane, f"held-low-{kind}", "RUNNING")
    low = lab.submit(
        f"held-low-{kind}", "h100", kind=kind, seconds=900, **gang(kind, 4), policy={"priority": "low", "topology": "unconstrained"}
    )
    runs.admitted(kube, low)
    runs.running(kube, low, 4)
    uid = runs.live(kube, low)["metadata"]["uid"]
    high = lab.submit(f"high-{kind}", "h100", seconds=3, policy={"priority": "high"})
    assert "prioritization in the ClusterQueue" in runs.evicted(kube, low, "Preempted")
    runs.admitted(kube, high)
    runs.finished(kube, high)
    runs.admitted(kube, low)
    runs.running(kube, low, 4 + 2 * (kind == "rayjob"))
    ends(plane, kube, low)
    assert succeeded(kube, low)
    assert runs.live(kube, low)["metadata"]["uid"] == uid


def test_a_queue_borrows_and_the_lender_takes_its_own_back(lab: Lab, kube: Kube):
    burst = {"queue": "burst"}
    greedy = [lab.submit(f"greedy-{n}", "t4", compute={"gpus": 4}, seconds=900, policy=burst) for n in (1, 2)]
    for item in greedy:
        runs.admitted(kube, item)
    kube.until(CLUSTER_QUEUE, "burst", "", lambda queue: borrowed(queue) == {"t4": "4"}, "borrows 4 GPUs")
    owner = lab.submit("owner", "t4", compute={"gpus": 4}, seconds=3)
    runs.admitted(kube, owner)
    reasons = [condition(runs.workload(kube, item), "Preempted").get("reason") for item in greedy]
    assert reasons.count("InCohortReclamation") == 1, reasons
    runs.finished(kube, owner)


def test_borrowing_ends_at_the_limit(lab: Lab, kube: Kube):
    first = lab.submit("limit-1", "t4", compute={"gpus": 4}, seconds=900)
    second = lab.submit("limit-2", "t4", compute={"gpus": 4}, seconds=900)
    third = lab.submit("limit-3", "t4", compute={"gpus": 1}, seconds=2)
    for item in (first, second):
        runs.admitted(kube, item)
    assert "nvidia.com/gpu" in runs.waiting(kube, third)


def test_max_duration_ends_a_run_for_good(lab: Lab, kube: Kube):
    item = lab.submit("too-long", "cpu", seconds=600, run={"max_duration": "5s"})
    runs.admitted(kube, item)
    name, namespace = runs.workload(kube, item)["metadata"]["name"], item["metadata"]["namespace"]
    found = kube.until(runs.WORKLOAD, name, namespace, lambda w: holds(w, "Evicted"), "evicted")
    assert condition(found, "Evicted")["reason"] == "DeactivatedDueToMaximumExecutionTimeExceeded"
    assert found["spec"]["active"] is False
    kube.until(runs.kind(item), item["metadata"]["name"], namespace, lambda job: holds(job, "Suspended"), "suspended")
    assert not holds(runs.live(kube, item), "Failed")


def test_a_ray_run_whose_dashboard_is_unreachable_for_a_while_goes_on(lab: Lab, kube: Kube, plane: Plane):
    outcome(plane, "held-away", "UNREACHABLE")
    item = lab.submit("held-away", "t4", kind="rayjob")
    runs.running(kube, item, 3)
    before = sorted(pod["metadata"]["uid"] for pod in runs.pods(kube, item))
    refused(plane, "held-away", 3)
    assert sorted(pod["metadata"]["uid"] for pod in runs.pods(kube, item)) == before
    release(plane, kube, item)
    runs.finished(kube, item)
    assert succeeded(kube, item)


def test_a_ray_run_whose_dashboard_is_gone_is_ended_by_its_time_limit(lab: Lab, kube: Kube, plane: Plane):
    """KubeRay waits for ever and says nothing; the quota is held until max_duration."""
    outcome(plane, "held-lost", "UNREACHABLE")
    item = lab.submit("held-lost", "t4", kind="rayjob", run={"max_duration": "20s"})
    runs.running(kube, item, 3)
    name, namespace = runs.workload(kube, item)["metadata"]["name"], item["metadata"]["namespace"]
    found = kube.until(runs.WORKLOAD, name, namespace, lambda w: holds(w, "Evicted"), "evicted")
    assert condition(found, "Evicted")["reason"] == "DeactivatedDueToMaximumExecutionTimeExceeded"
    runs.until_no_pods_but_the_submitter(kube, item)
    assert not runs.live(kube, item)["status"].get("jobStatus")


def borrowed(queue: dict) -> dict[str, str]:
    """GPUs that a ClusterQueue borrows, by flavor."""
    flavors = {entry["name"]: entry["resources"] for entry in queue["status"].get("flavorsReservation", ())}
    found = {
        name: resource.get("borrowed", "0") for name, resources in flavors.items() for resource in resources if resource["name"] == GPU
    }
    return {name: amount for name, amount in found.items() if amount != "0"}


def succeeded(kube: Kube, item: dict) -> bool:
    """Whether a run's object says that it ended well."""
    found = runs.live(kube, item)
    if item["kind"] == "RayJob":
        return found["status"].get("jobStatus") == "SUCCEEDED"
    return holds(found, "Complete") or holds(found, "Completed")
