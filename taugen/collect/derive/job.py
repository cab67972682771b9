"""A Job.

In: the object. Out: that it was submitted, which of its indexes were done when Kueue suspended it, and how it ended. Conditions are those
of Kubernetes batch/v1 (Job, `Complete`, `Failed`, `Suspended`).
"""

from collections.abc import Iterator

from taugen.collect.derive import shape
from taugen.collect.derive.shape import Obj
from taugen.evidence.event import Event, EventType
from taugen.words import Json
from taugen.words.canonical import digest

_MOST_INDEXES = 100_000


def derive(obj: Obj) -> Iterator[Event]:
    """The events that a Job tells of."""
    yield submitted(obj, shape.mapping(obj, "spec", "template", "spec"))
    found, uid = shape.conditions(obj), shape.text(obj, "metadata", "uid")
    suspended = found.get("Suspended")
    if suspended is not None and shape.true(suspended):
        for index in indexes(shape.text(obj, "status", "completedIndexes")):
            yield Event(EventType.INDEX_SUCCEEDED, shape.since(suspended), uid, {"index": index}, str(index))
    yield from ended(uid, found.get("Complete"), found.get("Failed"))


def submitted(obj: Obj, pod: Obj) -> Event:
    """That the object of an attempt was made; `pod` is the spec of the pods that run the program. Every object starts with generation 1;
    Kueue's writes raise it, and change neither images nor variables."""
    uid = shape.text(obj, "metadata", "uid")
    container = next(iter(shape.each(pod, "containers")), {})
    named: dict[str, Json] = {
        "uid": uid,
        "kind": shape.text(obj, "kind"),
        "name": shape.text(obj, "metadata", "name"),
        "namespace": shape.text(obj, "metadata", "namespace"),
        "generation": 1,
    }
    data: dict[str, Json] = {"object": named, "image": shape.text(container, "image"), "runtime": _runtime(container)}
    return Event(EventType.SUBMITTED, shape.text(obj, "metadata", "creationTimestamp"), uid, data)


def _runtime(container: Obj) -> dict[str, Json]:
    """What the program is started with: names of variables and of Secrets, never a value; the digest of the values that Git has too."""
    env = {shape.text(entry, "name"): entry for entry in shape.each(container, "env")}
    typed: dict[str, Json] = {name: shape.text(entry, "value") for name, entry in env.items() if "valueFrom" not in entry}
    secrets = {shape.text(entry, "valueFrom", "secretKeyRef", "name") for entry in env.values()}
    secrets |= {shape.text(entry, "secretRef", "name") for entry in shape.each(container, "envFrom")}
    return {
        "envNames": [*sorted(env)],
        "envDigest": digest(typed),
        "secrets": [*sorted(secrets - {""})],
        "command": [*_words(container, "command"), *_words(container, "args")],
        "resumeFrom": shape.text(env.get("TAU_RESUME_FROM", {}), "value"),
    }


def _words(container: Obj, key: str) -> list[Json]:
    words = container.get(key)
    return [word for word in words if isinstance(word, str)] if isinstance(words, list) else []


def ended(uid: str, complete: dict[str, Json] | None, failed: dict[str, Json] | None) -> Iterator[Event]:
    """The end that two conditions tell of."""
    if complete is not None and shape.true(complete):
        yield Event(EventType.SUCCEEDED, shape.since(complete), uid)
    elif failed is not None and shape.true(failed):
        data: dict[str, Json] = {"reason": shape.text(failed, "reason"), "message": shape.text(failed, "message")}
        yield Event(EventType.FAILED, shape.since(failed), uid, data)


def indexes(listed: str) -> list[int]:
    """``0,2-4`` as numbers."""
    out: list[int] = []
    for part in listed.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal() and int(last or first) - int(first) < _MOST_INDEXES:
            out += range(int(first), int(last or first) + 1)
    return out
