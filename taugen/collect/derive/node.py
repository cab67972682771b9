"""A node: what its health conditions say.

In: the object. Out: one event for each condition of GPU health, as it stands since its last change. The conditions are those that taugen's
own runner writes (`taugen.dev/…`).
"""

from collections.abc import Iterator

from taugen.collect.derive import shape
from taugen.collect.derive.shape import Obj
from taugen.evidence.event import Event, EventType
from taugen.words import Json

PREFIX = "taugen.dev/"


def derive(obj: Obj) -> Iterator[Event]:
    """The events that a node tells of."""
    uid, name = shape.text(obj, "metadata", "uid"), shape.text(obj, "metadata", "name")
    for kind, found in shape.conditions(obj).items():
        if not kind.startswith(PREFIX):
            continue
        status = shape.text(found, "status")
        data: dict[str, Json] = {"node": name, "condition": kind, "status": status, "reason": shape.text(found, "reason")}
        data["message"] = shape.text(found, "message")
        yield Event(EventType.NODE, shape.since(found), uid, data, f"{kind} {status}")
