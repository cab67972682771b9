"""The flavors of one queue on one cluster, as admission will see them.

In: a `Policy`, a ClusterQueue and a cluster. Out: `QueueView`: what each flavor is, holds and repels. Sources: Kueue flavorassigner.go
(taints, affinity and quota of a flavor), clusterqueue_types.go (borrowing), tas_flavor_snapshot.go (topology).
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec import Struct

from taugen.policy.model import FlavorQuotas, NodePool, Quota, Taint
from taugen.policy.set import Policy, matches
from taugen.words import quantity

GPU = "nvidia.com/gpu"
ZERO = Decimal(0)
ANY = Decimal("Infinity")
"""What may be borrowed where a member of the cohort could not be read."""


class Share(Struct, frozen=True):
    """Quota of one resource: its own, and the most that it can reach by borrowing; `text` says it in the words of the document."""

    nominal: Decimal
    most: Decimal
    text: str


class FlavorView(Struct, frozen=True):
    """One flavor of a queue on a cluster.

    `taints` are those that keep pods off; `levels` the topology's domains with their node labels; `pools` its node pools, none where policy
    describes none.
    """

    name: str
    gpu_class: str | None
    taints: tuple[Taint, ...]
    labels: Mapping[str, str]
    levels: Mapping[str, str]
    topology: bool
    shares: Mapping[str, Share]
    pools: tuple[NodePool, ...]

    @property
    def gpu(self) -> bool:
        """Whether its nodes carry GPUs."""
        return self.gpu_class is not None or any(is_gpu(name) for name, share in self.shares.items() if share.most)


class QueueView(Struct, frozen=True):
    """The flavors that a ClusterQueue has on a cluster, in the order in which Kueue tries them."""

    queue: str
    cluster: str
    flavors: tuple[FlavorView, ...]

    @property
    def all_topology(self) -> bool:
        """Whether each flavor has a topology: only then Kueue places pods without a topology annotation (tas_assignment.go, implicit)."""
        return all(f.topology for f in self.flavors)

    @property
    def gpu_resource(self) -> str:
        """The extended resource of this queue's whole GPUs."""
        names = {name for f in self.flavors for name, share in f.shares.items() if name.endswith("/gpu") and share.most}
        return GPU if GPU in names or not names else min(names)

    def flavor(self, name: str) -> FlavorView | None:
        """The flavor of that name, if the queue has it here."""
        return next((f for f in self.flavors if f.name == name), None)


def is_gpu(resource: str) -> bool:
    """Whether an extended resource counts GPUs or slices of them."""
    return resource.endswith("/gpu") or "/mig-" in resource


def view(policy: Policy, queue: str, cluster: str) -> QueueView:
    """What ClusterQueue `queue` has on `cluster`; without flavors it is not there."""
    item = policy.queues.get(queue)
    if item is None:
        return QueueView(queue, cluster, ())
    there = frozenset(policy.queue_flavors_on(queue, cluster))
    pool = _Pool(policy, queue, cluster)
    return QueueView(queue, cluster, tuple(_flavor(pool, quotas) for quotas in item.spec.quotas if quotas.flavor in there))


class _Pool(Struct, frozen=True):
    """A queue on a cluster, for sums over its cohort."""

    policy: Policy
    queue: str
    cluster: str


def _flavor(pool: _Pool, quotas: FlavorQuotas) -> FlavorView:
    policy = pool.policy
    flavor = policy.flavors[quotas.flavor]
    topology = policy.topologies.get(flavor.spec.topology) if flavor.spec.topology is not None else None
    return FlavorView(
        name=flavor.name,
        gpu_class=flavor.spec.gpuClass,
        taints=tuple(t for t in flavor.spec.nodeTaints if t.effect != "PreferNoSchedule"),
        labels=flavor.spec.nodeLabels,
        levels={level.domain: level.label for level in topology.spec.levels} if topology is not None else {},
        topology=flavor.spec.topology is not None,
        shares={name: _share(pool, flavor.name, name, quota) for name, quota in quotas.resources.items()},
        pools=tuple(p for p in policy.clusters[pool.cluster].spec.nodePools if matches(flavor.spec, p)),
    )


def _share(pool: _Pool, flavor: str, resource: str, quota: Quota) -> Share:
    nominal = quantity.parse(quota.nominal)
    cohort = pool.policy.queues[pool.queue].spec.cohort
    text = f"nominal {quota.nominal}"
    if cohort is None:
        return Share(nominal, nominal, text)
    if pool.policy.lost("Queue") or pool.policy.lost("Cohort"):
        return Share(nominal, ANY, text)
    lent = _lendable(pool, cohort, flavor, resource)
    if quota.borrow is not None:
        lent = min(lent, quantity.parse(quota.borrow))
    if lent:
        text += f", at most {amount(lent, quota.nominal)} borrowed"
    return Share(nominal, nominal + lent, text)


def amount(value: Decimal, like: str) -> str:
    """`value` in the family of units of the quantity `like`, for sentences."""
    try:
        if like.endswith("i") and value % 1024 == 0:
            return quantity.canonical(f"{value / 1024:f}Ki", unit="memory")
        return quantity.canonical(f"{value:f}", unit="cpu")
    except quantity.QuantityError:  # a sum beyond what any cluster has
        return f"{value:f}"


def _lendable(pool: _Pool, cohort: str, flavor: str, resource: str) -> Decimal:
    """What the rest of the cohort's whole tree could lend. Bounds of cohorts inside the tree are left out: this never says too little."""
    everybody = _offers(pool.policy, pool.cluster).get((_root(pool.policy, cohort), flavor, resource), ZERO)
    own = pool.policy.queues[pool.queue].spec
    here = own.clusters is None or pool.cluster in own.clusters
    return everybody - _offered(own.quotas, flavor, resource) if here else everybody


_Offers = dict[tuple[str, str, str], Decimal]
_kept: list[tuple[Policy, dict[str, _Offers]]] = []
"""The sums of the last policy, by cluster: asked for once per flavor and resource of every queue."""


def _offers(policy: Policy, cluster: str) -> _Offers:
    """(root cohort, flavor, resource) -> what all members on `cluster` could lend together."""
    if not _kept or _kept[0][0] is not policy:
        _kept[:] = [(policy, {})]
    known = _kept[0][1]
    if cluster not in known:
        total: _Offers = {}
        for queue in policy.queues.values():
            if queue.spec.cohort is not None and (queue.spec.clusters is None or cluster in queue.spec.clusters):
                _add(total, _root(policy, queue.spec.cohort), queue.spec.quotas)
        for name, item in policy.cohorts.items():
            _add(total, _root(policy, name), item.spec.quotas)
        known[cluster] = total
    return known[cluster]


def _add(total: _Offers, root: str, quotas: Sequence[FlavorQuotas]) -> None:
    for flavor, resource in {(entry.flavor, resource) for entry in quotas for resource in entry.resources}:
        key = (root, flavor, resource)
        total[key] = total.get(key, ZERO) + _offered(quotas, flavor, resource)


def _offered(quotas: Sequence[FlavorQuotas], flavor: str, resource: str) -> Decimal:
    total = ZERO
    for entry in quotas:
        quota = entry.resources.get(resource) if entry.flavor == flavor else None
        if quota is not None:
            nominal = quantity.parse(quota.nominal)
            total += nominal if quota.lend is None else min(nominal, quantity.parse(quota.lend))
    return total


def _root(policy: Policy, cohort: str) -> str:
    """The root of a cohort's tree; of a cycle (a rule of policy says so) the cohort itself."""
    seen = {cohort}
    at = cohort
    while (item := policy.cohorts.get(at)) is not None and item.spec.parent is not None:
        at = item.spec.parent
        if at in seen:
            return min(seen)
        seen.add(at)
    return at
