"""Reads JSON-shaped objects without trusting their shape.

In: an object and the names that lead to a value. Out: a value of the type that was asked for, empty where there is none of it. Nothing
raises: an object of another version, or one made by hand, must not stop the collector.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from taugen.words import Json

Obj = Mapping[str, Json]
Value: TypeAlias = "Json | Obj"


def at(obj: Value, *path: str) -> Json:
    """The value at a path of keys; None where it ends."""
    found: Value = obj
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if not isinstance(found, Mapping) or isinstance(found, dict) else dict(found)


def text(obj: Value, *path: str) -> str:
    """A string; empty if there is none."""
    found = at(obj, *path)
    return found if isinstance(found, str) else ""


def whole(obj: Value, *path: str) -> int | None:
    """An integer."""
    found = at(obj, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def mapping(obj: Value, *path: str) -> dict[str, Json]:
    """An object; empty if there is none."""
    found = at(obj, *path)
    return found if isinstance(found, dict) else {}


def each(obj: Value, *path: str) -> list[dict[str, Json]]:
    """The objects of a list."""
    found = at(obj, *path)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def conditions(obj: Obj) -> dict[str, dict[str, Json]]:
    """status.conditions by type."""
    return {text(found, "type"): found for found in each(obj, "status", "conditions")}


def true(found: Mapping[str, Json] | None) -> bool:
    """Whether a condition is there and holds."""
    return found is not None and found.get("status") == "True"


def since(found: Value) -> str:
    """When a condition came to be as it is; empty if it does not say."""
    return text(found, "lastTransitionTime")


def owner(obj: Obj) -> dict[str, Json]:
    """The controller among the owner references, else the only one."""
    owners = each(obj, "metadata", "ownerReferences")
    return next((found for found in owners if found.get("controller") is True), owners[0] if len(owners) == 1 else {})


def newest(times: Iterable[str]) -> str:
    """The latest of times in RFC 3339 and UTC, empty ones left out."""
    return max((time for time in times if time), default="")


def vanished(obj: Obj) -> str:
    """When an object that is gone was deleted, by the API server's clock: the request's time where the object was given time to end, else
    the time of the last write to it (an object without finalizers carries no deletionTimestamp)."""
    asked = text(obj, "metadata", "deletionTimestamp")
    grace = whole(obj, "metadata", "deletionGracePeriodSeconds") or 0
    if asked:
        return earlier(asked, grace)
    writes = (text(entry, "time") for entry in each(obj, "metadata", "managedFields"))
    return newest((*writes, *(since(found) for found in conditions(obj).values()), text(obj, "metadata", "creationTimestamp")))


def earlier(time: str, seconds: int) -> str:
    """A time, some seconds before; as it is if it can't be read."""
    from datetime import datetime, timedelta

    try:
        return (datetime.strptime(time[:19] + "Z", "%Y-%m-%dT%H:%M:%S%z") - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return time
