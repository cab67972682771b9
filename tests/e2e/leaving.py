"""What leaves, in sync: what has to hold under Flux and under Argo CD alike.

In: a loop. Out: assertions, played by test_flux.py and test_argocd.py.
"""

import yaml

from tests.e2e import runs
from tests.e2e.kube import Kube, Object
from tests.e2e.loop import ArgoLoop, FluxLoop

Sync = FluxLoop | ArgoLoop
LOCAL_QUEUE, CLUSTER_QUEUE = "kueue.x-k8s.io/v1beta2/LocalQueue", "kueue.x-k8s.io/v1beta2/ClusterQueue"
GREEN = """apiVersion: taugen.dev/v1alpha1
kind: Workspace
metadata: {name: green}
spec:
  namespace: lab-green
  owners: {groups: [green-leads]}
  queues: [{name: steady, queue: steady, default: true}]
  profiles: [cpu]
  storage: [archive]
---
apiVersion: taugen.dev/v1alpha1
kind: Storage
metadata: {name: archive}
spec:
  claim: {storageClass: slow, size: 1Ti, accessModes: [ReadWriteMany]}
  path: /archive
  workspaces: [green]
"""


def uid(item: Object | None) -> str:
    """Of an object that has to be there."""
    assert item
    return str(item["metadata"]["uid"])


def a_last_run(loop: Sync, kube: Kube) -> None:
    """A workspace whose only run leaves stays in sync."""
    loop.write("only", workspace="blue")
    loop.publish()
    loop.sync()
    item = loop.object("only", "blue")
    runs.finished(kube, item)
    loop.fleet.commit({"workspaces/blue/only/tau.yaml": None, "workspaces/blue/only/hello.py": None})
    loop.publish("--allow-cancel", "blue/only")
    loop.sync()
    runs.gone(kube, item)


def a_workspace(loop: Sync, kube: Kube) -> None:
    """Its queues and rights go, its namespace and its claims never, with all that is in them."""
    loop.fleet.commit({"policy/green.yaml": GREEN}, "green comes")
    loop.publish()
    loop.sync()
    before = [uid(kube.get("v1/Namespace", "lab-green")), uid(kube.get("v1/PersistentVolumeClaim", "archive", "lab-green"))]
    assert kube.list(LOCAL_QUEUE, "lab-green")
    note = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "by-hand", "namespace": "lab-green"}}
    kube.apply(note)
    loop.fleet.commit({"policy/green.yaml": None}, "green leaves")
    loop.publish()
    loop.sync()
    kube.until(LOCAL_QUEUE, "steady", "lab-green", lambda item: item is None, "pruned", 90)
    loop.reconcile()
    assert [uid(kube.get("v1/Namespace", "lab-green")), uid(kube.get("v1/PersistentVolumeClaim", "archive", "lab-green"))] == before
    assert kube.get("v1/ConfigMap", "by-hand", "lab-green")
    assert not (kube.get("v1/Namespace", "lab-green") or {})["metadata"].get("deletionTimestamp")


def a_queue_in_use(loop: Sync, kube: Kube) -> None:
    """It stays for as long as a run lives in it: publish says so and holds it back."""
    loop.write("in-burst", profile="t4", seconds=900, policy={"queue": "burst"})
    loop.publish()
    loop.sync()
    item = loop.object("in-burst")
    runs.running(kube, item, 1)
    before = uid(runs.live(kube, item)), uid(kube.get(CLUSTER_QUEUE, "burst"))
    policy = {
        f"policy/{name}.yaml": (loop.fleet.path / f"policy/{name}.yaml").read_text(encoding="utf-8")
        for name in ("queues", "workspaces", "profiles")
    }
    loop.fleet.commit({name: without_burst(text) for name, text in policy.items()}, "burst leaves")
    said = loop.publish(fails=4)
    assert "burst" in said
    assert "in-burst" in said
    loop.sync()
    assert (uid(runs.live(kube, item)), uid(kube.get(CLUSTER_QUEUE, "burst"))) == before
    loop.fleet.commit({"workspaces/red/in-burst/tau.yaml": None, "workspaces/red/in-burst/hello.py": None}, "the run leaves")
    loop.publish("--allow-cancel", "red/in-burst")
    loop.sync()
    kube.until(CLUSTER_QUEUE, "burst", "", lambda queue: queue is None, "pruned", 90)
    loop.fleet.commit(dict(policy), "burst comes back")
    loop.publish()
    loop.sync()


def without_burst(text: str) -> str:
    """Documents of policy that don't know the queue burst."""
    kept = []
    for item in yaml.safe_load_all(text):
        if item["kind"] == "Queue" and item["metadata"]["name"] == "burst":
            continue
        if item["kind"] == "Workspace":
            item["spec"]["queues"] = [queue for queue in item["spec"]["queues"] if queue["queue"] != "burst"]
        if item["kind"] == "Profile":
            item["spec"]["override"].pop("queue", None)
        kept.append(item)
    return yaml.safe_dump_all(kept, sort_keys=False)
