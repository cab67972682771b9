"""The loop under Argo CD: the Applications and AppProjects that taugen rendered, the real application controller and repository server.

Self-heal runs with short times here, so that ten rounds of it take seconds.
"""

import pytest

from tests.e2e import lab, leaving, runs
from tests.e2e.kube import Kube, Object
from tests.e2e.loop import ArgoLoop
from tests.e2e.plane import Plane
from tests.e2e.ray import ends, outcome

WITH = ("jobset", "kuberay", "kueue", "argocd")
SHARES = "argocd"
LOOP = (ArgoLoop, lab.ARGO)
ADMISSION = "admissionregistration.k8s.io/v1"
KINDS = ("job", "jobset", "rayjob")


@pytest.mark.parametrize("kind", KINDS)
def test_a_committed_run_is_synced_and_tells_its_health(loop: ArgoLoop, kube: Kube, plane: Plane, kind: str):
    outcome(plane, f"held-{kind}", "RUNNING")
    outcome(plane, f"sick-{kind}", "FAILED")
    loop.write(
        f"full-{kind}", profile="h100", seconds=900, execution={"launcher": "torchrun", "nodes": 4}, policy={"topology": "unconstrained"}
    )
    loop.publish()
    loop.sync()
    runs.admitted(kube, loop.object(f"full-{kind}"))
    more = {"compute": {"workers": 2}} if kind == "rayjob" else {"execution": {"launcher": "torchrun", "nodes": 2}}
    loop.write(f"held-{kind}", profile="h100", kind=kind, seconds=900, **more)
    loop.write(f"sick-{kind}", profile="t4", kind=kind, exits=1)
    loop.publish()
    loop.sync()
    item, sick = loop.object(f"held-{kind}"), loop.object(f"sick-{kind}")
    loop.health("red", item, "Suspended")
    loop.health("red", sick, "Degraded")
    runs.finish(kube, loop.object(f"full-{kind}"))
    runs.admitted(kube, item)
    loop.health("red", item, "Progressing" if kind == "rayjob" else "Healthy")
    runs.running(kube, item, 4 if kind == "rayjob" else 2)
    ends(plane, kube, item)
    loop.health("red", item, "Healthy")
    drop(loop, kube, f"full-{kind}", f"held-{kind}", f"sick-{kind}")


def test_self_heal_restarts_nothing_in_ten_rounds(loop: ArgoLoop, kube: Kube, plane: Plane):
    for kind in KINDS:
        outcome(plane, f"held-long-{kind}", "RUNNING")
        loop.write(f"held-long-{kind}", profile="t4", kind=kind, seconds=900)
    loop.publish()
    loop.sync()
    items = {kind: loop.object(f"held-long-{kind}") for kind in KINDS}
    for kind, item in items.items():
        runs.running(kube, item, 3 if kind == "rayjob" else 1)
    loop.reconcile()  # self-heal syncs a second time at once where Argo CD has not seen yet what it applied
    before = {kind: (identity(kube, item), worker_groups(kube, item)) for kind, item in items.items()}
    for _ in range(10):
        loop.reconcile()
    assert {kind: (identity(kube, item), worker_groups(kube, item)) for kind, item in items.items()} == before
    assert {kind: started(kube, item) for kind, item in items.items()} == dict.fromkeys(KINDS, 1), "neither did the second sync restart any"
    workers = [pod for pod in runs.pods(kube, items["rayjob"]) if pod["spec"]["containers"][0]["name"] == "ray-worker"]
    assert workers
    assert all(pod["spec"]["nodeSelector"]["lab.example/nodes"] == "t4" for pod in workers), "Kueue's node selector"
    loop.sync()
    drop(loop, kube, *(f"held-long-{kind}" for kind in KINDS))


def test_a_finished_run_does_not_start_again_in_ten_rounds(loop: ArgoLoop, kube: Kube):
    for kind in KINDS:
        loop.write(f"once-{kind}", profile="t4", kind=kind)
    loop.publish()
    loop.sync()
    items = {kind: loop.object(f"once-{kind}") for kind in KINDS}
    for item in items.values():
        runs.finished(kube, item)
    runs.until_no_pods_but_the_submitter(kube, items["rayjob"])
    before = {kind: identity(kube, item) for kind, item in items.items()}
    for _ in range(10):
        loop.reconcile()
    assert {kind: identity(kube, item) for kind, item in items.items()} == before
    drop(loop, kube, *(f"once-{kind}" for kind in KINDS))


def test_a_policy_edit_leaves_running_runs_alone(loop: ArgoLoop, kube: Kube):
    loop.write("steady-run", profile="t4", seconds=900)
    loop.publish()
    loop.sync()
    item = loop.object("steady-run")
    runs.running(kube, item, 1)
    before = identity(kube, item)
    profiles = loop.fleet.path / "policy/profiles.yaml"
    loop.fleet.commit({"policy/profiles.yaml": profiles.read_text().replace("memoryPerGpu: 16Gi", "memoryPerGpu: 24Gi")})
    loop.publish()
    loop.sync()
    loop.reconcile()
    assert identity(kube, item) == before
    drop(loop, kube, "steady-run")


def test_removing_a_live_run_is_refused_then_allowed_and_pruned(loop: ArgoLoop, kube: Kube):
    loop.write("to-go", seconds=900)
    loop.publish()
    loop.sync()
    item = loop.object("to-go")
    runs.running(kube, item, 1)
    loop.fleet.commit({"workspaces/red/to-go/tau.yaml": None, "workspaces/red/to-go/hello.py": None})
    assert "to-go" in loop.publish(fails=4)
    assert runs.live(kube, item)
    loop.publish("--allow-cancel", "red/to-go")
    loop.sync()
    runs.gone(kube, item)


def test_a_workspace_without_runs_stays_synced(loop: ArgoLoop, kube: Kube):
    """Its path holds one constant object: Argo CD prunes nothing where a folder is gone."""
    leaving.a_last_run(loop, kube)


def test_a_run_that_cannot_be_applied_does_not_stop_the_others(loop: ArgoLoop, kube: Kube):
    """Something that the compiler can't know, here a policy of the cluster's own, refuses one run of a commit."""
    forbid(kube, "unlucky")
    loop.write("unlucky", workspace="blue")
    loop.write("beside", workspace="blue")
    loop.publish()
    loop.refresh("root")
    loop.refresh("taugen-south-runs-blue")
    runs.finished(kube, loop.object("beside", "blue"), 120)
    loop.write("later", workspace="blue")
    loop.publish()
    loop.refresh("taugen-south-runs-blue")
    runs.finished(kube, loop.object("later", "blue"), 240)
    assert runs.live(kube, loop.object("unlucky", "blue")) is None
    kube.delete(f"{ADMISSION}/ValidatingAdmissionPolicyBinding", "unlucky")
    kube.delete(f"{ADMISSION}/ValidatingAdmissionPolicy", "unlucky")
    runs.finished(kube, loop.object("unlucky", "blue"), 240)
    loop.sync(240)


def test_a_workspace_that_leaves_keeps_its_namespace_and_claims(loop: ArgoLoop, kube: Kube):
    leaving.a_workspace(loop, kube)


def test_a_queue_in_use_stays(loop: ArgoLoop, kube: Kube):
    leaving.a_queue_in_use(loop, kube)


def identity(kube: Kube, item: Object) -> tuple[str, list[str]]:
    """What a restart would change: the object's uid and those of its pods."""
    return runs.live(kube, item)["metadata"]["uid"], sorted(pod["metadata"]["uid"] for pod in runs.pods(kube, item))


def worker_groups(kube: Kube, item: Object) -> list[Object]:
    """Worker groups of a RayJob; none of other kinds."""
    return runs.live(kube, item)["spec"].get("rayClusterSpec", {}).get("workerGroupSpecs", [])


def started(kube: Kube, item: Object) -> int:
    """How often pods were made for a run of one pod, or a cluster for a RayJob, as events tell."""
    owners = {runs.live(kube, item)["metadata"]["uid"]}
    if item["kind"] == "JobSet":
        jobs = kube.list("batch/v1/Job", item["metadata"]["namespace"])
        owners = {job["metadata"]["uid"] for job in jobs if any(ref["uid"] in owners for ref in job["metadata"].get("ownerReferences", ()))}
    events = kube.list("v1/Event", item["metadata"]["namespace"])
    told = [event for event in events if event["involvedObject"].get("uid") in owners]
    return sum(event.get("count") or 1 for event in told if event["reason"] in {"SuccessfulCreate", "CreatedRayCluster"})


def drop(loop: ArgoLoop, kube: Kube, *names: str) -> None:
    """Cancel runs and wait until they are gone."""
    items = [loop.object(name) for name in names]
    loop.fleet.commit({f"workspaces/red/{name}/{file}": None for name in names for file in ("tau.yaml", "hello.py")})
    loop.publish(*(word for name in names for word in ("--allow-cancel", f"red/{name}")))
    loop.sync()
    for item in items:
        runs.gone(kube, item)


def forbid(kube: Kube, prefix: str) -> None:
    """An admission policy that refuses Jobs by their name, and wait until it does."""
    rules = [{"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["jobs"]}]
    wish = {"expression": f"!object.metadata.name.startsWith('{prefix}-')", "message": "not here"}
    spec = {"failurePolicy": "Fail", "matchConstraints": {"resourceRules": rules}, "validations": [wish]}
    kube.apply({"apiVersion": ADMISSION, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": prefix}, "spec": spec})
    binding = {"policyName": prefix, "validationActions": ["Deny"]}
    kube.apply({"apiVersion": ADMISSION, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": prefix}, "spec": binding})
    kube.until_refused(lambda: kube.apply(probe(f"{prefix}-probe"), dry=True))


def probe(name: str) -> Object:
    """The smallest Job."""
    container = {"name": "main", "image": "a", "resources": {}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default"}, "spec": {"template": template}}
