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


def nodeless(policy: Policy, flavor: Item[model.Flavor]) -> list[Item[model.Cluster]]:
    """The clusters that were meant to have nodes of a flavor, by name, if none has: a label is misspelt. Clusters that list no pools say
    nothing."""
    named = flavor.spec.clusters
    known = [c for name, c in sorted(policy.clusters.items()) if c.spec.nodePools and (named is None or name in named)]
    empty = [c for c in known if not any(matches(flavor.spec, pool) for pool in c.spec.nodePools)]
    anywhere = named is None and (len(empty) < len(policy.clusters) or policy.lost("Cluster"))
    return [] if anywhere else empty


def other_class(policy: Policy, flavor: Item[model.Flavor]) -> Pool | None:
    """The first node pool of a flavor whose GPU class is another one. GPUs without a class, and a topology flavor without labels, are
    findings of their own."""
    if flavor.spec.topology is not None and not flavor.spec.nodeLabels:
        return None
    others = (pool for pool in pools_of(policy, flavor) if pool.spec.gpuClass != flavor.spec.gpuClass)
    return next((pool for pool in others if pool.spec.gpuClass or not pool.spec.gpus), None)


def shut(policy: Policy, flavor: Item[model.Flavor]) -> int | None:
    """The position of a taint that keeps every pod off a flavor of CPU nodes: pods without GPUs bring no tolerations."""
    if has_gpus(policy, flavor):
        return None
    return next((at for at, taint in enumerate(flavor.spec.nodeTaints) if repels(taint)), None)


def repels(taint: model.Taint) -> bool:
    """Whether a taint keeps pods off that don't tolerate it."""
    return taint.effect != "PreferNoSchedule"


def show(taint: model.Taint) -> str:
    """A taint as kubectl writes it: ``key=value:effect``."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
