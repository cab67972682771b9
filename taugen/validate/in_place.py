"""Changes that the cluster does not take in place.

In: an object as it is and as it would be. Out: what about it can't change, and the safe way round. Applied anyway, such a change is
refused by the API server or Kueue's webhook, and with it everything that is synced together.

Source: Kueue localqueue_types.go, topology_types.go and resourceflavor_types.go (CEL rules of immutable fields); Kubernetes core and rbac
validation (PersistentVolumeClaim, RoleBinding).
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from taugen.render.types import Object
from taugen.words import Path, at, quantity


class Frozen(NamedTuple):
    """A field that can't change: where it stands in the object, what is wrong, what to do instead."""

    path: Path
    message: str
    hint: str


def frozen(before: Object, after: Object) -> Iterator[Frozen]:
    """What of the change from `before` to `after` (the same kind, name and namespace) can't be applied."""
    check = _CHECKS.get(str(after.get("kind")))
    if check is not None:
        yield from check(before, after)


def _changed(before: Object, after: Object, path: tuple[str, ...], hint: str) -> Iterator[Frozen]:
    if at(before, *path) != at(after, *path):
        yield Frozen(path, f"{path[-1]} of a {after['kind']} can't be changed", hint)


def _local_queue(before: Object, after: Object) -> Iterator[Frozen]:
    hint = "write a LocalQueue of another name for the other Queue, and remove this one when its runs have ended"
    yield from _changed(before, after, ("spec", "clusterQueue"), hint)


def _topology(before: Object, after: Object) -> Iterator[Frozen]:
    hint = "write a Topology of another name, and a Flavor of another name that uses it"
    yield from _changed(before, after, ("spec", "levels"), hint)


def _flavor(before: Object, after: Object) -> Iterator[Frozen]:
    if at(before, "spec", "topologyName") is None:
        return
    hint = "write a Flavor of another name, add it to the queues, and remove this one when its runs have ended"
    for field in ("topologyName", "nodeLabels"):
        for found in _changed(before, after, ("spec", field), hint):
            yield found._replace(message=f"{field} of a ResourceFlavor with a topology can't be changed")


def _claim(before: Object, after: Object) -> Iterator[Frozen]:
    hint = "write a Storage of another name, and copy the data"
    for field in ("accessModes", "storageClassName", "volumeMode"):
        yield from _changed(before, after, ("spec", field), hint)
    path = ("spec", "resources", "requests", "storage")
    old, new = at(before, *path), at(after, *path)
    if isinstance(old, str) and isinstance(new, str) and quantity.compare(new, old) < 0:
        yield Frozen(path, f"a claim can't shrink from {old} to {new}", f"write {old} or more, or a Storage of another name")


def _binding(before: Object, after: Object) -> Iterator[Frozen]:
    yield from _changed(before, after, ("roleRef",), "remove the binding in one commit and add the new one in the next")


_CHECKS: dict[str, Callable[[Object, Object], Iterator[Frozen]]] = {
    "LocalQueue": _local_queue,
    "PersistentVolumeClaim": _claim,
    "ResourceFlavor": _flavor,
    "RoleBinding": _binding,
    "Topology": _topology,
}
