"""One thing that happened to an attempt.

In: what an object of the Kubernetes API says. Out: a file's name and bytes, and back. An event is a function of the API's objects alone:
its time is the API's, its name follows from (object uid, type, time, what tells it apart), so that whoever writes it, whenever, writes the
same file. What must never happen: a time of the collector's own clock, a fact that changes after the event can first be seen.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256

from taugen.evidence.paths import AttemptKey, stamp
from taugen.words import Json, canonical
from taugen.words.canonical import jcs

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z", re.ASCII)
API_VERSION = "taugen.dev/evidence.v1"


class EventType(StrEnum):
    """What can happen to an attempt; the values stand in file names."""

    SUBMITTED = "submitted"
    """The Job, JobSet or RayJob was created. data: object {uid, kind, name, namespace, generation}, image, runtime
    {envNames, envDigest, secrets (names), command, resumeFrom}."""
    QUEUED = "queued"
    """Kueue made a Workload. data: workload, queue (LocalQueue), tier, priority."""
    INADMISSIBLE = "inadmissible"
    """Kueue says why it can't be admitted now. data: reason, message; apart: reason."""
    RESERVED = "reserved"
    """Quota is reserved. data: clusterQueue."""
    ADMITTED = "admitted"
    """Kueue admitted it. data: clusterQueue, podSets [{name, count, flavors {resource: flavor}, usage, topology}], checks, borrowed."""
    READY = "ready"
    """All pods are ready (condition PodsReady)."""
    PREEMPTED = "preempted"
    """Kueue took it back for another Workload. data: reason, message, by {uid, jobUid, workspace, run}."""
    EVICTED = "evicted"
    """Kueue took it back for another reason. data: reason, message."""
    REQUEUED = "requeued"
    """It stands in the queue again. data: count."""
    CHECK = "check"
    """An admission check changed. data: name, state, message; apart: name, state."""
    POD_STARTED = "pod-started"
    """A pod's first container runs. data: pod, node, index (of an Indexed Job, else null), role, images {container: id as pulled}."""
    POD_ENDED = "pod-ended"
    """A pod ended. data: pod, node, index, role, phase, exitCodes {container: code}, oom, reason, disruption (reason of DisruptionTarget,
    or null), message."""
    INDEX_SUCCEEDED = "index-succeeded"
    """An index of a gang is done. data: index; apart: index."""
    RAY = "ray"
    """A RayJob's or RayCluster's own state changed. data: jobStatus, deploymentStatus, reason, message; apart: both states."""
    NOTE = "note"
    """A Kubernetes Event about an object of the attempt. data: kind, name, reason, message, source; uid is that of the Event."""
    SUCCEEDED = "succeeded"
    """The object says that it succeeded."""
    FAILED = "failed"
    """The object says that it failed. data: reason, message."""
    DEACTIVATED = "deactivated"
    """Kueue gave it up for good. data: reason (RequeuingLimitExceeded, MaximumExecutionTimeExceeded, AdmissionCheck, …), message."""
    INVALID = "validation-failed"
    """The operator refused the object. data: reason, message."""
    CANCELLED = "cancelled"
    """The object is gone, and the deploy branch says that it should be. data: by (trailer of the commit that said so)."""
    SUPERSEDED = "superseded"
    """The object is gone, and the deploy branch has a later attempt. data: by (number of that attempt)."""
    DELETED = "deleted"
    """The object is gone though the deploy branch has it."""
    NODE = "node"
    """Of no attempt: a condition of a node's health changed. data: node, condition, status, reason, message; apart: condition, status."""


_TYPES = {str(kind): kind for kind in EventType}
TERMINAL = frozenset(
    {
        EventType.SUCCEEDED,
        EventType.FAILED,
        EventType.DEACTIVATED,
        EventType.INVALID,
        EventType.CANCELLED,
        EventType.SUPERSEDED,
    }
)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. `time` is RFC 3339 in UTC, as the API gave it; `uid` is that of the object which says so; `apart` tells
    events of one object, type and second apart."""

    type: EventType
    time: str
    uid: str
    data: Mapping[str, Json] = field(default_factory=dict)
    apart: str = ""

    @property
    def key(self) -> str:
        """16 hex digits by which the same event has the same file, whoever writes it."""
        return sha256("\0".join((self.uid, self.type, self.time, self.apart)).encode()).hexdigest()[:16]

    @property
    def order(self) -> tuple[str, str, str]:
        """By time, then by type and key: an order that does not depend on who saw what first."""
        return self.time, self.type, self.key

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{stamp(self.time)}-{self.type}-{self.key}.json"

    def path(self, attempt: AttemptKey) -> str:
        """Where it stands."""
        return f"{attempt.folder}/events/{self.name}"

    def path_of_node(self, cluster: str) -> str:
        """Where an event of a node stands, by day."""
        stamped = stamp(self.time)
        return f"{cluster}/nodes/{stamped[:4]}/{stamped[4:6]}/{stamped[6:8]}/{stamped}-{self.type}-{self.key}.json"

    def content(self) -> bytes:
        """Its file: canonical JSON and a line end. Raises CanonicalError for data that JSON can't hold."""
        body: dict[str, Json] = {"apiVersion": API_VERSION, "type": str(self.type), "time": self.time, "uid": self.uid}
        if self.apart:
            body["apart"] = self.apart
        return jcs({**body, "data": dict(self.data)}) + b"\n"


def proven(content: bytes) -> Event | None:
    """The event in a file's bytes; None unless they are exactly what `Event.content` makes of it."""
    try:
        body = canonical.read(content.removesuffix(b"\n"))
    except (ValueError, RecursionError):
        return None
    found = _of(body)
    if found is None or not isinstance(body, dict) or not content.endswith(b"\n") or len(body) != 5 + bool(found.apart):
        return None
    return found


def read(content: bytes) -> Event | None:
    """The event in a file's bytes; None if they are none that this version knows."""
    try:
        return _of(json.loads(content))
    except (ValueError, RecursionError):
        return None


@lru_cache(maxsize=1 << 12)
def _is_time(text: str) -> bool:
    """Whether a text is a time as the API writes it: readers count with it."""
    try:
        return _TIME.fullmatch(text) is not None and datetime.fromisoformat(text) is not None
    except ValueError:
        return False


def _of(body: Json) -> Event | None:
    if not isinstance(body, dict) or body.get("apiVersion") != API_VERSION:
        return None
    kind, data, time, uid, apart = (body.get(name) for name in ("type", "data", "time", "uid", "apart"))
    apart = "" if apart is None else apart
    if not isinstance(data, dict) or not isinstance(time, str) or not isinstance(uid, str) or not isinstance(apart, str):
        return None
    if not _is_time(time):
        return None
    known = _TYPES.get(kind) if isinstance(kind, str) else None
    return Event(known, time, uid, data, apart) if known is not None else None
