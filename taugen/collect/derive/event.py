"""A Kubernetes Event about an object of an attempt.

In: the object (core/v1 Event). Out: a note. The count of a repeated Event grows and its last time moves; the note holds what was so at the
first.
"""

from collections.abc import Iterator

from taugen.collect.derive import shape
from taugen.collect.derive.shape import Obj
from taugen.evidence.event import Event, EventType
from taugen.words import Json

_MOST = 1024
"""Characters of a message, which is as many as Kubernetes takes (validation of events.k8s.io)."""


def derive(obj: Obj) -> Iterator[Event]:
    """The note."""
    about = shape.mapping(obj, "involvedObject")
    source = shape.text(obj, "reportingComponent") or shape.text(obj, "source", "component")
    data: dict[str, Json] = {"kind": shape.text(about, "kind"), "name": shape.text(about, "name"), "reason": shape.text(obj, "reason")}
    data |= {"message": shape.text(obj, "message")[:_MOST], "source": source}
    time = shape.text(obj, "firstTimestamp") or shape.text(obj, "eventTime") or shape.text(obj, "metadata", "creationTimestamp")
    yield Event(EventType.NOTE, time, shape.text(obj, "metadata", "uid"), data)


def about(obj: Obj) -> str:
    """The uid of the object that the Event is about."""
    return shape.text(obj, "involvedObject", "uid")
