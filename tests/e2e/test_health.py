"""Node health: a fault on a simulated node keeps new work off it until it is cleared; the runner's account can do that and no more."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import fleet, nodes, runs
from tests.e2e.agents import ACCOUNT, POLICY, Agent, pod_on, token
from tests.e2e.fleet import LAB, Fleet
from tests.e2e.kube import Kube, Object, Refused, TimedOut, holds
from tests.e2e.lab import FLUX, Lab
from tests.e2e.plane import Plane

WITH = ("jobset", "kuberay", "kueue")
SHARES = "lab"
KEY = "taugen.dev/gpu-health"
NODES = ("h100-a-0", "h100-a-1", "h100-b-0", "h100-b-1")
GANG = {"execution": {"launcher": "torchrun", "nodes": 2}}


class HealthLab(Lab):
    """The lab with node health."""

    def __init__(self, folder: Path, kube: Kube) -> None:
        self.fleet = Fleet(folder, LAB)
        self.fleet.commit({"policy/health.yaml": POLICY}, "node health")
        self.kube, self.cluster, self.applied, self.rendered = kube, FLUX, [], {}
        nodes.create(kube, nodes.of_pools(fleet.pools(LAB / "policy", FLUX)))
        self.objects = [item for item in self.fleet.render(FLUX) if item["metadata"].get("namespace") != "flux-system"]
        for item in self.objects:
            kube.apply(item, manager="kustomize-controller")

    @property
    def health(self) -> list[Object]:
        """The objects of node health."""
        return fleet.read(self.fleet.path.parent / f"{self.fleet.path.name}-rendered" / "clusters" / FLUX / "platform" / "health")


@pytest.fixture(scope="module")
def _lab(kube: Kube, plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HealthLab]:
    made = HealthLab(tmp_path_factory.mktemp("health") / "fleet", kube)
    until_held(kube, plane, ACCOUNT, "", {"spec": {"unschedulable": True}})
    until_held(kube, plane, "taugen-node-problem-detector", "status", {"status": {"conditions": []}})
    yield made
    for item in made.health:
        if item["kind"] != "Namespace":
            kube.delete(runs.kind(item), item["metadata"]["name"], item["metadata"].get("namespace", ""))


@pytest.fixture
def lab(_lab: HealthLab) -> Iterator[HealthLab]:
    yield _lab
    _lab.clear()


def node(kube: Kube, name: str) -> Object:
    return kube.get("v1/Node", name) or {}


def tainted(item: Object | None) -> bool:
    return any(t["key"].startswith(KEY) for t in (item or {}).get("spec", {}).get("taints", ()))


def until_tainted(kube: Kube, name: str, *, yes: bool) -> None:
    kube.until("v1/Node", name, "", lambda item: tainted(item) is yes, "tainted" if yes else "without the taint", 60)


def until_told(kube: Kube, name: str, reason: str) -> None:
    """Wait for an event of a node."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = {e["reason"] for e in kube.list("v1/Event", "default") if e["involvedObject"]["name"] == name}
        if reason in found:
            return
        time.sleep(0.3)  # no watch finds a name that isn't known yet
    raise TimedOut(f"no event {reason} of {name} in 60 s, only {sorted(found)}")


def places(kube: Kube, item: Object, number: int) -> dict[str, str]:
    """Pod uid -> node of a run's running pods."""
    return {pod["metadata"]["uid"]: pod["spec"]["nodeName"] for pod in runs.running(kube, item, number)}


# ------------------------------------------------------------------------------------------------------------- objects


def test_health_objects_are_accepted_and_stay_as_they_were_applied(lab: HealthLab, kube: Kube):
    kinds = {item["kind"] for item in lab.health}
    assert {"DaemonSet", "ConfigMap", "ValidatingAdmissionPolicy", "ClusterRole", "Lease"} - kinds == {"Lease"}
    for item in lab.health:
        before = kube.apply(item, manager="kustomize-controller")["metadata"]["resourceVersion"]
        kind = f"{item['apiVersion']}/{item['kind']}"
        after = kube.apply(item, manager="kustomize-controller")
        if item["kind"] not in {"DaemonSet", "ResourceQuota", "ValidatingAdmissionPolicy"}:  # controllers write their status
            assert after["metadata"]["resourceVersion"] == before, kind
        assert after["metadata"].get("generation", 1) == 1, kind


def test_the_pods_run_on_each_node_of_the_class_and_no_other(lab: HealthLab, kube: Kube):
    wanted = {"gpu-health-h100-80gb": 4, "gpu-health-t4-16gb": 2, "node-problem-detector-h100-80gb": 4, "dcgm-exporter-h100-80gb": 4}
    for name, number in wanted.items():
        ready = lambda item, number=number: (item or {}).get("status", {}).get("numberReady") == number  # noqa: E731
        kube.until("apps/v1/DaemonSet", name, "taugen-health", ready, f"{number} pods ready", 60)
    assert kube.get("kueue.x-k8s.io/v1beta2/Workload", "x", "taugen-health") is None
    assert not kube.list("kueue.x-k8s.io/v1beta2/Workload", "taugen-health")


# -------------------------------------------------------------------------------------------------------------- rights


def patches(name: str, kube: Kube) -> dict[str, tuple[str, Object]]:
    """What an account must not do to a node: name -> (part, JSON merge patch)."""
    there = node(kube, name)
    taints, conditions = there["spec"].get("taints", []), there["status"]["conditions"]
    ready = [c if c["type"] != "Ready" else {**c, "status": "False"} for c in conditions]
    return {
        "adds a taint of others": ("", {"spec": {"taints": [*taints, {"key": "team.example/mine", "effect": "NoSchedule"}]}}),
        "removes a taint of others": ("", {"spec": {"taints": [t for t in taints if t["key"] != "nvidia.com/gpu"]}}),
        "changes a taint of others": ("", {"spec": {"taints": [{**t, "effect": "PreferNoSchedule"} for t in taints]}}),
        "almost our prefix": ("", {"spec": {"taints": [*taints, {"key": "taugen.dev/gpu", "effect": "NoSchedule"}]}}),
        "cordons": ("", {"spec": {"unschedulable": True}}),
        "labels": ("", {"metadata": {"labels": {"lab.example/nodes": "t4"}}}),
        "annotates": ("", {"metadata": {"annotations": {"a": "b"}}}),
        "says it is not ready": ("status", {"status": {"conditions": ready}}),
        "removes conditions of others": ("status", {"status": {"conditions": []}}),
        "adds a condition of others": ("status", {"status": {"conditions": [*conditions, {"type": "Other", "status": "True"}]}}),
        "takes resources away": ("status", {"status": {"allocatable": {"nvidia.com/gpu": "1"}}}),
    }


def ours(name: str, kube: Kube) -> dict[str, tuple[str, Object]]:
    """What the runner's account is for."""
    there = node(kube, name)
    taints, conditions = there["spec"].get("taints", []), there["status"]["conditions"]
    return {
        "sets its taint": ("", {"spec": {"taints": [*taints, {"key": f"{KEY}-try", "effect": "PreferNoSchedule"}]}}),
        "takes its taint away": ("", {"spec": {"taints": taints}}),
        "sets its condition": ("status", {"status": {"conditions": [*conditions, {"type": "taugen.dev/GpuXid", "status": "True"}]}}),
        "takes its condition away": ("status", {"status": {"conditions": conditions}}),
    }


def account(plane: Plane, secret: str) -> Kube:
    return Kube(plane.site.port("api"), plane.site.certs.authority, token=secret)


def until_held(kube: Kube, plane: Plane, name: str, part: str, change: Object) -> None:
    """Wait until the admission policy of an account counts, which is a moment after it was made."""
    with account(plane, token(kube, name)) as client:
        kube.until_refused(lambda: client.patch("v1/Node", NODES[0], "", change, part, dry=True), by="ValidatingAdmissionPolicy")


def refusal(client: Kube, name: str, part: str, change: Object, *, dry: bool = False) -> str:
    """Why the API server refuses a patch; empty where it takes it. `dry`: a node that should not take it stays as it is if it does."""
    try:
        client.patch("v1/Node", name, "", change, part, dry=dry)
    except Refused as refused:
        return refused.message
    return ""


def test_the_runner_s_account_may_do_its_work_on_its_own_node(lab: HealthLab, kube: Kube, plane: Plane):
    mine = "h100-a-0"
    with account(plane, token(kube, pod=pod_on(kube, mine))) as client:
        for what, (part, change) in ours(mine, kube).items():
            assert refusal(client, mine, part, change) == "", what
        for what, (part, change) in patches(mine, kube).items():
            assert "ValidatingAdmissionPolicy 'taugen-gpu-health'" in refusal(client, mine, part, change, dry=True), what
        with pytest.raises(Refused):
            client.delete("v1/Node", mine)
        for path in ("/api/v1/secrets", "/api/v1/namespaces/lab-red/pods", "/api/v1/namespaces/taugen-health/secrets"):
            with pytest.raises(Refused):
                client.request("GET", path)


def test_it_may_do_nothing_to_another_node(lab: HealthLab, kube: Kube, plane: Plane):
    other = "h100-a-1"
    with account(plane, token(kube, pod=pod_on(kube, "h100-a-0"))) as client:
        for what, (part, change) in {**ours(other, kube), **patches(other, kube)}.items():
            assert "only the node that its pod runs on" in refusal(client, other, part, change, dry=True), what
    with account(plane, token(kube, pod=pod_on(kube, other))) as client:
        for what, (part, change) in ours(other, kube).items():
            assert refusal(client, other, part, change) == "", what
        part, change = ours("h100-a-0", kube)["sets its taint"]
        assert "only the node that its pod runs on" in refusal(client, "h100-a-0", part, change, dry=True)


def test_a_token_that_names_no_node_may_do_nothing(lab: HealthLab, kube: Kube, plane: Plane):
    with account(plane, token(kube)) as client:
        for what, (part, change) in ours("h100-a-0", kube).items():
            assert "only the node that its pod runs on" in refusal(client, "h100-a-0", part, change, dry=True), what


def test_others_are_not_held_by_the_policy(lab: HealthLab, kube: Kube):
    there = node(kube, "h100-b-1")["spec"]["taints"]
    kube.patch("v1/Node", "h100-b-1", "", {"spec": {"taints": [*there, {"key": "team.example/mine", "effect": "PreferNoSchedule"}]}})
    kube.patch("v1/Node", "h100-b-1", "", {"spec": {"taints": there}})


def test_node_problem_detector_may_set_its_conditions_on_its_own_node(lab: HealthLab, kube: Kube, plane: Plane):
    mine = "h100-b-0"
    secret = token(kube, "taugen-node-problem-detector", pod_on(kube, mine, "node-problem-detector"))
    conditions = node(kube, mine)["status"]["conditions"]
    deadlock = ("status", {"status": {"conditions": [*conditions, {"type": "KernelDeadlock", "status": "False"}]}})
    with account(plane, secret) as client:
        assert refusal(client, mine, *deadlock) == ""
        assert "only the node that its pod runs on" in refusal(client, "h100-b-1", *deadlock, dry=True)
        for what in ("says it is not ready", "takes resources away"):
            assert "taugen-node-problem-detector" in refusal(client, mine, *patches(mine, kube)[what], dry=True), what
        assert "others'" in refusal(client, mine, *ours(mine, kube)["sets its condition"], dry=True)
        assert "forbidden" in refusal(client, mine, *ours(mine, kube)["sets its taint"], dry=True)


# ---------------------------------------------------------------------------------------------------------------- play


def test_a_fault_keeps_new_work_off_and_leaves_a_running_gang_alone(lab: HealthLab, kube: Kube, plane: Plane, tmp_path: Path):
    old = lab.submit("old-gang", "h100", seconds=900, **GANG)
    runs.admitted(kube, old)
    before = places(kube, old, 2)
    bad = sorted(before.values())[0]
    rack = bad.rpartition("-")[0]
    with Agent(plane, kube, bad, tmp_path) as agent:
        kube.until("v1/Node", bad, "", lambda item: holds(item, "taugen.dev/GpuXid", "False"), "GpuXid=False", 60)
        agent.fakes.form("faulty")
        until_tainted(kube, bad, yes=True)
        assert holds(node(kube, bad), "taugen.dev/GpuXid")
        until_told(kube, bad, "GpuXid")
        new = [lab.submit(f"new-{n}", "h100", seconds=900, compute={"gpus": 8}) for n in (1, 2)]
        for item in new:
            runs.admitted(kube, item)
        assert {at for item in new for at in places(kube, item, 1).values()} == set(NODES) - set(before.values())
        assert places(kube, old, 2) == before, "the gang goes on"
        for item in (old, *new):
            kube.delete(runs.kind(item), item["metadata"]["name"], item["metadata"]["namespace"])
        lone = lab.submit("needs-the-rack", "h100", seconds=900, **GANG)
        runs.admitted(kube, lone)
        assert not any(at.startswith(rack) for at in places(kube, lone, 2).values()), "a rack with a bad node has no room for a gang of two"
        agent.fakes.form("healthy")
        until_tainted(kube, bad, yes=False)
        kube.until("v1/Node", bad, "", lambda item: holds(item, "taugen.dev/GpuXid", "False"), "GpuXid=False", 60)
        until_told(kube, bad, "GpuXidCleared")
    runs.finish(kube, lone)
    four = {"execution": {"launcher": "torchrun", "nodes": 4}, "policy": {"topology": "unconstrained"}}
    everything = lab.submit("all-four", "h100", seconds=5, **four)
    runs.admitted(kube, everything)
    assert bad in places(kube, everything, 4).values(), "the node takes work again"


def test_no_more_than_the_share_is_tainted_at_once(lab: HealthLab, kube: Kube, plane: Plane, tmp_path: Path):
    with contextlib.ExitStack() as stack:
        for name in NODES:
            (tmp_path / name).mkdir()
            agent = Agent(plane, kube, name, tmp_path / name)
            agent.fakes.form("faulty")
            stack.enter_context(agent)
        for name in NODES:
            kube.until("v1/Node", name, "", lambda item: holds(item, "taugen.dev/GpuXid"), "GpuXid=True", 90)
        kube.until("coordination.k8s.io/v1/Lease", "gpu-health-h100-80gb", "taugen-health", lambda item: item is not None, "made", 30)
        out = [name for name in NODES if tainted(node(kube, name))]
        assert len(out) == 1
        for name in set(NODES) - set(out):
            until_told(kube, name, "TaintWithheld")
        assert sum(tainted(node(kube, name)) for name in NODES) == 1
    for name in NODES:
        there = node(kube, name)["spec"].get("taints", [])
        kube.patch("v1/Node", name, "", {"spec": {"taints": [t for t in there if not t["key"].startswith(KEY)]}})


def test_where_policy_drains_running_work_ends_and_other_work_goes_on(lab: HealthLab, kube: Kube, plane: Plane, tmp_path: Path):
    both = [lab.submit(f"on-t4-{n}", "t4", compute={"gpus": 4}, seconds=900) for n in (1, 2)]
    for item in both:
        runs.admitted(kube, item)
    where = {item["metadata"]["name"]: next(iter(places(kube, item, 1).values())) for item in both}
    victim, other = both
    bad = where[victim["metadata"]["name"]]
    stays, ended = places(kube, other, 1), runs.running(kube, victim, 1)[0]["metadata"]
    with Agent(plane, kube, bad, tmp_path) as agent:
        kube.until("v1/Node", bad, "", lambda item: holds(item, "taugen.dev/GpuHot", "False"), "GpuHot=False", 60)
        agent.fakes.form("faulty")
        until_tainted(kube, bad, yes=True)
        kube.until("v1/Pod", ended["name"], ended["namespace"], lambda pod: pod is None, "evicted", 60)
        assert not any(pod["spec"].get("nodeName") == bad for pod in runs.pods(kube, victim)), "nothing of it comes back to the node"
        assert places(kube, other, 1) == stays
        for item in both:
            assert holds(runs.workload(kube, item), "Admitted"), "what Kueue has admitted is not lost"
        assert pod_on(kube, bad)["spec"]["nodeName"] == bad, "the runner itself is not drained"
        agent.fakes.form("healthy")
        until_tainted(kube, bad, yes=False)
        assert set(places(kube, victim, 1).values()) == {bad}, "a simulated kubelet ends pods without a failure: the same object goes on"
    runs.finish(kube, victim)
    runs.finish(kube, other)
