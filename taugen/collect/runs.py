"""Which attempt an object belongs to, and what is kept of the object.

In: an object of the API, as it came. Out: `Found`: whose it is, its events, whether it is over. That is all of it that stays in memory.
What must never happen: evidence of one workspace made from an object in another's namespace, whatever labels it carries.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from taugen.collect.api import Object, Resource
from taugen.collect.derive import event, job, jobset, node, pod, rayjob, shape, workload
from taugen.evidence.event import TERMINAL, Event
from taugen.evidence.paths import AttemptKey, RunKey

RUN, ATTEMPT, WORKSPACE = "taugen.dev/run", "taugen.dev/attempt", "taugen.dev/workspace"
JOBS = Resource("Job", "jobs", "batch", "v1", RUN)
JOBSETS = Resource("JobSet", "jobsets", "jobset.x-k8s.io", "v1alpha2", RUN, optional=True)
RAYJOBS = Resource("RayJob", "rayjobs", "ray.io", "v1", RUN, optional=True)
RAYCLUSTERS = Resource("RayCluster", "rayclusters", "ray.io", "v1", RUN, optional=True)
WORKLOADS = Resource("Workload", "workloads", "kueue.x-k8s.io", "v1beta2", optional=True)
PODS = Resource("Pod", "pods", "", "v1", RUN)
EVENTS = Resource("Event", "events", "", "v1")
NODES = Resource("Node", "nodes", "", "v1", namespaced=False)
NAMESPACED = (JOBS, JOBSETS, RAYJOBS, RAYCLUSTERS, WORKLOADS, PODS, EVENTS)
"""In the order in which they are listed: first what runs consist of, so that what is said of it later is at least as new."""
OWNERS = ("Job", "JobSet", "RayJob")
_PART = re.compile(r"(?P<name>[a-z][a-z0-9-]*-[0-9a-f]{8}-[1-9]\d{0,2})(?:-.*)?")
_PREFIX = re.compile(r"(?:job|jobset|rayjob)-")
"""What Kueue puts before a job's name in that of its Workload (Kueue jobframework, GetWorkloadNameForOwnerWithGVK)."""
_NAME = re.compile(r"(?P<run>[a-z][a-z0-9-]*-[0-9a-f]{8})-(?P<attempt>[1-9]\d{0,2})")


@dataclass(frozen=True, slots=True)
class Found:
    """What is kept of an object.

    `attempt` is None for an object of nobody's run; for a Kubernetes Event, it is what the name of the object says that it is about, and
    `about` is that object's uid, which decides where it is known. `by` is the uid of an object
    that an event of it names, and whose run is to be named too. `over`: a pod that ended, an object of a run that is terminal.
    `containers` are (name, started, finished) of a pod's; `node` is set for a node.
    """

    kind: str
    uid: str
    namespace: str
    name: str
    version: int
    attempt: AttemptKey | None
    events: tuple[Event, ...] = ()
    about: str = ""
    by: str = ""
    over: bool = False
    gone: str = ""
    containers: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Where:
    """A cluster, and the namespaces whose objects count: namespace -> workspace."""

    cluster: str
    namespaces: Mapping[str, str]

    def labelled(self, obj: Object) -> AttemptKey | None:
        """The attempt that an object's labels name, if it stands in that workspace's namespace."""
        labels = shape.mapping(obj, "metadata", "labels")
        name = f"{shape.text(labels, RUN)}-{shape.text(labels, ATTEMPT)}"
        workspace = self.namespaces.get(shape.text(obj, "metadata", "namespace"))
        return self._named(name, workspace) if workspace is not None and labels.get(WORKSPACE) == workspace else None

    def owned(self, obj: Object) -> AttemptKey | None:
        """The attempt whose object owns this one: its name says which."""
        found = shape.owner(obj)
        workspace = self.namespaces.get(shape.text(obj, "metadata", "namespace"))
        return self._named(shape.text(found, "name"), workspace) if found.get("kind") in OWNERS else None

    def mentioned(self, obj: Object) -> AttemptKey | None:
        """The attempt that the object which a Kubernetes Event is about belongs to by its name; Ray's pods may have lost the front of
        theirs."""
        name, kind = shape.text(obj, "involvedObject", "name"), shape.text(obj, "involvedObject", "kind")
        found = _PART.fullmatch(_PREFIX.sub("", name, count=1) if kind == "Workload" else name)
        workspace = self.namespaces.get(shape.text(obj, "involvedObject", "namespace"))
        return self._named(found["name"], workspace) if found is not None else None

    def _named(self, name: str, workspace: str | None) -> AttemptKey | None:
        found = _NAME.fullmatch(name)
        if found is None or workspace is None:
            return None
        return RunKey(self.cluster, workspace, found["run"]).attempt(int(found["attempt"]))


def reduce(obj: Object, where: Where, *, gone: bool = False) -> Found:
    """What is kept of an object; `gone`: it was deleted, and this is how it stood."""
    kind, uid = shape.text(obj, "kind"), shape.text(obj, "metadata", "uid")
    written = shape.text(obj, "metadata", "resourceVersion")
    attempt, events, over = _read(obj, kind, where, gone=gone)
    return Found(
        kind=kind,
        uid=uid,
        namespace=shape.text(obj, "metadata", "namespace"),
        name=shape.text(obj, "metadata", "name"),
        version=int(written) if written.isdecimal() else 0,
        attempt=attempt,
        events=tuple(one for one in events if one.time),
        about=event.about(obj) if kind == "Event" else "",
        by=next((shape.text(one.data, "by", "jobUid") for one in events if "by" in one.data), ""),
        over=over,
        gone=shape.vanished(obj) if gone else "",
        containers=tuple(pod.containers(obj)) if kind == "Pod" and attempt is not None else (),
    )


def _read(obj: Object, kind: str, where: Where, *, gone: bool) -> tuple[AttemptKey | None, list[Event], bool]:
    """(attempt, events, over)."""
    if kind == "Event":
        return where.mentioned(obj), list(event.derive(obj)), False
    if kind == "Node":
        return None, list(node.derive(obj)), False
    if kind in ("Workload", "RayCluster"):
        attempt = where.owned(obj)
        derive = workload.derive if kind == "Workload" else rayjob.cluster
        return attempt, list(derive(obj)) if attempt is not None else [], False
    attempt = where.labelled(obj)
    if attempt is None or (kind in OWNERS and shape.text(obj, "metadata", "name") != attempt.object):
        return None, [], False
    if kind == "Pod":
        return attempt, list(pod.derive(obj, gone=gone)), gone or pod.ended(obj)
    events = list({"Job": job, "JobSet": jobset, "RayJob": rayjob}[kind].derive(obj))
    return attempt, events, any(one.type in TERMINAL for one in events)
