"""Which document names which.

In: a policy. Out: every name that one document uses for another, with its place. Rules and `publish` read this one list, so that a new
reference is known to both at once.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from taugen.policy import model
from taugen.policy.nodes import nodeless, other_class, shut
from taugen.policy.set import Item, Policy
from taugen.words import Path


class Reference(NamedTuple):
    """`item` says at `path` (below its spec) the name of a document of `kind`."""

    item: Item[Any]
    path: Path
    kind: str
    name: str


def references(policy: Policy) -> Iterator[Reference]:
    """All references of all documents, what could be read of broken ones included."""
    for item in policy.each("Cluster"):
        collector = item.spec.collector
        for name in collector.storages if collector is not None else ():
            yield Reference(item, ("collector", "storages", name), "Storage", name)
    for item in policy.each("Flavor"):
        yield from _flavor(item)
    for item in policy.each("Cohort"):
        yield from _one(item, ("parent",), "Cohort", item.spec.parent)
        yield from _quotas(item, item.spec.quotas)
    for item in policy.each("Queue"):
        yield from _one(item, ("cohort",), "Cohort", item.spec.cohort)
        yield from _quotas(item, item.spec.quotas)
        yield from _many(item, ("clusters",), "Cluster", item.spec.clusters)
    for item in policy.each("Profile"):
        yield from _profile(item)
    for item in policy.each("Workspace"):
        yield from _workspace(item)
    for item in policy.each("Storage"):
        yield from _many(item, ("workspaces",), "Workspace", item.spec.workspaces)
    for item in policy.each("Platform"):
        yield from _defaults(item, item.spec.defaults)


def _one(item: Item[Any], path: Path, kind: str, name: str | None) -> Iterator[Reference]:
    if name is not None:
        yield Reference(item, path, kind, name)


def _many(item: Item[Any], path: Path, kind: str, names: list[str] | None) -> Iterator[Reference]:
    for at, name in enumerate(names or ()):
        yield Reference(item, (*path, at), kind, name)


def _quotas(item: Item[Any], quotas: list[model.FlavorQuotas]) -> Iterator[Reference]:
    for at, quota in enumerate(quotas):
        yield Reference(item, ("quotas", at, "flavor"), "Flavor", quota.flavor)


def _flavor(item: Item[model.Flavor]) -> Iterator[Reference]:
    yield from _one(item, ("topology",), "Topology", item.spec.topology)
    yield from _many(item, ("clusters",), "Cluster", item.spec.clusters)


def _profile(item: Item[model.Profile]) -> Iterator[Reference]:
    spec = item.spec
    yield from _many(item, ("applies", "workspaces"), "Workspace", spec.applies.workspaces)
    yield from _one(item, ("queue",), "Queue", spec.queue)
    yield from _one(item, ("priority",), "PriorityTier", spec.priority)
    for field, kind in (("queue", "Queue"), ("priority", "PriorityTier")):
        bounds = spec.override.get(field)
        yield from _many(item, ("override", field, "oneOf"), kind, bounds.oneOf if bounds is not None else None)


def _workspace(item: Item[model.Workspace]) -> Iterator[Reference]:
    spec = item.spec
    for at, queue in enumerate(spec.queues):
        yield Reference(item, ("queues", at, "queue"), "Queue", queue.queue)
    yield from _many(item, ("profiles",), "Profile", spec.profiles)
    yield from _many(item, ("storage",), "Storage", spec.storage)
    yield from _many(item, ("clusters",), "Cluster", spec.clusters)
    yield from _defaults(item, spec.defaults)


def _defaults(item: Item[Any], defaults: model.Defaults) -> Iterator[Reference]:
    yield from _one(item, ("defaults", "priority"), "PriorityTier", defaults.priority)
    section = defaults.storage
    if section is not None:
        yield from _one(item, ("defaults", "storage", "data"), "Storage", section.data)
        for at, mount in enumerate(section.mounts or ()):
            yield Reference(item, ("defaults", "storage", "mounts", at, "storage"), "Storage", mount.storage)


def settled(policy: Policy, queue: str) -> bool:
    """Whether everything that decides what `queue` can admit is there, readable and sound: only then may its lacks be told, since whatever
    else is missing may follow from the fault that is told already."""
    known = policy.settled.get(queue)
    if known is None:
        known = policy.settled[queue] = _settled(policy, queue)
    return known


def _settled(policy: Policy, queue: str) -> bool:
    item = policy.queues.get(queue)
    if item is None or policy.lost("Cluster"):
        return False
    if item.spec.cohort is not None and (policy.lost("Queue") or policy.lost("Cohort") or item.spec.cohort not in policy.cohorts):
        return False
    return settled_flavors(policy, queue)


def settled_flavors(policy: Policy, queue: str) -> bool:
    """Whether the flavors of a queue are sound, and each is listed once."""
    names = [quota.flavor for quota in policy.queues[queue].spec.quotas]
    return len(set(names)) == len(names) and all(_settled_flavor(policy, name) for name in names)


def _settled_flavor(policy: Policy, name: str) -> bool:
    """Whether a flavor is there, names what is there, and stands for nodes that its pods can get."""
    flavor = policy.flavors.get(name)
    if flavor is None or (flavor.spec.topology is not None and flavor.spec.topology not in policy.topologies):
        return False
    if flavor.spec.clusters == [] or any(cluster not in policy.clusters for cluster in flavor.spec.clusters or ()):
        return False
    return not nodeless(policy, flavor) and other_class(policy, flavor) is None and shut(policy, flavor) is None
