"""Where a run may go: cluster, flavors, tolerations, topology.

In: a `Question` (the shape of the pods and the wishes). Out: an `Answer`: the one cluster with what its pods need to be admitted there, or for each cluster why
not. Answers are kept: most runs of a fleet ask the same few questions. Sources: Kueue flavorassigner.go and tas_flavor_snapshot.go; behaviour seen with 0.19.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, NamedTuple

from taugen.policy.model import NodePool
from taugen.policy.set import Policy
from taugen.resolve.flavors import FlavorView, QueueView, amount, is_gpu, view
from taugen.words import Json, Path, quantity

TopologyWish = tuple[Literal["required", "preferred", "unconstrained"], str]
_MOST_ANSWERS = 20_000


class Pods(NamedTuple):
    """Equal pods: how many, and what each asks for (canonical quantities by resource, in order)."""

    number: int
    requests: tuple[tuple[str, str], ...]


class Question(NamedTuple):
    """What placement depends on. `gpus` counts whole GPUs of each worker, or slices of `mig`; `helpers` are CPU pods beside the workers (Ray head, submitter)."""

    queue: str
    clusters: tuple[str, ...]
    gpus: int
    gpu_class: str | None
    mig: str | None
    workers: Pods
    helpers: tuple[tuple[str, Pods], ...]
    topology: str | None
    preferred: bool


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a cluster is no candidate: the id of the finding, the field that causes it, a sentence, and what would help."""

    cluster: str
    rule: str
    path: Path
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A candidate cluster."""

    cluster: str
    flavors: tuple[str, ...]
    tolerations: tuple[Mapping[str, Json], ...]
    topology: TopologyWish | None
    terms: tuple[tuple[Mapping[str, Json], ...], ...]
    """Node affinity: alternatives, each a list of expressions; empty where the queue leaves no choice."""
    gpu_resource: str
    gpu_class: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The candidate clusters, and what stands in the way of the others."""

    places: tuple[Place, ...]
    obstacles: tuple[Obstacle, ...]


class Placer:
    """Answers questions about one policy."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._views: dict[tuple[str, str], QueueView] = {}
        self._answers: dict[Question, Answer] = {}

    def view(self, queue: str, cluster: str) -> QueueView:
        """The flavors of a queue on a cluster."""
        found = self._views.get((queue, cluster))
        if found is None:
            found = self._views[queue, cluster] = view(self.policy, queue, cluster)
        return found

    def ask(self, question: Question) -> Answer:
        """Try each cluster."""
        found = self._answers.get(question)
        if found is None:
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            tried = [_try(self.view(question.queue, cluster), question) for cluster in question.clusters]
            places = tuple(t for t in tried if isinstance(t, Place))
            found = self._answers[question] = Answer(places, tuple(t for t in tried if isinstance(t, Obstacle)))
        return found


def _try(queue: QueueView, question: Question) -> Place | Obstacle:
    if not queue.flavors:
        return Obstacle(queue.cluster, "queue-not-on-cluster", ("policy", "queue"), f"queue {queue.queue} has no flavor there")
    if question.gpus:
        wanted = _gpu_flavors(queue, question)
    else:
        wanted = _cpu_flavors(queue, "the run's pods ask for no GPU")
    if isinstance(wanted, Obstacle):
        return wanted
    topology = _topology(queue, wanted, question)
    if isinstance(topology, Obstacle):
        return topology
    wish, wanted = topology
    resource = f"nvidia.com/mig-{question.mig}" if question.mig is not None else queue.gpu_resource
    requests = question.workers.requests + (((resource, str(question.gpus)),) if question.gpus else ())
    fitting = _fitting(queue, wanted, Pods(question.workers.number, requests))
    if isinstance(fitting, Obstacle):
        return fitting
    for what, pods in question.helpers:
        helpers = _cpu_flavors(queue, f"the {what} asks for no GPU")
        room = helpers if isinstance(helpers, Obstacle) else _fitting(queue, helpers, pods, what)
        if isinstance(room, Obstacle):
            return room
    return Place(
        cluster=queue.cluster,
        flavors=tuple(f.name for f in fitting),
        tolerations=_tolerations(fitting) if question.gpus else (),
        topology=wish,
        terms=_terms(queue, fitting) if question.gpus else (),
        gpu_resource=resource,
        gpu_class=fitting[0].gpu_class if question.gpus and len({f.gpu_class for f in fitting}) == 1 else None,
    )


def _gpu_flavors(queue: QueueView, question: Question) -> list[FlavorView] | Obstacle:
    gpu = [f for f in queue.flavors if f.gpu]
    wanted = [f for f in gpu if question.gpu_class is None or f.gpu_class == question.gpu_class]
    if wanted:
        return wanted
    has = ", ".join(sorted({f.gpu_class or f.name for f in gpu}))
    if question.gpu_class is not None and has:
        text = f"queue {queue.queue} has no {question.gpu_class} there, only {has}"
        return Obstacle(queue.cluster, "gpu-class-not-in-queue", ("compute", "gpu_class"), text, f"write one of {has}, or another queue")
    return Obstacle(
        queue.cluster, "gpu-not-in-queue", ("compute", "gpus"), f"queue {queue.queue} has no GPU flavor there", "write another queue"
    )


def _cpu_flavors(queue: QueueView, who: str) -> list[FlavorView] | Obstacle:
    """Flavors for pods without tolerations and without a topology annotation."""
    free = [f for f in queue.flavors if not f.taints and (queue.all_topology or not f.topology)]
    plain = [f for f in free if not f.gpu]
    if free:
        return plain or free
    kept = ", ".join(f.name for f in queue.flavors)
    text = f"queue {queue.queue} has only flavors for GPU pods there ({kept}), and {who}: it would wait for ever"
    return Obstacle(
        queue.cluster, "no-cpu-flavor", ("policy", "queue"), text, f"add a CPU flavor without taints and topology to Queue {queue.queue}"
    )


def _topology(queue: QueueView, wanted: list[FlavorView], question: Question) -> tuple[TopologyWish | None, list[FlavorView]] | Obstacle:
    """The annotation, and the flavors that can honour it: in a mixed queue a podset with one goes to topology flavors only, without one to the others only."""
    if question.topology is None or question.topology == "unconstrained":
        with_topology = [f for f in wanted if f.topology]
        if not with_topology or (not question.gpus and len(with_topology) < len(wanted)):
            return None, [f for f in wanted if not f.topology]
        return ("unconstrained", "true"), with_topology
    field = "preferred_topology" if question.preferred else "topology"
    able = [f for f in wanted if question.topology in f.levels]
    if able:
        label = able[0].levels[question.topology]
        return ("preferred" if question.preferred else "required", label), [f for f in able if f.levels[question.topology] == label]
    levels = sorted({level for f in wanted for level in f.levels})
    says = f"their topologies know {', '.join(levels)}" if levels else "they have no topology"
    text = f"no flavor of queue {queue.queue} there ({', '.join(f.name for f in wanted)}) has a level {question.topology}: {says}"
    hint = f"write one of {', '.join(levels)}, or leave {field} out" if levels else f"leave {field} out"
    return Obstacle(queue.cluster, "topology-unknown-level", ("policy", field), text, hint)


def _fitting(queue: QueueView, wanted: Sequence[FlavorView], pods: Pods, what: str = "run") -> list[FlavorView] | Obstacle:
    """The flavors that can ever hold all these pods; else what the nearest one lacks."""
    fitting, obstacles = [], []
    for flavor in wanted:
        obstacle = _too_small(queue, flavor, pods, what) or _too_little(queue, flavor, pods, what)
        if obstacle is None:
            fitting.append(flavor)
        else:
            obstacles.append(obstacle)
    return fitting or obstacles[0]


_FIELD = {"cpu": ("compute", "cpus"), "memory": ("compute", "memory"), "ephemeral-storage": ("compute", "disk")}


def _cause(resource: str, what: str) -> Path:
    if what != "run":
        return ("policy", "queue")
    return ("compute", "gpus") if is_gpu(resource) else _FIELD.get(resource, ("compute", "rdma"))


def _too_small(queue: QueueView, flavor: FlavorView, pods: Pods, what: str) -> Obstacle | None:
    """No node of the flavor holds one pod."""
    if not flavor.pools or any(_holds(pool, pods) for pool in flavor.pools):
        return None
    for resource, wanted in pods.requests:
        sizes = [size for pool in flavor.pools if (size := _size(pool, resource)) is not None]
        if sizes and len(sizes) == len(flavor.pools) and max(sizes) < quantity.parse(wanted):
            text = f"no node of flavor {flavor.name} holds {wanted} {resource}: the largest has {amount(max(sizes), wanted)}"
            return Obstacle(queue.cluster, "no-node-fits", _cause(resource, what), text, "ask for less, or for another GPU class")
    asked = ", ".join(f"{amount_} {name}" for name, amount_ in pods.requests)
    text = f"no node of flavor {flavor.name} holds a pod of {asked} at once"
    return Obstacle(queue.cluster, "no-node-fits", _cause(pods.requests[-1][0], what), text, "ask for less")


def _holds(pool: NodePool, pods: Pods) -> bool:
    return pool.count > 0 and all((size := _size(pool, name)) is None or size >= quantity.parse(wanted) for name, wanted in pods.requests)


def _size(pool: NodePool, resource: str) -> Decimal | None:
    """What one node has; None where policy does not say."""
    if resource in pool.allocatable:
        return quantity.parse(pool.allocatable[resource])
    if resource.endswith("/gpu") and (pool.gpus or pool.allocatable):
        return Decimal(pool.gpus)
    return None


def _too_little(queue: QueueView, flavor: FlavorView, pods: Pods, what: str) -> Obstacle | None:
    """The quota can't hold all the pods, even with everything that may be borrowed."""
    for resource, each in pods.requests:
        share = flavor.shares.get(resource)
        if resource in {"ephemeral-storage"} or (resource not in {"cpu", "memory"} and not is_gpu(resource)):
            continue  # whether it is covered at all is a rule of its own
        if share is None:
            text = f"queue {queue.queue} has no quota of {resource} in flavor {flavor.name}: the {what} would wait for ever"
            return Obstacle(
                queue.cluster,
                "quota-missing",
                _cause(resource, what),
                text,
                f"add {resource} to the flavor's quotas in Queue {queue.queue}",
            )
        total = quantity.parse(each) * pods.number
        if total > share.most:
            sum_text = each if pods.number == 1 else f"{pods.number} x {each} = {amount(total, each)}"
            most = share.text if share.most == share.nominal else f"{share.text}: {amount(share.most, each)}"
            text = f"the {what} asks for {sum_text} {resource}, and queue {queue.queue} can never have more of flavor {flavor.name} than {most}"
            return Obstacle(queue.cluster, "quota-too-small", _cause(resource, what), text, "ask for less, or for another queue")
    return None


def _tolerations(flavors: Sequence[FlavorView]) -> tuple[Mapping[str, Json], ...]:
    found: dict[tuple[str, str, str], Mapping[str, Json]] = {}
    for flavor in flavors:
        for taint in flavor.taints:
            if taint.value:
                toleration: dict[str, Json] = {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
            else:
                toleration = {"key": taint.key, "operator": "Exists", "effect": taint.effect}
            found[taint.key, taint.value or "", taint.effect] = toleration
    return tuple(found[key] for key in sorted(found))


def _terms(queue: QueueView, wanted: Sequence[FlavorView]) -> tuple[tuple[Mapping[str, Json], ...], ...]:
    """Alternatives of node labels that tell the wanted flavors from the queue's other GPU flavors: Kueue matches them against the flavors' labels."""
    names = {f.name for f in wanted}
    if all(f.name in names for f in queue.flavors if f.gpu) or not all(f.labels for f in wanted):
        return ()
    alternatives: list[tuple[Mapping[str, Json], ...]] = []
    for flavor in wanted:
        expressions: list[Mapping[str, Json]] = [
            {"key": key, "operator": "In", "values": [flavor.labels[key]]} for key in sorted(flavor.labels)
        ]
        alternatives.append(tuple(expressions))
    return tuple(alternatives)
