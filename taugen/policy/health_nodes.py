"""The nodes of a HealthPolicy.

In: a policy and a cluster. Out: for each GPU class there the labels that its nodes are found by, and how many GPUs each has. A cluster that
lists no node pools is known by its flavors.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from taugen.policy import model
from taugen.policy.set import Item, Policy, node_labels


class Target(Struct, frozen=True):
    """Nodes with all of `labels`; `gpus` of each, 0 where policy does not say; `pool` is their pool's position in the Cluster."""

    labels: Mapping[str, str]
    gpus: int
    pool: int | None


class Watched(Struct, frozen=True):
    """A GPU class on a cluster under a HealthPolicy. `nodes` is how many there are, `rdma` whether they have RDMA devices."""

    item: Item[model.HealthPolicy]
    gpu_class: str
    targets: tuple[Target, ...]
    nodes: int
    rdma: bool


def watched(policy: Policy, cluster: str) -> Iterator[Watched]:
    """The GPU classes of a cluster that have a HealthPolicy, by policy and class. A class of two policies belongs to the first."""
    taken: set[str] = set()
    for _, item in sorted(policy.health.items()):
        for gpu_class in sorted(set(item.spec.gpuClasses) - taken):
            taken.add(gpu_class)
            found = watch(policy, policy.clusters[cluster], item, gpu_class)
            if found.targets:
                yield found


def watch(policy: Policy, cluster: Item[model.Cluster], item: Item[model.HealthPolicy], gpu_class: str) -> Watched:
    """What a policy watches of one class on a cluster; without targets it watches nothing there."""
    pools = [(at, pool) for at, pool in enumerate(cluster.spec.nodePools) if covers(item.spec, gpu_class, pool)]
    by_labels: dict[tuple[tuple[str, str], ...], Target] = {}
    for at, pool in pools:
        labels = node_labels(pool)
        if not labels:
            continue  # nothing finds these nodes: the rule health-nodes says so
        by_labels.setdefault(tuple(sorted(labels.items())), Target(labels, pool.gpus, at))
    if not cluster.spec.nodePools:
        for labels in _of_flavors(policy, cluster.name, item.spec, gpu_class):
            by_labels.setdefault(tuple(sorted(labels.items())), Target(labels, 0, None))
    rdma = any(resource.startswith("rdma/") for _, pool in pools for resource in pool.allocatable)
    return Watched(item, gpu_class, tuple(by_labels[key] for key in sorted(by_labels)), sum(p.count for _, p in pools), rdma)


def covers(spec: model.HealthPolicy, gpu_class: str, pool: model.NodePool) -> bool:
    """Whether the nodes of a pool are of the class and have the labels that the policy asks for."""
    labels = node_labels(pool)
    return pool.gpuClass == gpu_class and all(labels.get(key) == value for key, value in spec.nodes.items())


def _of_flavors(policy: Policy, cluster: str, spec: model.HealthPolicy, gpu_class: str) -> Iterator[Mapping[str, str]]:
    for flavor in policy.flavors_on(cluster).values():
        labels = flavor.spec.nodeLabels
        if flavor.spec.gpuClass == gpu_class and labels and all(labels.get(k, v) == v for k, v in spec.nodes.items()):
            yield {**labels, **spec.nodes}


def by_readiness(policy: Policy) -> bool:
    """Whether the Node Readiness Controller sets the taints; else the runner does."""
    return policy.platform is not None and policy.platform.spec.versions.nodeReadinessController is not None


def taint_key(policy: Policy, taint: model.HealthTaint) -> str:
    """The key of a taint, the default one where policy leaves it out."""
    return taint.key or model.DEFAULT_KEYS["readiness" if by_readiness(policy) else "runner"]
