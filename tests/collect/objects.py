"""Objects as a real API server gives them: shortened, with every field that the collector reads."""

from copy import deepcopy

RUN, NAMESPACE, WORKSPACE = "quickstart-a87f5b3c", "team-speech", "speech"
IMAGE = "registry.example/train@sha256:" + "a" * 64


def at(minute: float) -> str:
    """A time, in minutes since ten o'clock."""
    seconds = round(minute * 60)
    return f"2026-05-{4 + (10 * 3600 + seconds) // 86400:02}T{(10 + seconds // 3600) % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"


def labels(run: str = RUN, attempt: int = 1, workspace: str = WORKSPACE) -> dict:
    return {
        "app.kubernetes.io/managed-by": "taugen",
        "taugen.dev/run": run,
        "taugen.dev/attempt": str(attempt),
        "taugen.dev/workspace": workspace,
    }


def condition(kind: str, status: str, minute: float, reason: str = "", message: str = "") -> dict:
    return {"type": kind, "status": status, "lastTransitionTime": at(minute), "reason": reason, "message": message}


def meta(name: str, uid: str, minute: float, namespace: str = NAMESPACE, **more) -> dict:
    return {"name": name, "namespace": namespace, "uid": uid, "creationTimestamp": at(minute), **more}


def job(name=f"{RUN}-1", uid="j-1", minute=0.0, run=RUN, attempt=1, namespace=NAMESPACE, workspace=WORKSPACE, **status) -> dict:
    spec = {"template": {"spec": {"containers": [{"name": "main", "image": "registry.example/train:1"}]}}, "completionMode": "Indexed"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": meta(name, uid, minute, namespace, labels=labels(run, attempt, workspace), generation=1),
        "spec": spec,
        "status": status,
    }


def workload(name="job-x", uid="w-1", owner=f"{RUN}-1", owner_uid="j-1", minute=1.0, kind="Job", namespace=NAMESPACE, **status) -> dict:
    refs = [{"apiVersion": "batch/v1", "kind": kind, "name": owner, "uid": owner_uid, "controller": True}]
    spec = {
        "active": True,
        "queueName": "train",
        "priority": 100,
        "priorityClassRef": {"kind": "WorkloadPriorityClass", "name": "standard"},
    }
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": meta(name, uid, minute, namespace, ownerReferences=refs),
        "spec": spec,
        "status": status,
    }


ADMISSION = {
    "clusterQueue": "training",
    "podSetAssignments": [
        {"name": "main", "count": 2, "flavors": {"cpu": "cpu", "nvidia.com/gpu": "h100"}, "resourceUsage": {"nvidia.com/gpu": "16"}}
    ],
}


def pod(name=f"{RUN}-1-0-abcde", uid="p-1", minute=3.0, index=0, run=RUN, attempt=1, namespace=NAMESPACE, workspace=WORKSPACE, **status):
    own = labels(run, attempt, workspace) | ({"batch.kubernetes.io/job-completion-index": str(index)} if index is not None else {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta(name, uid, minute, namespace, labels=own),
        "spec": {"nodeName": "gpu-1", "containers": [{"name": "main", "image": "registry.example/train:1"}]},
        "status": {"phase": "Pending", **status},
    }


def cluster_queue(name="training", cohort="") -> dict:
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": name, "uid": f"q-{name}", "creationTimestamp": at(0)},
        "spec": {"resourceGroups": []} | ({"cohortName": cohort} if cohort else {}),
    }


def running(minute: float, name="main") -> dict:
    return {"name": name, "imageID": IMAGE, "state": {"running": {"startedAt": at(minute)}}}


def over(began: float, ended: float, code=0, reason="", message="", name="main") -> dict:
    state = {"startedAt": at(began), "finishedAt": at(ended), "exitCode": code, "reason": reason or ("Error" if code else "Completed")}
    return {"name": name, "imageID": IMAGE, "state": {"terminated": state | {"message": message}}}


def note(
    name="n-1", about="j-1", kind="Job", about_name=f"{RUN}-1", minute=1.0, reason="Suspended", message="Job suspended", namespace=NAMESPACE
):
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": meta(name, f"e-{name}", minute, namespace),
        "involvedObject": {"kind": kind, "name": about_name, "namespace": namespace, "uid": about},
        "reason": reason,
        "message": message,
        "source": {"component": "job-controller"},
        "firstTimestamp": at(minute),
        "lastTimestamp": at(minute + 5),
        "count": 7,
    }


def changed(obj: dict, **status) -> dict:
    """The object with another status."""
    out = deepcopy(obj)
    out["status"] = {**out["status"], **status}
    return out
