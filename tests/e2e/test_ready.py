"""Kueue with waitForPodsReady: a run whose pods don't come up is queued again as the same object, and set aside for good at last."""

from collections.abc import Iterator

import pytest

from tests.e2e import runs
from tests.e2e.kube import Kube, condition, holds
from tests.e2e.lab import Lab
from tests.e2e.plane import Plane

WITH = ("jobset", "kueue")
SHARES = "lab"
AGAIN = {"timestamp": "Eviction", "backoffLimitCount": 2, "backoffBaseSeconds": 1, "backoffMaxSeconds": 2}
KUEUE = {"waitForPodsReady": {"timeout": "10s", "blockAdmission": False, "requeuingStrategy": AGAIN}}
NODES = ("t4-0", "t4-1")


@pytest.fixture(scope="module")
def _lab(plane: Plane, kube: Kube, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("ready") / "repo", kube)


@pytest.fixture
def lab(_lab: Lab, kube: Kube) -> Iterator[Lab]:
    yield _lab
    cordon(kube, *NODES, shut=False)
    _lab.clear()


def cordon(kube: Kube, *names: str, shut: bool = True) -> None:
    """Keep new pods off nodes: they stay Pending, as behind a pull that hangs."""
    for name in names:
        kube.patch("v1/Node", name, "", {"spec": {"unschedulable": shut or None}})


@pytest.mark.parametrize("kind", ["job", "jobset"])
def test_a_gang_of_which_one_pod_never_comes_up_is_queued_again_and_runs(lab: Lab, kube: Kube, kind: str):
    cordon(kube, NODES[0])
    item = lab.submit(f"half-{kind}", "t4", kind=kind, seconds=900, compute={"gpus": 4}, execution={"launcher": "torchrun", "nodes": 2})
    runs.running(kube, item, 1)
    uid = runs.live(kube, item)["metadata"]["uid"]
    runs.evicted(kube, item, "PodsReadyTimeout")
    cordon(kube, NODES[0], shut=False)
    runs.running(kube, item, 2)
    runs.finish(kube, item)
    found = runs.live(kube, item)
    assert found["metadata"]["uid"] == uid
    assert holds(found, "Complete") or holds(found, "Completed")


@pytest.mark.parametrize("kind", ["job", "jobset"])
def test_a_run_that_never_comes_up_is_set_aside_and_not_failed(lab: Lab, kube: Kube, kind: str):
    """Terminal without a Finished condition: the Workload is deactivated, the object suspended; its quota is free again."""
    cordon(kube, *NODES)
    item = lab.submit(f"never-{kind}", "t4", kind=kind, compute={"gpus": 4})
    name, namespace = runs.workload(kube, item)["metadata"]["name"], item["metadata"]["namespace"]
    found = kube.until(runs.WORKLOAD, name, namespace, lambda item: item["spec"].get("active") is False, "deactivated", 120)
    kube.until(runs.WORKLOAD, name, namespace, lambda item: holds(item, "QuotaReserved", "False"), "quota free", 60)
    assert "RequeuingLimit" in condition(found, "Evicted").get("reason", "") + condition(found, "DeactivationTarget").get("reason", "")
    kube.until(runs.kind(item), item["metadata"]["name"], namespace, lambda job: holds(job, "Suspended"), "suspended")
    assert not holds(runs.live(kube, item), "Failed")
    runs.until_no_pods(kube, item)
    kube.apply(item, manager="kustomize-controller")
    assert kube.get(runs.WORKLOAD, name, namespace)["spec"]["active"] is False, "applying it again wakes nothing"
