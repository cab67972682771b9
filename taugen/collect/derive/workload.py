"""A Workload: what Kueue does with an attempt.

In: the object (kueue.x-k8s.io/v1beta1 or v1beta2). Out: queued, why not admitted, reserved, admitted, checks, ready, taken back and for
whom, queued again, given up. Reasons are told in the words of Kueue 0.18 and later, also where an older Kueue, or one with the gate
UnadmittedWorkloadsObservability off, says no more than `Pending` (Kueue workload_types.go).

Kueue changes a condition's message without changing its time: what an event holds is what was said first.
"""

import re
from collections.abc import Iterator

from taugen.collect.derive import shape
from taugen.collect.derive.shape import Obj
from taugen.evidence.event import Event, EventType
from taugen.words import Json

_OLD = ("Pending", "Inadmissible", "Waiting", "")
"""Reasons of QuotaReserved that leave it to the message to say why."""
_WORDS = (
    ("Misconfigured", ("doesn't exist", "is inactive", "is terminating", "not found", "didn't match")),
    ("Suspended", ("is stopped",)),
    ("WaitingForPodsReady", ("PodsReady", "pods to be ready")),
    ("ExceedsMaxQuota", ("> maximum capacity",)),
    ("WaitingForPreemptedWorkloads", ("Pending the preemption",)),
    ("WaitingForQuota", ("insufficient unused quota", "more needed")),
    ("TopologyPlacementFailed", ("topology ", "TopologyAwareScheduling", "requested level")),
    ("NoMatchingFlavor", ("untolerated taint", "doesn't match", "unavailable in ClusterQueue", "couldn't assign flavors")),
)
"""Reason, and what a message of Kueue's flavor assigner has in it then; the first that fits counts."""
_DEACTIVATED = "DeactivatedDueTo"
_GIVEN_UP = ("Deactivated", "InactiveWorkload", "WorkloadInactive", "RequeuingLimitExceeded", "MaximumExecutionTimeExceeded")
_BY = re.compile(r"\(UID: (?P<uid>[^,()\s]+)(?:, JobUID: (?P<job>[^,()\s]+))?")
_WHY = (
    ("InCohortReclaimWhileBorrowing", "reclamation within the cohort while borrowing"),
    ("InCohortReclamation", "reclamation within the cohort"),
    ("InCohortFairSharing", "Fair Sharing within the cohort"),
    ("InClusterQueue", "prioritization in the ClusterQueue"),
)


def derive(obj: Obj) -> Iterator[Event]:
    """The events that a Workload tells of."""
    uid, found = shape.text(obj, "metadata", "uid"), shape.conditions(obj)
    yield Event(EventType.QUEUED, shape.text(obj, "metadata", "creationTimestamp"), uid, _queued(obj))
    quota, admitted, ready = found.get("QuotaReserved"), found.get("Admitted"), found.get("PodsReady")
    admission = shape.mapping(obj, "status", "admission")
    if quota is not None and shape.true(quota):
        yield Event(EventType.RESERVED, shape.since(quota), uid, {"clusterQueue": shape.text(admission, "clusterQueue")})
    elif quota is not None and shape.at(obj, "spec", "active") is not False:
        message = shape.text(quota, "message")
        reason = waits(shape.text(quota, "reason"), message)
        yield Event(EventType.INADMISSIBLE, shape.since(quota), uid, {"reason": reason, "message": message}, reason)
    if admitted is not None and shape.true(admitted) and admission:
        yield Event(EventType.ADMITTED, shape.since(admitted), uid, _admitted(obj, admission))
    if ready is not None and shape.true(ready):
        yield Event(EventType.READY, shape.since(ready), uid)
    for check in shape.each(obj, "status", "admissionChecks"):
        name, state = shape.text(check, "name"), shape.text(check, "state")
        data: dict[str, Json] = {"name": name, "state": state, "message": shape.text(check, "message")}
        yield Event(EventType.CHECK, shape.since(check), uid, data, f"{name} {state}")
    yield from _taken(uid, found, obj)


def _queued(obj: Obj) -> dict[str, Json]:
    # v1beta1 has the priority class's name in a field of its own.
    tier = shape.text(obj, "spec", "priorityClassRef", "name") or shape.text(obj, "spec", "priorityClassName")
    name, queue = shape.text(obj, "metadata", "name"), shape.text(obj, "spec", "queueName")
    return {"workload": name, "queue": queue, "tier": tier, "priority": shape.whole(obj, "spec", "priority")}


def _admitted(obj: Obj, admission: dict[str, Json]) -> dict[str, Json]:
    """What was admitted. Which part of it is borrowed a Workload does not say."""
    sets: list[Json] = [
        {
            "name": shape.text(part, "name"),
            "count": shape.whole(part, "count"),
            "flavors": shape.at(part, "flavors"),
            "usage": shape.at(part, "resourceUsage"),
            "topology": shape.at(part, "topologyAssignment"),
        }
        for part in shape.each(admission, "podSetAssignments")
    ]
    checks: list[Json] = [*sorted(shape.text(check, "name") for check in shape.each(obj, "status", "admissionChecks"))]
    out: dict[str, Json] = {"clusterQueue": shape.text(admission, "clusterQueue"), "podSets": sets, "checks": checks, "borrowed": None}
    worker = shape.text(obj, "status", "clusterName")
    return out | ({"workerCluster": worker} if worker else {})


def waits(reason: str, message: str) -> str:
    """Why a Workload waits, in Kueue's newer words; the reason as given where no message is known to mean one of them."""
    if reason not in _OLD:
        return reason
    found = next((word for word, signs in _WORDS if any(sign in message for sign in signs)), "")
    return found or ("PendingEvaluation" if not message else reason or "Pending")


def _taken(uid: str, found: dict[str, dict[str, Json]], obj: Obj) -> Iterator[Event]:
    """Evictions: back to the queue, or for good."""
    evicted = found.get("Evicted")
    if evicted is not None and shape.true(evicted):
        reason, message, time = shape.text(evicted, "reason"), shape.text(evicted, "message"), shape.since(evicted)
        if reason.startswith(_DEACTIVATED) or reason in _GIVEN_UP:
            why = reason.removeprefix(_DEACTIVATED)
            # Before 0.9 the reason was the same for all, and the condition that asked for it told them apart.
            target = shape.text(found.get("DeactivationTarget") or {}, "reason")
            why = target if why in ("Deactivated", "InactiveWorkload", "WorkloadInactive") and target else why
            yield Event(EventType.DEACTIVATED, time, uid, {"reason": why, "message": message})
            return
        if reason == "Preempted":
            why = shape.text(found.get("Preempted") or {}, "reason") or preempted(message)
            yield Event(EventType.PREEMPTED, time, uid, {"reason": why, "message": message, "by": by(message)})
        else:
            yield Event(EventType.EVICTED, time, uid, {"reason": reason, "message": message})
    requeued = found.get("Requeued")
    if requeued is not None and shape.true(requeued):
        yield Event(EventType.REQUEUED, shape.since(requeued), uid, {"count": _count(obj)})


def _count(obj: Obj) -> Json:
    """How often it was taken back."""
    counts = [shape.whole(found, "count") or 0 for found in shape.each(obj, "status", "schedulingStats", "evictions")]
    return sum(counts) if counts else shape.whole(obj, "status", "requeueState", "count")


def preempted(message: str) -> str:
    """Why another Workload took its place, in the words of the condition Preempted, from the message alone."""
    return next((word for word, sign in _WHY if sign in message), "Preempted")


def by(message: str) -> dict[str, Json]:
    """Who took its place: uid of the Workload, jobUid of its Job, JobSet or RayJob, as far as the message tells."""
    found = _BY.search(message)
    if found is None:
        return {}
    return {"uid": found["uid"]} | ({"jobUid": found["job"]} if found["job"] and found["job"] != "UNKNOWN" else {})
