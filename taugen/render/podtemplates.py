"""Where the pod templates of run objects are.

In: a Job, JobSet or RayJob. Out: its pod templates, or a copy with each replaced. Other objects have none.
"""

from collections.abc import Callable, Iterator

from taugen.render.types import Object
from taugen.words import Json, Path

_PLACES: dict[str, tuple[Path, ...]] = {
    "Job": (("spec", "template"),),
    "JobSet": (("spec", "replicatedJobs", "*", "template", "spec", "template"),),
    "RayJob": (
        ("spec", "submitterPodTemplate"),
        ("spec", "rayClusterSpec", "headGroupSpec", "template"),
        ("spec", "rayClusterSpec", "workerGroupSpecs", "*", "template"),
    ),
}


def templates(obj: Object) -> Iterator[Object]:
    """Every pod template of an object."""
    found: list[Object] = []

    def note(template: Object) -> Object:
        found.append(template)
        return template

    map_templates(obj, note)
    return iter(found)


def map_templates(obj: Object, change: Callable[[Object], Object]) -> Object:
    """The object with every pod template changed; the same object where nothing is."""
    for path in _PLACES.get(str(obj.get("kind")), ()):
        changed = _at(obj, path, change)
        assert isinstance(changed, dict)
        obj = changed
    return obj


def _at(value: Json, path: Path, change: Callable[[Object], Object]) -> Json:
    if not path:
        return change(value) if isinstance(value, dict) else value
    head, rest = path[0], path[1:]
    if isinstance(value, dict) and head in value:
        old = value[str(head)]
        new = _at(old, rest, change)
        return value if new is old else {**value, str(head): new}
    if isinstance(value, list) and head == "*":
        items = [_at(item, rest, change) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value
