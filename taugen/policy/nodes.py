"""Nodes behind flavors.

In: a policy. Out: the node pools of a flavor on each of its clusters, and what kind of flavor it is. A cluster that lists no pools says
nothing: nothing is derived from it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from taugen.policy import model
from taugen.policy.set import Item, Policy, matches, stands_on


class Pool(NamedTuple):
    """A node pool: the Cluster that lists it, its position there, itself."""

    cluster: Item[model.Cluster]
    at: int
    spec: model.NodePool


def clusters_of(policy: Policy, flavor: Item[model.Flavor]) -> list[Item[model.Cluster]]:
    """The clusters that a flavor is rendered for, by name."""
    return [policy.clusters[name] for name in sorted(policy.clusters) if stands_on(flavor.spec, policy.clusters[name])]


def pools(cluster: Item[model.Cluster]) -> Iterator[Pool]:
    """The node pools of a cluster."""
    for at, pool in enumerate(cluster.spec.nodePools):
        yield Pool(cluster, at, pool)


def pools_of(policy: Policy, flavor: Item[model.Flavor]) -> Iterator[Pool]:
    """The node pools that carry the labels of a flavor, on the clusters where it is."""
    for cluster in clusters_of(policy, flavor):
        yield from (pool for pool in pools(cluster) if matches(flavor.spec, pool.spec))


def has_gpus(policy: Policy, flavor: Item[model.Flavor]) -> bool:
    """Whether a flavor stands for GPU nodes."""
    return flavor.spec.gpuClass is not None or any(pool.spec.gpus for pool in pools_of(policy, flavor))


def repels(taint: model.Taint) -> bool:
    """Whether a taint keeps pods off that don't tolerate it."""
    return taint.effect != "PreferNoSchedule"


def show(taint: model.Taint) -> str:
    """A taint as kubectl writes it: ``key=value:effect``."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
