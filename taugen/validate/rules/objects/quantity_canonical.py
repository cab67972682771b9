"""Quantities are written as the API server stores them.

`1000m` is stored as `1`, `1024Mi` as `1Gi`, a number as text. What differs from Git differs for ever: Argo CD never becomes Synced.
Policy and runs are rendered so; an overlay may write what it likes.

Breaks:

    target: {kind: ResourceQuota}
    patch:
      spec: {hard: {secrets: "1000"}}

Mends:

    target: {kind: ResourceQuota}
    patch:
      spec: {hard: {secrets: 1k}}

Source: apimachinery quantity.go (canonical form); Argo CD docs/faq.md (resource units)
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Object, Rendered
from taugen.validate.rules.objects._parts import finding, items, mapping, named
from taugen.validate.rules.objects._pods import pods
from taugen.words import Json, at, quantity

ID = "quantity-canonical"
Quantity = tuple[str, str, Json]
"""What it is of, its key there if it has one, and the value."""
_LIMIT_RANGE = ("default", "defaultRequest", "max", "min", "maxLimitRequestRatio")


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in objects:
        yield from _judged(item, _quantities(item))
    for pod in pods(objects):
        yield from _judged(pod.item, _pod(pod.spec))


def _judged(item: Rendered, found: Iterator[Quantity]) -> Iterator[Diagnostic]:
    for what, key, value in found:
        wanted = _stored(value) if isinstance(value, str) else _canonical(value)
        if wanted is not None and wanted != value:
            place = f"{what}: {key}" if key else what
            yield finding(ID, item, f"{place} is {value}, which is stored as {wanted}", f'write "{wanted}"')


@lru_cache(maxsize=4096)
def _stored(text: str) -> str | None:
    return _canonical(text)


def _canonical(value: Json) -> str | None:
    """The canonical text; None for what is no quantity, which the schema says."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    units: tuple[quantity.Unit, ...] = ("cpu", "memory")
    for unit in units:
        try:
            return quantity.canonical(value, unit=unit)
        except quantity.QuantityError:
            continue
    return None


def _quantities(item: Rendered) -> Iterator[Quantity]:
    spec = mapping(item.obj.get("spec"))
    if item.kind in {"ClusterQueue", "Cohort"}:
        yield from _quotas(spec)
    elif item.kind == "LocalQueue":
        yield from _weight(spec)
    elif item.kind == "ResourceQuota":
        yield from _each("hard", spec.get("hard"))
    elif item.kind == "LimitRange":
        for limit in items(spec.get("limits")):
            for key in _LIMIT_RANGE:
                yield from _each(key, mapping(limit).get(key))
    elif item.kind == "PersistentVolumeClaim":
        yield from _each("requests", at(spec, "resources", "requests"))


def _quotas(spec: Object) -> Iterator[Quantity]:
    for group in items(spec.get("resourceGroups")):
        for flavor, quotas in named(mapping(group).get("flavors")):
            for resource, quota in named(quotas.get("resources")):
                for key in ("nominalQuota", "borrowingLimit", "lendingLimit"):
                    if key in quota:
                        yield f"{key} of {resource} in flavor {flavor}", "", quota[key]
    yield from _weight(spec)


def _weight(spec: Object) -> Iterator[Quantity]:
    weight = at(spec, "fairSharing", "weight")
    if weight is not None:
        yield "weight", "", weight


def _pod(spec: Object) -> Iterator[Quantity]:
    for part in ("initContainers", "containers"):
        for name, container in named(spec.get(part)):
            resources = container.get("resources")
            if isinstance(resources, dict):
                for key in ("requests", "limits"):
                    yield from _each(f"{key} of container {name}", resources.get(key))
    for volume in items(spec.get("volumes")):
        if isinstance(volume, dict) and "emptyDir" in volume:
            size = mapping(volume["emptyDir"]).get("sizeLimit")
            if size is not None:
                yield f"sizeLimit of volume {volume.get('name')}", "", size


def _each(what: str, values: Json) -> Iterator[Quantity]:
    if isinstance(values, dict):
        for key, value in values.items():
            yield what, key, value
