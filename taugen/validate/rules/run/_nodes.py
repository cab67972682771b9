"""How many of a run's workers the described nodes hold.

In: a run and the policy. Out: numbers of pods. What policy does not describe counts as unbounded.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from taugen.policy.model import NodePool
from taugen.policy.set import Policy
from taugen.resolve.capacity import node_size
from taugen.resolve.flavors import FlavorView, QueueView
from taugen.resolve.resolve import context_of
from taugen.resolve.run import ResolvedRun
from taugen.words import Path, quantity


def queue_view(run: ResolvedRun, policy: Policy) -> QueueView:
    """The flavors of the run's queue on its cluster."""
    return context_of(policy).placer.view(run.placement.cluster_queue, run.cluster)


def flavors(run: ResolvedRun, policy: Policy) -> list[FlavorView]:
    """The flavors that the run's workers may get."""
    return [f for f in queue_view(run, policy).flavors if f.name in run.placement.flavors]


def requests(run: ResolvedRun) -> dict[str, Decimal]:
    """What each worker asks for."""
    found = {"cpu": quantity.parse(run.worker.cpu), "memory": quantity.parse(run.worker.memory)}
    if run.worker.disk is not None:
        found["ephemeral-storage"] = quantity.parse(run.worker.disk)
    return found | {name: Decimal(count) for name, count in run.worker.extended.items()}


def per_node(pool: NodePool, wanted: Mapping[str, Decimal]) -> int | None:
    """How many pods one node holds; None where policy describes nothing of it."""
    held = [int(size // each) for name, each in wanted.items() if each and (size := node_size(pool, name)) is not None]
    return min(held) if held else None


def held(pools: Sequence[NodePool], wanted: Mapping[str, Decimal]) -> int | None:
    """How many pods the nodes of all pools hold; None where policy does not say."""
    each = [(pool.count, per_node(pool, wanted)) for pool in pools]
    if not each or any(pods is None for _, pods in each):
        return None
    return sum(count * pods for count, pods in each if pods is not None)


def count_path(run: ResolvedRun) -> Path:
    """The field that says how many workers or nodes there are, else the one that brought the profile."""
    order: tuple[Path, ...] = (("execution", "nodes"), ("compute", "workers"), ("policy", "profile"))
    return next((path for path in order if run.doc.has(path)), ("policy", "profile"))
