"""From a commit of tau.yaml to a finished run, by `taugen publish`, source-controller and kustomize-controller, with no hand in
between.
"""

import pytest

from tests.e2e import lab, leaving, runs
from tests.e2e.kube import Kube, Object, holds
from tests.e2e.loop import FluxLoop

WITH = ("jobset", "kuberay", "kueue", "flux")
SHARES = "flux"
LOOP = (FluxLoop, lab.FLUX)
KINDS = ("job", "jobset", "rayjob")


def identity(kube: Kube, item: Object) -> tuple[str, list[str]]:
    """What a restart would change: the object's uid and those of its pods."""
    return runs.live(kube, item)["metadata"]["uid"], sorted(pod["metadata"]["uid"] for pod in runs.pods(kube, item))


@pytest.mark.parametrize("kind", KINDS)
def test_a_committed_run_finishes(loop: FluxLoop, kube: Kube, kind: str):
    loop.write(f"first-{kind}", profile="t4", kind=kind)
    loop.publish()
    loop.sync()
    assert runs.finished(kube, loop.object(f"first-{kind}"))


def test_a_second_publish_of_the_same_tree_changes_nothing(loop: FluxLoop):
    before = loop.head()
    loop.publish()
    assert loop.head() == before


def test_a_policy_edit_leaves_running_runs_alone(loop: FluxLoop, kube: Kube):
    loop.write("steady-run", profile="t4", seconds=900)
    loop.publish()
    loop.sync()
    item = loop.object("steady-run")
    runs.running(kube, item, 1)
    before = identity(kube, item)
    profiles = loop.fleet.path / "policy/profiles.yaml"
    loop.fleet.commit({"policy/profiles.yaml": profiles.read_text().replace("cpuPerGpu: 4", "cpuPerGpu: 5")})
    loop.write("after-edit", profile="t4", seconds=900)
    loop.publish()
    loop.sync()
    new = loop.object("after-edit")
    runs.running(kube, new, 1)
    assert new["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "5"
    assert identity(kube, item) == before
    cancel(loop, kube, "steady-run")
    cancel(loop, kube, "after-edit")


def test_removing_a_live_run_is_refused_then_allowed_and_pruned(loop: FluxLoop, kube: Kube):
    loop.write("to-go", profile="cpu", seconds=900)
    loop.publish()
    loop.sync()
    item = loop.object("to-go")
    runs.running(kube, item, 1)
    loop.fleet.commit({"workspaces/red/to-go/tau.yaml": None, "workspaces/red/to-go/hello.py": None})
    said = loop.publish(fails=4)
    assert "to-go" in said
    loop.sync()
    assert runs.live(kube, item)
    loop.publish("--allow-cancel", "red/to-go")
    loop.sync()
    runs.gone(kube, item)


def test_cancelled_stops_a_run(loop: FluxLoop, kube: Kube):
    loop.write("unwanted", profile="cpu", seconds=900)
    loop.publish()
    loop.sync()
    runs.running(kube, loop.object("unwanted"), 1)
    cancel(loop, kube, "unwanted")


def test_a_finished_run_does_not_start_again_in_ten_rounds(loop: FluxLoop, kube: Kube):
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
    assert all(holds(runs.workload(kube, item), "Finished") for item in items.values())


def test_a_queued_run_leaves_the_kustomization_ready(loop: FluxLoop, kube: Kube):
    """wait: false, so that runs which queue for days don't turn their workspace's Kustomization red."""
    loop.write("blocker", profile="h100", seconds=900, execution={"launcher": "torchrun", "nodes": 4}, policy={"topology": "unconstrained"})
    loop.write("queued", profile="h100")
    loop.publish()
    loop.sync()
    runs.admitted(kube, loop.object("blocker"))
    runs.waiting(kube, loop.object("queued"))
    loop.reconcile()
    cancel(loop, kube, "queued")
    cancel(loop, kube, "blocker")


def test_a_workspace_without_runs_stays_synced(loop: FluxLoop, kube: Kube):
    """Its path holds one constant object: Flux fails on a path that is empty."""
    leaving.a_last_run(loop, kube)


def test_a_workspace_that_leaves_keeps_its_namespace_and_claims(loop: FluxLoop, kube: Kube):
    leaving.a_workspace(loop, kube)


def test_a_queue_in_use_stays(loop: FluxLoop, kube: Kube):
    leaving.a_queue_in_use(loop, kube)


def cancel(loop: FluxLoop, kube: Kube, name: str) -> None:
    """Cancel a run by its document and wait until it is gone."""
    item = loop.object(name)
    file = loop.fleet.path / f"workspaces/red/{name}/tau.yaml"
    loop.fleet.commit({str(file.relative_to(loop.fleet.path)): file.read_text() + "cancelled: true\n"})
    loop.publish()
    loop.sync()
    runs.gone(kube, item)
