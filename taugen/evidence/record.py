"""The record of an attempt that ended: everything that is known of it, in one file.

In: what the run was meant to be, the attempt's events, what was read besides (`Extras`). Out: the record, canonical JSON. A pure fold:
equal sets of events give equal bytes, in whatever order and however often they come. `verified` names what the collector saw itself, in
objects of the API or in storage; all else was declared by somebody. What must never happen: a fact that is not in what came in.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from taugen.evidence import history, sums
from taugen.evidence.event import API_VERSION, Event, EventType
from taugen.evidence.history import History
from taugen.evidence.paths import AttemptKey
from taugen.words import Json, at
from taugen.words.canonical import jcs

if TYPE_CHECKING:
    from taugen.evidence.store import Checkpoint

Obj = Mapping[str, Json]
_SEEN = (
    "admission", "checkpoints", "execution", "interruptions", "logs", "metrics.samples", "platform.kubernetes", "runtime.command",
    "runtime.env", "runtime.imageDigests", "runtime.secrets", "usage",
)  # fmt: skip
"""What the collector verifies, where there is any of it."""
_RECLAIMED = ("InCohortReclamation", "InCohortReclaimWhileBorrowing", "InCohortFairSharing")
"""Reasons of Kueue's condition Preempted, for Workloads of another queue."""


@dataclass(frozen=True, slots=True)
class Extras:
    """What stands beside the events: complete checkpoints; `metrics` with `rows` of the program's history and `samples` of Prometheus;
    `logs` [{path, sha256, bytes, redactions}]; versions of the platform by name, with those that policy declares below `declared`; the
    cohort of each ClusterQueue, empty for one without, None where nobody could look; prices of a GPU hour by flavor; the collector's
    version; what could not be captured (what, why); the prediction made before."""

    checkpoints: Sequence["Checkpoint"] = ()
    metrics: Obj = field(default_factory=dict)
    logs: Sequence[Obj] = ()
    platform: Obj = field(default_factory=dict)
    prices: Mapping[str, float] = field(default_factory=dict)
    collector: str = ""
    missing: Sequence[tuple[str, str]] = ()
    prediction: Obj | None = None
    cohorts: Mapping[str, str] | None = None


def build(attempt: AttemptKey, intent: Obj, events: Iterable[Event], extras: Extras) -> dict[str, Json]:
    """The record. Equal inputs give equal records, whatever the order and number of the events, the checkpoints and the logs."""
    happened = history.order(events)
    past = history.fold(happened)
    checkpoints = sorted(set(extras.checkpoints), key=lambda c: (c.step, c.uri, c.digest or "", c.bytes, c.marker))
    metrics = sums.metrics(extras.metrics)
    usage, unknown = sums.usage(happened, past, checkpoints, extras)
    borrowed, unsaid = _borrowed(happened, past, extras.cohorts)
    lost = {*extras.missing, *unknown, *unsaid, *_unseen(happened, past, extras)}
    runtime, execution = _runtime(intent, happened), _execution(happened, past)
    record: dict[str, Json] = {
        "apiVersion": API_VERSION,
        "kind": "RunAttempt",
        "id": _identity(attempt, intent, happened),
        "intent": _intent(intent),
        "code": {"commit": _part(intent, "intent").get("commit"), "digest": _part(intent, "intent").get("code")},
        "runtime": runtime,
        "inputs": _declared(intent.get("datasets")),
        "request": _request(intent),
        "prediction": dict(extras.prediction) if extras.prediction is not None else intent.get("prediction"),
        "platform": dict(extras.platform),
        "admission": {**_admission(happened, past), "borrowed": borrowed},
        "interruptions": _interruptions(past),
        "execution": execution,
        "metrics": metrics,
        "usage": usage,
        "checkpoints": [one.line() for one in checkpoints],
        "logs": [dict(one) for one in sorted(extras.logs, key=lambda one: str(one.get("path")))],
        "completeness": {"complete": not lost, "missing": [{"what": what, "why": why} for what, why in sorted(lost)]},
        "collector": {"cluster": attempt.of.cluster, "version": extras.collector},
    }
    return {**record, "verified": [path for path in _SEEN if _at(record, path)]}


def content(record: Mapping[str, Json]) -> bytes:
    """The file: canonical JSON and a line end. Raises CanonicalError for data that JSON can't hold."""
    return jcs(dict(record)) + b"\n"


def _at(record: Mapping[str, Json], path: str) -> Json:
    return at(dict(record), *path.split("."))


def _part(said: Obj, name: str) -> dict[str, Json]:
    value = said.get(name)
    return value if isinstance(value, dict) else {}


def _of(events: Iterable[Event], *kinds: EventType) -> list[Event]:
    return [event for event in events if event.type in kinds]


def _identity(attempt: AttemptKey, intent: Obj, happened: Sequence[Event]) -> dict[str, Json]:
    thing = _thing(happened)
    durable = "/".join((attempt.of.cluster, str(thing.get("namespace") or ""), str(thing.get("uid") or "")))
    return {
        "run": intent.get("run") if isinstance(intent.get("run"), str) else f"{attempt.of.workspace}/{attempt.of.run}",
        "cluster": attempt.of.cluster,
        "workspace": attempt.of.workspace,
        "object": attempt.object,
        "attempt": attempt.number,
        "parent": attempt.number - 1 or None,
        "durable": durable if thing.get("uid") else None,
        "events": len(happened),
        "lastEvent": {"key": happened[-1].key, "time": happened[-1].time} if happened else None,
    }


def _intent(intent: Obj) -> dict[str, Json]:
    said = _part(intent, "intent")
    names = {"commit": "commit", "path": "source", "digest": "digest", "code": "code", "policy": "policy", "compiler": "compiler"}
    names |= {name: name for name in ("repository", "rendered", "author", "approver", "pullRequest")}
    return {name: said.get(key) for name, key in names.items()} | {
        name: value for name in ("experiment", "resilience", "model") if (value := intent.get(name)) is not None
    }


def _runtime(intent: Obj, happened: Iterable[Event]) -> dict[str, Json]:
    request, started = _part(intent, "request"), _started(happened)
    pulled: dict[str, set[str]] = {}
    images: list[Json] = []
    for event in happened:
        for container, image in _part(event.data, "images").items():
            pulled.setdefault(container, set()).add(str(image))
        images += [event.data["image"]] if event.type is EventType.SUBMITTED and event.data.get("image") else []
    return {
        "image": images[0] if images else request.get("image"),
        "imageDigests": {container: [*sorted(found)] for container, found in sorted(pulled.items())},
        "env": {"names": started.get("envNames"), "digest": started.get("envDigest")},
        "secrets": started.get("secrets"),
        "seed": _part(intent, "experiment").get("seed"),
        "command": started.get("command"),
    }


def _started(happened: Iterable[Event]) -> dict[str, Json]:
    """What the newest object of the attempt starts its program with."""
    found = [_part(event.data, "runtime") for event in happened if event.type is EventType.SUBMITTED]
    return found[-1] if found else {}


def _declared(inputs: Json) -> list[Json]:
    """Datasets as the document names them: nobody looked at them."""
    listed = inputs if isinstance(inputs, list) else []
    return [{**one, "verified": False} if isinstance(one, dict) else {"uri": one, "verified": False} for one in listed]


def _request(intent: Obj) -> dict[str, Json]:
    named = {name: intent[name] for name in ("output", "mounts", "checkpoint") if intent.get(name) is not None}
    return {**_part(intent, "request"), **named}


def _thing(happened: Iterable[Event]) -> dict[str, Json]:
    submitted = _of(happened, EventType.SUBMITTED)
    return _part(submitted[0].data, "object") if submitted else {}


def _admission(happened: Sequence[Event], past: History | None) -> dict[str, Json]:
    queued = _of(happened, EventType.QUEUED)
    admitted = _of(happened, EventType.ADMITTED)
    first = {kind: (found[0].time if (found := _of(happened, kind)) else None) for kind in (EventType.RESERVED, EventType.READY)}
    last: Obj = admitted[-1].data if admitted else {}
    waits = [{"time": event.time, "reason": event.data.get("reason")} for event in _of(happened, EventType.INADMISSIBLE)]
    checks: list[Json] = [{**dict(event.data), "time": event.time} for event in _of(happened, EventType.CHECK)]
    told: Obj = queued[0].data if queued else {}
    return {name: told.get(name) for name in ("workload", "queue", "tier", "priority")} | {
        "clusterQueue": last.get("clusterQueue"),
        "podSets": last.get("podSets") or [],
        "workerCluster": last.get("workerCluster"),
        "checks": checks,
        "waits": [*waits],
        "queued": past.queued if past is not None else None,
        "reserved": first[EventType.RESERVED],
        "admitted": past.admitted if past is not None else None,
        "ready": first[EventType.READY],
        "admissions": [event.time for event in admitted],
    }


def _borrowed(
    happened: Iterable[Event], past: History | None, cohorts: Mapping[str, str] | None
) -> tuple[Json, list[tuple[str, str]]]:
    """Whether it ran on quota of others, and what of that can't be known. A Workload does not say it (Kueue's Admission has no such field),
    and a ClusterQueue only of all its Workloads together. A queue without a cohort has nobody to borrow from; who is preempted for quota of
    the cohort had borrowed it (Kueue preemption: only Workloads of queues above their nominal quota are taken back for another queue)."""
    admitted = _of(happened, EventType.ADMITTED)
    queues = {str(event.data.get("clusterQueue") or "") for event in admitted}
    if not admitted or admitted[-1].data.get("borrowed") is not None:
        return admitted[-1].data.get("borrowed") if admitted else None, []
    if any(one.reason in _RECLAIMED for one in (past.interruptions if past is not None else ())):
        return True, []
    if cohorts is not None and all(cohorts.get(queue) == "" for queue in queues):
        return False, []
    known = cohorts is not None and all(queue in cohorts for queue in queues)
    why = "Kueue does not say of a Workload what it borrows of its cohort" if known else "the cohort of the ClusterQueue could not be read"
    return None, [("borrowed quota", why)]


def _interruptions(past: History | None) -> list[Json]:
    return [
        {
            "time": one.time,
            "kind": str(one.kind),
            "reason": one.reason,
            "message": one.message,
            "by": dict(one.by),
            "succeededIndexes": [*sorted(one.succeeded)],
        }
        for one in (past.interruptions if past is not None else ())
    ]


def _execution(happened: Sequence[Event], past: History | None) -> dict[str, Json]:
    pods = _pods(happened)
    out: dict[str, Json] = {
        "object": _thing(happened) or None,
        "pods": [*pods],
        "nodes": [*sorted({str(pod["node"]) for pod in pods if pod.get("node")})],
        "gpus": sums.gpus(happened),
        "exitCodes": [*sorted({code for pod in pods for code in _part(pod, "exitCodes").values() if isinstance(code, int)})],
        "oom": any(pod.get("oom") is True for pod in pods),
        "resumedFrom": _started(happened).get("resumeFrom") or None,
    }
    if past is None:
        return {**out, "state": None}
    failure = past.failure
    error: dict[str, Json] | None = None
    if failure is not None:
        error = {"cause": str(failure.cause), "time": failure.time, "pod": failure.pod, "node": failure.node, "exitCode": failure.exit_code}
        error["message"] = next(
            (pod.get("message") for pod in pods if pod["pod"] == failure.pod and pod.get("ended") == failure.time), None
        )
    said: dict[str, Json] = {"state": str(past.state), "reason": past.reason, "message": past.message, "firstError": error}
    return {
        **out,
        **said,
        "submitted": past.submitted,
        "started": past.started,
        "ended": past.ended,
        "succeededIndexes": [*sorted(past.indexes)],
    }


def _pods(happened: Iterable[Event]) -> list[dict[str, Json]]:
    """Each pod once, by name and uid: when and where it ran, and how it ended."""
    found: dict[tuple[str, str], dict[str, Json]] = {}
    for event in _of(happened, EventType.POD_STARTED, EventType.POD_ENDED):
        key = (str(event.data.get("pod") or ""), event.uid)
        pod = found.setdefault(key, {"pod": key[0], "uid": key[1]})
        if event.type is EventType.POD_STARTED:
            pod["started"] = event.time
        else:
            pod["ended"] = event.time
        pod.update({name: value for name, value in event.data.items() if name not in ("pod", "images") and value is not None})
    return [found[key] for key in sorted(found)]


def _unseen(happened: Sequence[Event], past: History | None, extras: Extras) -> list[tuple[str, str]]:
    """What the events themselves show to be missing."""
    lost = []
    if past is None or not past.state.terminal:
        lost.append(("end", "no event says how the attempt ended"))
    if past is not None and past.submitted is None:
        lost.append(("creation of the object", "it was not seen"))
    for pod in _pods(happened):
        if "ended" not in pod:
            lost.append((f"end of pod {pod['pod']}", "it was not seen"))
        elif "started" not in pod:
            lost.append((f"start of pod {pod['pod']}", "it was not seen"))
    if not extras.logs and _of(happened, EventType.POD_STARTED):
        lost.append(("logs", "none were read"))
    return lost
