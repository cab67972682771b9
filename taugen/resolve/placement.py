"""Where a run may go: cluster, flavors, tolerations, topology.

In: a `Question` (the shape of the pods and the wishes). Out: an `Answer`: each candidate cluster with what the pods need to be admitted
there, and for each other cluster why not. Answers are kept: most runs of a fleet ask the same few questions. Sources: Kueue
flavorassigner.go and tas_flavor_snapshot.go; behaviour seen with Kueue 0.19.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from taugen.policy.set import Policy
from taugen.resolve.capacity import Obstacle, Pods, fitting
from taugen.resolve.flavors import FlavorView, QueueView, view
from taugen.words import Json

TopologyWish = tuple[Literal["required", "preferred", "unconstrained"], str]
_MOST_ANSWERS = 20_000


class Question(NamedTuple):
    """What placement depends on.

    `gpus` counts whole GPUs of each worker, or slices of `mig`; `workers` ask for CPU and memory beside them; `helpers` are CPU pods that
    come with the workers (Ray head, submitter), with what to call them.
    """

    queue: str
    clusters: tuple[str, ...]
    gpus: int
    gpu_class: str | None
    mig: str | None
    workers: Pods
    helpers: tuple[tuple[str, Pods], ...]
    topology: str | None
    preferred: bool


class Place(Struct, frozen=True):
    """A candidate cluster. `labels` are the flavors' node labels; `distinguish`: pods must ask for them, since other GPU flavors stand in
    the queue.
    """

    cluster: str
    flavors: tuple[str, ...]
    labels: tuple[Mapping[str, str], ...]
    distinguish: bool
    tolerations: tuple[Mapping[str, Json], ...]
    topology: TopologyWish | None
    gpu_resource: str
    gpu_class: str | None


class Answer(Struct, frozen=True):
    """The candidate clusters, and what stands in the way of the others; both in the order asked."""

    places: tuple[Place, ...]
    obstacles: tuple[Obstacle, ...]


class Placer:
    """Answers questions about one policy."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._views: dict[tuple[str, str], QueueView] = {}
        self._answers: dict[Question, Answer] = {}
        self._sound: dict[str, bool] = {}

    def view(self, queue: str, cluster: str) -> QueueView:
        """The flavors of a queue on a cluster."""
        found = self._views.get((queue, cluster))
        if found is None:
            found = self._views[queue, cluster] = view(self.policy, queue, cluster)
        return found

    def sound(self, queue: str) -> bool:
        """Whether the queue and all that it names could be read: else nobody knows where its pods may go, and policy's own findings say
        so.
        """
        found = self._sound.get(queue)
        if found is None:
            item, flavors = self.policy.queues.get(queue), self.policy.flavors
            names = [quotas.flavor for quotas in item.spec.quotas] if item is not None else []
            known = item is not None and all(name in flavors for name in names)
            topologies = {flavors[name].spec.topology for name in names if name in flavors} - {None}
            found = self._sound[queue] = known and topologies <= set(self.policy.topologies)
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
        return Obstacle(
            queue.cluster, "queue-not-on-cluster", ("policy", "queue"), f"queue {queue.queue} has no flavor there", "take another queue"
        )
    wanted = _gpu_flavors(queue, question) if question.gpus else cpu_flavors(queue, "the run's pods ask")
    if isinstance(wanted, Obstacle):
        return wanted
    topology = _topology(queue, wanted, question)
    if isinstance(topology, Obstacle):
        return topology
    wish, able = topology
    resource = f"nvidia.com/mig-{question.mig}" if question.mig is not None else queue.gpu_resource
    # GPUs first: what is derived from them is not told in their stead.
    requests = (((resource, str(question.gpus)),) if question.gpus else ()) + question.workers.requests
    fit = fitting(queue, able, Pods(question.workers.number, requests))
    if isinstance(fit, Obstacle):
        return fit
    for what, pods in question.helpers:
        helpers = cpu_flavors(queue, f"the {what} asks")
        room = helpers if isinstance(helpers, Obstacle) else fitting(queue, helpers, pods, what)
        if isinstance(room, Obstacle):
            return room
    return _place(queue, fit, question, wish, resource)


def _place(queue: QueueView, fit: Sequence[FlavorView], question: Question, wish: TopologyWish | None, resource: str) -> Place:
    names = tuple(f.name for f in fit)
    classes = {f.gpu_class for f in fit}
    return Place(
        cluster=queue.cluster,
        flavors=names,
        labels=tuple(f.labels for f in fit),
        distinguish=bool(question.gpus) and not all(f.name in names for f in queue.flavors if f.gpu),
        tolerations=_tolerations(fit) if question.gpus else (),
        topology=wish,
        gpu_resource=resource,
        gpu_class=fit[0].gpu_class if question.gpus and len(classes) == 1 else None,
    )


def _gpu_flavors(queue: QueueView, question: Question) -> list[FlavorView] | Obstacle:
    gpu = [f for f in queue.flavors if f.gpu]
    wanted = [f for f in gpu if question.gpu_class is None or f.gpu_class == question.gpu_class]
    if not wanted:
        return _no_gpu(queue, question, gpu)
    others = [f for f in gpu if f not in wanted]
    mixed = next((f for f in wanted if others and not f.labels), None)
    if mixed is not None:
        text = f"flavor {mixed.name} has no node labels, so Kueue can't tell it from {others[0].name} in queue {queue.queue}"
        hint = f"add nodeLabels to Flavor {mixed.name}"
        return Obstacle(queue.cluster, "gpu-class-indistinct", ("compute", "gpu_class"), text, hint)
    return wanted


def _no_gpu(queue: QueueView, question: Question, gpu: list[FlavorView]) -> Obstacle:
    has = ", ".join(sorted({f.gpu_class or f.name for f in gpu}))
    if question.gpu_class is not None and has:
        text = f"queue {queue.queue} has no {question.gpu_class} there, only {has}"
        return Obstacle(
            queue.cluster, "gpu-class-not-in-queue", ("compute", "gpu_class"), text, f"write one of {has}, or take another queue"
        )
    text = f"queue {queue.queue} has no GPU flavor there"
    return Obstacle(queue.cluster, "gpu-not-in-queue", ("compute", "gpus"), text, "take a queue with GPUs, or write gpus: 0")


def cpu_flavors(queue: QueueView, who: str) -> list[FlavorView] | Obstacle:
    """Flavors for pods without tolerations and topology annotation: those without taints, plain ones before those of GPU nodes."""
    free = [f for f in queue.flavors if not f.taints and (queue.all_topology or not f.topology)]
    if free:
        return [f for f in free if not f.gpu] or free
    kept = ", ".join(f.name for f in queue.flavors)
    text = f"queue {queue.queue} has only flavors for GPU pods there ({kept}), and {who} for none: it would wait for ever"
    hint = f"add a CPU flavor without taints and topology to Queue {queue.queue}, or take another queue"
    return Obstacle(queue.cluster, "no-cpu-flavor", ("policy", "queue"), text, hint)


def _topology(queue: QueueView, wanted: list[FlavorView], question: Question) -> tuple[TopologyWish | None, list[FlavorView]] | Obstacle:
    """The annotation, and the flavors that can honour it: in a mixed queue a podset with one fits topology flavors only, one without only
    the others.
    """
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
    hint = f"write one of {', '.join(levels)}, or leave it out" if levels else "leave it out"
    return Obstacle(queue.cluster, "topology-unknown-level", ("policy", field), text, hint)


def _tolerations(flavors: Sequence[FlavorView]) -> tuple[Mapping[str, Json], ...]:
    """One for each taint, sorted; an empty value is left out, since a JobSet drops it when it is stored."""
    found: dict[tuple[str, str, str], Mapping[str, Json]] = {}
    for flavor in flavors:
        for taint in flavor.taints:
            if taint.value:
                toleration: dict[str, Json] = {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
            else:
                toleration = {"key": taint.key, "operator": "Exists", "effect": taint.effect}
            found[taint.key, taint.value or "", taint.effect] = toleration
    return tuple(found[key] for key in sorted(found))
