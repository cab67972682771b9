"""How a run's object stands on a plane: its Workload, its pods and their nodes, its end.

In: a manifest that was applied. Out: what Kueue and the job's controller say of it, waited for by watching.
"""

import time

from tests.e2e.kube import Kube, Object, TimedOut, condition, holds
from tests.e2e.processes import say

WORKLOAD = "kueue.x-k8s.io/v1beta2/Workload"


def kind(item: Object) -> str:
    """`group/version/Kind` of a manifest."""
    return f"{item['apiVersion']}/{item['kind']}"


def live(kube: Kube, item: Object) -> Object | None:
    """The object as it stands in the cluster."""
    return kube.get(kind(item), item["metadata"]["name"], item["metadata"]["namespace"])


def workload(kube: Kube, item: Object, seconds: float = 60) -> Object:
    """The Workload that Kueue made for a run's object. Raises TimedOut."""
    end = time.monotonic() + seconds
    said = False
    while time.monotonic() < end:
        owner = live(kube, item)
        for found in kube.list(WORKLOAD, item["metadata"]["namespace"]):
            if owner and any(ref["uid"] == owner["metadata"]["uid"] for ref in found["metadata"].get("ownerReferences", ())):
                return found
        if not said:
            said = True
            say(f"waiting for the Workload of {item['metadata']['name']} (at most {seconds:.0f} s)")
        time.sleep(0.2)  # no watch finds a name that isn't known yet
    raise TimedOut(f"Kueue made no Workload for {item['kind']} {item['metadata']['name']} in {seconds:.0f} s")


def admitted(kube: Kube, item: Object, seconds: float = 60) -> Object:
    """The Workload once it is admitted."""
    return _until(kube, item, lambda found: holds(found, "Admitted"), "Admitted", seconds)


def waiting(kube: Kube, item: Object, seconds: float = 60) -> str:
    """Why a Workload is not admitted, in Kueue's words, once it said so."""
    found = _until(kube, item, lambda found: holds(found, "QuotaReserved", "False"), "QuotaReserved=False", seconds)
    return str(condition(found, "QuotaReserved")["message"])


def evicted(kube: Kube, item: Object, reason: str, seconds: float = 60) -> str:
    """The message of an eviction for a reason."""

    def told(found: Object | None) -> bool:
        return any(
            entry["reason"] == reason for entry in ((found or {}).get("status", {}).get("schedulingStats") or {}).get("evictions", ())
        )

    found = _until(kube, item, told, f"evicted: {reason}", seconds)
    return str(condition(found, "Evicted").get("message", ""))


def finished(kube: Kube, item: Object, seconds: float = 90) -> str:
    """The message of the Workload's Finished condition."""
    found = _until(kube, item, lambda found: holds(found, "Finished"), "Finished", seconds)
    return str(condition(found, "Finished")["message"])


def finish(kube: Kube, item: Object, seconds: float = 90) -> None:
    """End the pods of a Job or JobSet as they come up, as if its program had come to its end, until Kueue knows. Raises TimedOut."""
    found = workload(kube, item, seconds)
    until = time.monotonic() + seconds
    while not holds(kube.get(WORKLOAD, found["metadata"]["name"], item["metadata"]["namespace"]), "Finished"):
        if time.monotonic() > until:
            raise TimedOut(f"after {seconds:.0f} s {item['kind']} {item['metadata']['name']} is not finished, though its pods were ended")
        for pod in pods(kube, item):
            if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]:
                end(kube, pod, 0)
        time.sleep(0.3)


def flavors(found: Object) -> dict[str, set[str]]:
    """Flavors of each pod set of an admitted Workload."""
    assignments = found["status"]["admission"]["podSetAssignments"]
    return {entry["name"]: set(entry.get("flavors", {}).values()) for entry in assignments}


def pods(kube: Kube, item: Object) -> list[Object]:
    """The pods of a run."""
    labels = {"taugen.dev/run": item["metadata"]["labels"]["taugen.dev/run"]}
    return kube.list("v1/Pod", item["metadata"]["namespace"], labels)


def running(kube: Kube, item: Object, count: int, seconds: float = 60) -> list[Object]:
    """The run's pods, once `count` of them are on nodes."""
    end = time.monotonic() + seconds
    while True:
        placed = [pod for pod in pods(kube, item) if pod["spec"].get("nodeName") and pod["status"]["phase"] in {"Running", "Succeeded"}]
        if len(placed) >= count:
            return placed
        if time.monotonic() > end:
            stand = {
                pod["metadata"]["name"]: condition(pod, "PodScheduled").get("message", pod["status"]["phase"]) for pod in pods(kube, item)
            }
            raise TimedOut(f"waited {seconds:.0f} s for {count} pods of {item['metadata']['name']}: {stand}")
        time.sleep(0.3)


def end(kube: Kube, pod: Object, code: int, reason: str = "", *, lost: bool = False) -> None:
    """A pod's container ends with a code, as a kubelet would tell it; `lost`: with its node, as the pod collector would."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    ended = {"exitCode": code, "reason": reason or ("Error" if code else "Completed"), "finishedAt": now}
    container = {"name": pod["spec"]["containers"][0]["name"], "image": "", "imageID": "", "ready": False, "restartCount": 0}
    status: Object = {"phase": "Failed" if code else "Succeeded", "containerStatuses": [container | {"state": {"terminated": ended}}]}
    if lost:
        why = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByPodGC",
            "message": "node is gone",
            "lastTransitionTime": now,
        }
        status["conditions"] = [why]
    kube.patch("v1/Pod", pod["metadata"]["name"], pod["metadata"]["namespace"], {"status": status}, "status")


def _until(kube: Kube, item: Object, holds_of, what: str, seconds: float) -> Object:  # type: ignore[no-untyped-def]
    name = workload(kube, item, seconds)["metadata"]["name"]
    found = kube.until(WORKLOAD, name, item["metadata"]["namespace"], holds_of, what, seconds)
    assert found
    return found


def gone(kube: Kube, item: Object) -> None:
    """Wait until an object is pruned and its pods are gone."""
    kube.until(kind(item), item["metadata"]["name"], item["metadata"]["namespace"], lambda found: found is None, "pruned")
    until_no_pods(kube, item)


def until_no_pods(kube: Kube, item: Object, but: tuple[str, ...] = (), seconds: float = 60) -> None:
    """Wait until no pod of a run is left, except those in the phases `but`."""
    end = time.monotonic() + seconds
    while left := [pod["metadata"]["name"] for pod in pods(kube, item) if pod["status"]["phase"] not in but]:
        if time.monotonic() > end:
            raise TimedOut(f"after {seconds:.0f} s there are still pods: {left}")
        time.sleep(0.3)


def until_no_pods_but_the_submitter(kube: Kube, item: Object) -> None:
    """Wait until the cluster of a finished RayJob is gone: head and workers run until then, the submitter stays with its log."""
    until_no_pods(kube, item, ("Succeeded", "Failed"))


def complaint(kube: Kube, item: Object, reason: str, seconds: float = 60) -> str:
    """The message of an event about a run's object."""
    uid = (live(kube, item) or {}).get("metadata", {}).get("uid")
    end = time.monotonic() + seconds
    while True:
        for event in kube.list("v1/Event", item["metadata"]["namespace"]):
            if event["involvedObject"].get("uid") == uid and event["reason"] == reason:
                return str(event["message"])
        if time.monotonic() > end:
            raise TimedOut(f"waited {seconds:.0f} s for an event {reason} about {item['kind']} {item['metadata']['name']}")
        time.sleep(0.3)
