"""Whether pods can ever be held: by one node each, and by the queue's quota all together.

In: a queue on a cluster, candidate flavors, pods. Out: the flavors that can, or what the first one lacks. What policy does not describe
(a cluster without node pools, a resource that no pool lists) is never held against a run.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from msgspec import Struct

from taugen.policy.model import NodePool
from taugen.resolve.flavors import FlavorView, QueueView, amount, is_gpu
from taugen.words import Path, quantity

_FIELD: dict[str, Path] = {"cpu": ("compute", "cpus"), "memory": ("compute", "memory")}
WORKERS = "run"


class Pods(NamedTuple):
    """Equal pods: how many, and what each asks for (resource and canonical quantity, in order)."""

    number: int
    requests: tuple[tuple[str, str], ...]


class Obstacle(Struct, frozen=True):
    """Why a cluster is no candidate: the id of the finding, the field that causes it, a sentence, and what would help."""

    cluster: str
    rule: str
    path: Path
    text: str
    hint: str


def fitting(queue: QueueView, flavors: Sequence[FlavorView], pods: Pods, what: str = WORKERS) -> list[FlavorView] | Obstacle:
    """The flavors that can ever hold all the pods; else what the first one lacks. `what` names the pods in sentences."""
    found: list[FlavorView] = []
    first: Obstacle | None = None
    for flavor in flavors:
        obstacle = _no_node(queue, flavor, pods, what) or _no_quota(queue, flavor, pods, what)
        if obstacle is None:
            found.append(flavor)
        first = first or obstacle
    if found or first is None:
        return found
    return first


def _cause(resource: str, what: str) -> Path:
    """The field that makes the pods ask for the resource."""
    if what != WORKERS:
        return ("compute", "head") if "head" in what else ("policy", "queue")
    return ("compute", "gpus") if is_gpu(resource) else _FIELD[resource]


def _hardest(pods: Pods) -> str:
    """The resource that is told where no single one is to blame: GPUs, which come first, else the last."""
    first = pods.requests[0][0]
    return first if is_gpu(first) else pods.requests[-1][0]


def _no_node(queue: QueueView, flavor: FlavorView, pods: Pods, what: str) -> Obstacle | None:
    """No node of the flavor holds one of the pods."""
    pools = [pool for pool in flavor.pools if pool.count]
    if not flavor.pools or any(_holds(pool, pods) for pool in pools):
        return None
    if not pools:
        text = f"flavor {flavor.name} has no nodes: the pools that carry its labels count 0"
        return Obstacle(queue.cluster, "no-node-fits", _cause(_hardest(pods), what), text, "wait for nodes, or take another queue")
    for resource, wanted in pods.requests:
        sizes = [size for pool in pools if (size := node_size(pool, resource)) is not None]
        if len(sizes) == len(pools) and max(sizes) < quantity.parse(wanted):
            largest = amount(max(sizes), wanted)
            text = f"no node of flavor {flavor.name} holds {wanted} {resource}: the largest has {largest}"
            return Obstacle(queue.cluster, "no-node-fits", _cause(resource, what), text, f"ask for {largest} or less, or for other nodes")
    asked = ", ".join(f"{wanted} {resource}" for resource, wanted in pods.requests)
    text = f"no node of flavor {flavor.name} holds {asked} at once"
    return Obstacle(queue.cluster, "no-node-fits", _cause(_hardest(pods), what), text, "ask for less, or for other nodes")


def _holds(pool: NodePool, pods: Pods) -> bool:
    sizes = ((node_size(pool, resource), wanted) for resource, wanted in pods.requests)
    return all(size is None or size >= quantity.parse(wanted) for size, wanted in sizes)


def node_size(pool: NodePool, resource: str) -> Decimal | None:
    """What one node has; None where policy does not say."""
    if resource in pool.allocatable:
        return quantity.parse(pool.allocatable[resource])
    if resource.endswith("/gpu") and (pool.gpus or pool.allocatable):
        return Decimal(pool.gpus)
    return None


def _no_quota(queue: QueueView, flavor: FlavorView, pods: Pods, what: str) -> Obstacle | None:
    """The quota can't hold all the pods, even with everything that may be borrowed."""
    for resource, each in pods.requests:
        share = flavor.shares.get(resource)
        if share is None:
            text = f"queue {queue.queue} has no quota of {resource} in flavor {flavor.name}: the {what} would wait for ever"
            hint = f"add {resource} to the quotas of flavor {flavor.name} in Queue {queue.queue}"
            return Obstacle(queue.cluster, "quota-missing", _cause(resource, what), text, hint)
        total = quantity.parse(each) * pods.number
        if total > share.most:
            asks = each if pods.number == 1 else f"{amount(total, each)} ({pods.number} x {each})"
            text = f"the {what} asks for {asks} {resource}, and queue {queue.queue} can never have more of flavor {flavor.name} than "
            text += amount(share.most, each) + ("" if share.most == share.nominal else f" ({share.text})")
            return Obstacle(queue.cluster, "quota-too-small", _cause(resource, what), text, "ask for less, or take another queue")
    return None
