"""Amounts of resources in policy: every entry of quotas and nodes, and the unit that its resource has.

In: a policy. Out: entries with their places.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from taugen.policy import model
from taugen.policy.set import Item, Policy
from taugen.words import Path
from taugen.words.quantity import Unit

NATIVE = ("cpu", "memory", "ephemeral-storage")
"""Resources without a domain, hugepages apart (Kubernetes core/v1 types.go)."""


class Entry(NamedTuple):
    """A resource of `item` at `path` below its spec, with the amounts that stand at (or below) it."""

    item: Item[Any]
    path: Path
    resource: str
    amounts: tuple[tuple[Path, str], ...]


def unit(resource: str) -> Unit:
    """What a resource counts: cores, bytes, or whole things."""
    if resource == "cpu":
        return "cpu"
    return "memory" if resource in NATIVE or resource.startswith("hugepages-") else "count"


def is_resource(name: str) -> bool:
    """Whether Kubernetes can know a resource of that name: a native one, or one with a domain (ValidateResourceName)."""
    return "/" in name or name in NATIVE or name.startswith("hugepages-")


def resource_entries(policy: Policy) -> Iterator[Entry]:
    """Each resource of each quota and node pool, what could be read of broken documents included."""
    for kind in ("Queue", "Cohort"):
        for item in policy.each(kind):
            for at, quotas in enumerate(item.spec.quotas):
                for resource, quota in quotas.resources.items():
                    yield Entry(item, ("quotas", at, "resources", resource), resource, _amounts(quota))
    for item in policy.each("Cluster"):
        for at, pool in enumerate(item.spec.nodePools):
            for resource, amount in pool.allocatable.items():
                yield Entry(item, ("nodePools", at, "allocatable", resource), resource, (((), amount),))


def _amounts(quota: model.Quota) -> tuple[tuple[Path, str], ...]:
    return tuple(((field,), amount) for field in ("nominal", "borrow", "lend") if (amount := getattr(quota, field)) is not None)
