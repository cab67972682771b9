"""A RayJob, and the RayCluster that KubeRay makes for it.

In: the object. Out: that it was submitted, its two states and how it ended. A RayJob has no conditions: its times are those in its status
(KubeRay rayjob_types.go), and where a state has none, the one that the API server noted at the last write of the status, which is the last
of all for a state that nothing follows.
"""

from collections.abc import Iterator

from taugen.collect.derive import job, shape
from taugen.collect.derive.shape import Obj
from taugen.evidence.event import Event, EventType
from taugen.words import Json

_OVER = ("Complete", "Failed", "ValidationFailed")
_LOST = ("FAILED", "STOPPED")


def derive(obj: Obj) -> Iterator[Event]:
    """The events that a RayJob tells of."""
    head = shape.mapping(obj, "spec", "rayClusterSpec", "headGroupSpec", "template", "spec")
    yield job.submitted(obj, head)
    uid = shape.text(obj, "metadata", "uid")
    status, stage = shape.text(obj, "status", "jobStatus"), shape.text(obj, "status", "jobDeploymentStatus")
    if not status and not stage:
        return
    time = _time(obj, stage)
    data: dict[str, Json] = {"reason": shape.text(obj, "status", "reason"), "message": shape.text(obj, "status", "message")}
    yield Event(EventType.RAY, time, uid, {**data, "jobStatus": status, "deploymentStatus": stage}, f"{status} {stage}")
    if stage == "ValidationFailed":
        yield Event(EventType.INVALID, time, uid, data)
    elif stage == "Failed" or (stage == "Complete" and status in _LOST):
        yield Event(EventType.FAILED, time, uid, data)
    elif stage == "Complete" and status == "SUCCEEDED":
        yield Event(EventType.SUCCEEDED, time, uid)


def _time(obj: Obj, stage: str) -> str:
    created = shape.text(obj, "metadata", "creationTimestamp")
    if stage not in _OVER:
        return shape.text(obj, "status", "startTime") or created
    wrote = (shape.text(entry, "time") for entry in shape.each(obj, "metadata", "managedFields") if entry.get("subresource") == "status")
    return shape.text(obj, "status", "endTime") or shape.newest(wrote) or created


def cluster(obj: Obj) -> Iterator[Event]:
    """The events that a RayCluster tells of: what keeps its pods from being made, and when all are up (its conditions)."""
    uid, found = shape.text(obj, "metadata", "uid"), shape.conditions(obj)
    for kind in ("ReplicaFailure", "RayClusterProvisioned"):
        condition = found.get(kind)
        if condition is not None and shape.true(condition):
            data: dict[str, Json] = {"jobStatus": "", "deploymentStatus": kind, "reason": shape.text(condition, "reason")}
            data["message"] = shape.text(condition, "message")
            yield Event(EventType.RAY, shape.since(condition), uid, data, kind)
