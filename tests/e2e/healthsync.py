"""Node health in sync: what has to hold under Flux and under Argo CD alike.

In: a loop whose policy has node health. Out: assertions, played by test_health_flux.py and test_health_argocd.py.
"""

from tests.e2e import runs
from tests.e2e.agents import NAMESPACE, POLICY
from tests.e2e.kube import Kube, Object
from tests.e2e.loop import ArgoLoop, FluxLoop

Sync = FluxLoop | ArgoLoop
KINDS = ("apps/v1/DaemonSet", "v1/ConfigMap", "v1/ServiceAccount", "rbac.authorization.k8s.io/v1/Role")
DAEMONSET = "gpu-health-h100-80gb"


def health(kube: Kube) -> dict[str, tuple[str, object]]:
    """Kind and name -> uid and generation of what node health has in its namespace, and of the admission policies."""
    found = [(kind, item) for kind in KINDS for item in kube.list(kind, NAMESPACE)]
    kind = "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy"
    found += [(kind, item) for item in kube.list(kind) if item["metadata"]["name"].startswith("taugen-")]
    return {f"{kind} {i['metadata']['name']}": (i["metadata"]["uid"], i["metadata"].get("generation")) for kind, i in found}


def daemonset(kube: Kube) -> Object:
    """As it stands."""
    return kube.get("apps/v1/DaemonSet", DAEMONSET, NAMESPACE) or {}


def ready(kube: Kube, number: int) -> None:
    """Wait until so many pods of the DaemonSet are ready."""
    counted = lambda item: (item or {}).get("status", {}).get("numberReady", 0) == number  # noqa: E731
    kube.until("apps/v1/DaemonSet", DAEMONSET, NAMESPACE, counted, f"{number} pods ready", 90)


def applied_and_left_alone(loop: Sync, kube: Kube) -> None:
    """It is applied, and reconciling changes nothing."""
    ready(kube, 4)
    before = health(kube)
    assert {name for name in before if "DaemonSet" in name} >= {f"apps/v1/DaemonSet {DAEMONSET}", "apps/v1/DaemonSet gpu-health-t4-16gb"}
    for _ in range(3):
        loop.reconcile()
    assert health(kube) == before


def changed(loop: Sync, kube: Kube) -> None:
    """A change of policy is a new ConfigMap and a rollout."""
    old = {item["metadata"]["name"] for item in kube.list("v1/ConfigMap", NAMESPACE) if item["metadata"]["name"].startswith(DAEMONSET)}
    generation = daemonset(kube)["metadata"]["generation"]
    loop.fleet.commit({"policy/health.yaml": POLICY.replace("clearAfter: 3s", "clearAfter: 4s")}, "slower")
    loop.publish()
    loop.sync()
    new = {item["metadata"]["name"] for item in kube.list("v1/ConfigMap", NAMESPACE) if item["metadata"]["name"].startswith(DAEMONSET)}
    assert len(old) == len(new) == 1
    assert old != new
    assert daemonset(kube)["metadata"]["generation"] == generation + 1
    ready(kube, 4)


def not_ready(loop: Sync, kube: Kube) -> None:
    """Pods that are not available, as on a node that is away, hold up nothing."""
    spec = daemonset(kube)["spec"]["template"]["spec"]
    kube.patch("apps/v1/DaemonSet", DAEMONSET, NAMESPACE, {"spec": {"minReadySeconds": 100000}})
    away = lambda item: (item or {}).get("status", {}).get("numberAvailable", 0) == 0  # noqa: E731
    kube.until("apps/v1/DaemonSet", DAEMONSET, NAMESPACE, away, "none available", 60)
    loop.write("meanwhile", profile="t4")
    loop.publish()
    loop.sync()
    runs.finished(kube, loop.object("meanwhile"), 120)
    assert daemonset(kube)["spec"]["template"]["spec"]["containers"] == spec["containers"]


def gone(loop: Sync, kube: Kube) -> None:
    """Without its policy it goes, but for the namespace."""
    loop.fleet.commit({"policy/health.yaml": None}, "no node health")
    loop.publish()
    loop.sync()
    kube.until("apps/v1/DaemonSet", DAEMONSET, NAMESPACE, lambda item: item is None, "pruned", 60)
    assert not any("ValidatingAdmissionPolicy" in name for name in health(kube))
    assert kube.get("v1/Namespace", NAMESPACE), "namespaces are never pruned"
