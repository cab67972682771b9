"""Idle quota is shared by weight: who comes later gets its part by preemption, and an edited weight moves it."""

from collections.abc import Iterator

import pytest

from tests.e2e import runs
from tests.e2e.kube import Kube, Object, condition
from tests.e2e.lab import Lab
from tests.e2e.plane import Plane

WITH = ("kueue",)
SHARES = "lab"
KUEUE = {"fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}}
QUEUE = "kueue.x-k8s.io/v1beta2/ClusterQueue"
GPU = "nvidia.com/gpu"


def fair(document: Object) -> None:
    """Eight GPUs: two of each queue, four of a third that nobody uses; burst weighs three times as much as steady."""
    if document["kind"] == "Platform":
        document["spec"]["queueing"] = {"fairSharing": {"enable": True}}
    if document["kind"] == "Queue":
        document["spec"]["fairSharing"] = {"weight": "3" if document["metadata"]["name"] == "burst" else "1"}
        for entry in document["spec"]["quotas"]:
            if entry["flavor"] == "t4":
                entry["resources"][GPU] = {"nominal": 2, "borrow": 6}
    if document["kind"] == "Cohort":
        document["spec"]["quotas"] = [{"flavor": "t4", "resources": {GPU: {"nominal": 4}}}]


@pytest.fixture(scope="module")
def lab(plane: Plane, kube: Kube, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    made = Lab(tmp_path_factory.mktemp("fair") / "repo", kube)
    made.edit(fair)
    yield made
    made.clear()


def reserved(queue: Object | None) -> int:
    """GPUs of the t4 flavor that a queue has."""
    flavors = ((queue or {}).get("status") or {}).get("flavorsReservation", ())
    return sum(int(entry["total"]) for flavor in flavors if flavor["name"] == "t4" for entry in flavor["resources"] if entry["name"] == GPU)


def shares(kube: Kube, steady: int, burst: int) -> None:
    """Wait until the queues have so many GPUs."""
    for name, wanted in (("steady", steady), ("burst", burst)):
        kube.until(QUEUE, name, "", lambda queue, wanted=wanted: reserved(queue) == wanted, f"{wanted} GPUs", 120)  # type: ignore[misc]


def test_idle_quota_goes_by_weight_and_moves_with_it(lab: Lab, kube: Kube):
    first = [lab.submit(f"steady-{number}", "t4", seconds=1800) for number in range(8)]
    shares(kube, 8, 0)
    second = [lab.submit(f"burst-{number}", "t4", seconds=1800, policy={"queue": "burst"}) for number in range(8)]
    shares(kube, 3, 5)
    reasons = [condition(runs.workload(kube, item), "Preempted").get("reason") for item in first]
    assert reasons.count("InCohortReclamation") == 2, reasons
    assert reasons.count("InCohortFairSharing") == 3, reasons
    lab.set("Queue", "burst", fairSharing={"weight": "1"})
    shares(kube, 4, 4)
    reasons = [condition(runs.workload(kube, item), "Preempted").get("reason") for item in second]
    assert "InCohortFairSharing" in reasons, "an edited weight preempts what runs"
