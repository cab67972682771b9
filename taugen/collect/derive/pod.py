"""A pod of an attempt.

In: the object, and whether it is gone. Out: that it runs, where and from which images; that it ended and how; that an index of a gang is
done. Fields are those of Kubernetes core/v1 (PodStatus, ContainerStatus, condition DisruptionTarget).
"""

from collections.abc import Iterator

from taugen.collect.derive import shape
from taugen.collect.derive.shape import Obj
from taugen.evidence.event import Event, EventType
from taugen.words import Json

INDEX = "batch.kubernetes.io/job-completion-index"
_RAY_ROLE = "ray.io/node-type"
_GROUP = "jobset.sigs.k8s.io/replicatedjob-name"
_RAY_SUBMITTER = "ray-job-submitter"
_MOST = 4096
"""Characters of a message; kubelet takes as many of a termination message (terminationMessagePath)."""


def derive(obj: Obj, *, gone: bool = False) -> Iterator[Event]:
    """The events that a pod tells of; `gone`: this is how it stood when it was deleted."""
    uid, time = shape.text(obj, "metadata", "uid"), started(obj)
    base: dict[str, Json] = {"pod": shape.text(obj, "metadata", "name"), "node": shape.text(obj, "spec", "nodeName") or None}
    base |= {"index": index(obj), "role": role(obj)}
    if time:
        yield Event(EventType.POD_STARTED, time, uid, {**base, "images": _images(obj)})
    phase = shape.text(obj, "status", "phase")
    if not ended(obj) and not gone:
        return
    end = _ended_at(obj, gone=gone)
    yield Event(EventType.POD_ENDED, end, uid, {**base, **_end(obj, phase)})
    if phase == "Succeeded" and base["index"] is not None:
        yield Event(EventType.INDEX_SUCCEEDED, end, uid, {"index": base["index"]}, str(base["index"]))


def ended(obj: Obj) -> bool:
    """Whether no container of the pod runs any more or ever will."""
    return shape.text(obj, "status", "phase") in ("Succeeded", "Failed")


def index(obj: Obj) -> int | None:
    """The index of a pod in its Indexed Job."""
    found = shape.text(obj, "metadata", "labels", INDEX) or shape.text(obj, "metadata", "annotations", INDEX)
    return int(found) if found.isdecimal() else None


def role(obj: Obj) -> str:
    """What the pod is for: head, worker or submitter of Ray, the group of a JobSet, else ``worker``."""
    labels = shape.mapping(obj, "metadata", "labels")
    if any(shape.text(found, "name") == _RAY_SUBMITTER for found in shape.each(obj, "spec", "containers")):
        return "submitter"
    return shape.text(labels, _RAY_ROLE) or shape.text(labels, _GROUP) or "worker"


def containers(obj: Obj) -> list[tuple[str, str, str]]:
    """(name, started, finished) of each container that has run, init containers first; `finished` is empty while it runs."""
    out = []
    for status in (*shape.each(obj, "status", "initContainerStatuses"), *shape.each(obj, "status", "containerStatuses")):
        begun = shape.text(status, "state", "running", "startedAt") or shape.text(status, "state", "terminated", "startedAt")
        if begun:
            out.append((shape.text(status, "name"), begun, shape.text(status, "state", "terminated", "finishedAt")))
    return out


def started(obj: Obj) -> str:
    """When the first container started, once all have: until then not every image has its digest."""
    times = []
    for status in shape.each(obj, "status", "containerStatuses"):
        running, over = shape.text(status, "state", "running", "startedAt"), shape.text(status, "state", "terminated", "startedAt")
        if not running and not over:
            return ""
        times.append(running or over)
    return min(times, default="")


def _images(obj: Obj) -> dict[str, Json]:
    return {shape.text(status, "name"): shape.text(status, "imageID") for status in shape.each(obj, "status", "containerStatuses")}


def _ended_at(obj: Obj, *, gone: bool) -> str:
    """When it ended: the last container's time, else that of the disruption, of the deletion, of its start."""
    statuses = shape.each(obj, "status", "containerStatuses")
    over = shape.newest(shape.text(status, "state", "terminated", "finishedAt") for status in statuses)
    disruption = shape.conditions(obj).get("DisruptionTarget")
    if over and (ended(obj) or not _running(obj)):
        return over
    told = shape.since(disruption) if disruption is not None and shape.true(disruption) else ""
    began = shape.text(obj, "status", "startTime") or shape.text(obj, "metadata", "creationTimestamp")
    return told or (shape.vanished(obj) if gone and not ended(obj) else "") or over or began


def _running(obj: Obj) -> bool:
    return any(shape.mapping(status, "state", "running") for status in shape.each(obj, "status", "containerStatuses"))


def _end(obj: Obj, phase: str) -> dict[str, Json]:
    codes: dict[str, Json] = {}
    oom, said = False, ""
    for status in (*shape.each(obj, "status", "initContainerStatuses"), *shape.each(obj, "status", "containerStatuses")):
        over = shape.mapping(status, "state", "terminated")
        code = shape.whole(over, "exitCode")
        if code is not None:
            codes[shape.text(status, "name")] = code
            oom = oom or shape.text(over, "reason") == "OOMKilled"
            said = said or (shape.text(over, "message") if code else "")
    disruption = shape.conditions(obj).get("DisruptionTarget")
    taken = shape.text(disruption, "reason") if disruption is not None and shape.true(disruption) else None
    message = shape.text(obj, "status", "message") or said or (shape.text(disruption or {}, "message") if taken else "")
    reason = shape.text(obj, "status", "reason")
    return {
        "phase": phase, "exitCodes": codes, "oom": oom, "reason": reason, "disruption": taken, "message": message[:_MOST],
    }  # fmt: skip
