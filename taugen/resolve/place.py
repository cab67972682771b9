"""From a run's shape to its place: asks `placement`, and says in the run's words why there is none.

In: shape, queue, wishes. Out: `Placed`. One cluster is chosen or named; several candidates are an error until placement rules exist.
"""

from typing import NamedTuple

from taugen.diag import Span
from taugen.policy.model import Profile
from taugen.policy.references import settled_flavors
from taugen.policy.set import Item
from taugen.resolve.affinity import affinity, excluded
from taugen.resolve.capacity import Obstacle, Pods
from taugen.resolve.case import Case
from taugen.resolve.placement import Answer, Question
from taugen.resolve.queues import Queues, local_queue
from taugen.resolve.run import Placement, Resources
from taugen.resolve.sizes import Size
from taugen.words import Path, suggest

CLUSTER: Path = ("policy", "cluster")
TIER: Path = ("policy", "priority")
SUBMITTER = (("cpu", "500m"), ("memory", "200Mi"))
"""What the pod asks for that submits a RayJob (KubeRay's own default, written out by `render`)."""
_OF_QUEUE = frozenset(
    {"quota-missing", "quota-too-small", "no-cpu-flavor", "gpu-class-not-in-queue", "gpu-not-in-queue", "queue-not-on-cluster"}
)

_OF_FLAVORS = frozenset({"queue-not-on-cluster", "no-cpu-flavor", "gpu-class-not-in-queue", "gpu-not-in-queue", "topology-unknown-level"})
"""Obstacles that a fault in a flavor makes."""


class Shape(NamedTuple):
    """What the pods ask for: `gpus` whole GPUs, or slices of `mig`, for each of `nodes` workers."""

    gpus: int
    mig: str | None
    nodes: int
    size: Size
    head: Resources | None


class Placed(NamedTuple):
    """The cluster and what the pods need there."""

    cluster: str
    placement: Placement
    gpu_resource: str
    gpu_class: str | None


def tier(case: Case, profile: Item[Profile] | None) -> str | None:
    """The priority tier: the run's, else the profile's, the workspace's, the platform's, else none."""
    name = case.policy.priority
    if name is None:
        return (profile.spec.priority if profile is not None else None) or case.workspace.priority
    policy = case.context.policy
    if name not in policy.tiers:
        case.report.refused = True
        if not policy.unread("PriorityTier", name):
            near = suggest.closest(name, policy.tiers)
            text = f"there is no priority tier {name}: there are {', '.join(sorted(policy.tiers)) or 'none'}"
            case.report.error("priority-unknown", TIER, text, hint=f"write {near}" if near else "leave it out for the default")
    return name


def place(case: Case, profile: Item[Profile] | None, queue: Queues, shape: Shape, priority: str | None) -> Placed | None:
    """Find the place; None with findings."""
    topology, preferred = _topology(case, profile)
    clusters = _clusters(case)
    local = local_queue(case, profile, queue)
    if local is None or clusters is None or case.report.refused:
        case.report.refused = True
        return None
    cluster_queue = case.workspace.queues[local]
    if not case.context.placer.sound(cluster_queue):
        case.report.refused = True
        return None
    helpers: tuple[tuple[str, Pods], ...] = ()
    if shape.head is not None:
        helpers = (("Ray head", Pods(1, (("cpu", shape.head.cpu), ("memory", shape.head.memory)))), ("Ray submitter", Pods(1, SUBMITTER)))
    workers = Pods(shape.nodes, (("cpu", shape.size.cpu), ("memory", shape.size.memory)))
    wanted = _gpu_class(case, profile) if shape.gpus else None
    answer = case.context.placer.ask(
        Question(cluster_queue, clusters, shape.gpus, wanted, shape.mig, workers, helpers, topology, preferred)
    )
    if len(answer.places) != 1:
        _explain(case, profile, cluster_queue, answer)
        return None
    found = answer.places[0]
    flavors, terms = found.flavors, None
    if case.policy.node_affinity:
        flavors = excluded(case, case.context.placer.view(cluster_queue, found.cluster), found)
        terms = case.policy.node_affinity
    placement = Placement(local, cluster_queue, priority, flavors, found.tolerations, found.topology, affinity(found, flavors, terms))
    return Placed(found.cluster, placement, found.gpu_resource, found.gpu_class)


def _topology(case: Case, profile: Item[Profile] | None) -> tuple[str | None, bool]:
    """The wish, and whether it is only preferred."""
    required, preferred = case.policy.topology, case.policy.preferred_topology
    if required is not None:
        if preferred is not None:
            hint = "keep topology if the pods must be that close, else preferred_topology"
            text = "topology and preferred_topology are both set, and Kueue takes one"
            case.report.error("topology-twice", ("policy", "preferred_topology"), text, hint=hint)
        return required, False
    if preferred is not None:
        return preferred, True
    return (profile.spec.topology if profile is not None else None), False


def _gpu_class(case: Case, profile: Item[Profile] | None) -> str | None:
    typed = case.compute.gpu_class
    if typed is not None and typed != "any":
        return typed
    given = profile.spec.gpuClass if profile is not None else None
    if given is None and typed is None:
        given = case.workspace.compute.gpu_class
    return None if given == "any" else given


def _clusters(case: Case) -> tuple[str, ...] | None:
    """The clusters to try: the one that the document names, or all of the workspace."""
    name, workspace, policy = case.policy.cluster, case.workspace, case.context.policy
    if name is None:
        if any(kind in ("Cluster", "") and _may_be_on(case, broken) for kind, broken in policy.broken | policy.hidden):
            case.report.refused = True  # it might be the one, or one of several
            return None
        if not workspace.clusters:
            text, hint = f"workspace {workspace.name} is on no cluster", "add a Cluster to policy, and to the clusters of the workspace"
            case.report.error("cluster-none", CLUSTER, text, hint=hint, origin=_clusters_span(case))
        return workspace.clusters or None
    if name in workspace.clusters:
        return (name,)
    case.report.refused = True
    listed = workspace.item.spec.clusters
    misspelt = suggest.closest(name, [cluster for cluster in listed or () if cluster not in policy.clusters])
    if listed != [] and misspelt is None and not policy.unread("Cluster", name):  # else policy's own finding says so
        near = suggest.closest(name, workspace.clusters)
        known = ", ".join(workspace.clusters) or "none"
        hint = f"write {near}" if near else f"write one of {known}"
        text = f"workspace {workspace.name} is not on cluster {name}: it is on {known}"
        case.report.error("cluster-unknown", CLUSTER, text, hint=hint, origin=_clusters_span(case))
    return None


def _may_be_on(case: Case, cluster: str) -> bool:
    named = case.workspace.item.spec.clusters
    return named is None or not cluster or cluster in named


def _clusters_span(case: Case) -> Span | None:
    item = case.workspace.item
    return item.span(("clusters",), key=True) if item.spec.clusters is not None else None


def _explain(case: Case, profile: Item[Profile] | None, queue: str, answer: Answer) -> None:
    """Why not exactly one cluster can take the run."""
    report, obstacles = case.report, answer.obstacles
    if answer.places:
        names = ", ".join(p.cluster for p in answer.places)
        hint = f"write the one that is meant: policy: {{cluster: {answer.places[0].cluster}}}"
        report.error("cluster-ambiguous", CLUSTER, f"more than one cluster can take this run: {names}", hint=hint)
        return
    if any(o.rule in _OF_FLAVORS for o in obstacles) and not settled_flavors(case.context.policy, queue) and _known(case, profile):
        report.refused = True  # policy's own finding is about a flavor, and this may follow from it
        return
    first = obstacles[0]
    text = "; ".join(f"on {o.cluster}: {o.text}" for o in obstacles)
    origin = _origin(case, profile, queue, first)
    if all(o.rule == first.rule for o in obstacles):
        report.error(first.rule, _cause(case, profile, first.path), text, hint=first.hint, origin=origin)
    else:
        text = f"no cluster of workspace {case.workspace.name} can take this run: {text}"
        report.error("cluster-none", CLUSTER, text, hint=f"on {first.cluster}: {first.hint}", origin=origin)


def _known(case: Case, profile: Item[Profile] | None) -> bool:
    """Whether the GPU class that the run wants, if any, is one that policy knows: no flavor is to blame for another."""
    wanted = _gpu_class(case, profile)
    policy = case.context.policy
    classes = {flavor.spec.gpuClass for flavor in policy.flavors.values()}
    return wanted is None or wanted in classes | {pool.gpuClass for cluster in policy.clusters.values() for pool in cluster.spec.nodePools}


def _cause(case: Case, profile: Item[Profile] | None, path: Path) -> Path:
    """The field to point at: `path` if the document has it, else the GPUs that a profile derives it from, else the profile."""
    if profile is None or case.doc.has(path):
        return path
    gpus: Path = ("compute", "gpus")
    return gpus if path[-1] in {"cpus", "memory"} and case.doc.has(gpus) else ("policy", "profile")


def _origin(case: Case, profile: Item[Profile] | None, queue: str, first: Obstacle) -> Span | None:
    policy = case.context.policy
    if first.rule in _OF_QUEUE:
        return policy.queues[queue].span(("quotas",), key=True)
    if first.rule == "no-node-fits":
        return policy.clusters[first.cluster].span(("nodePools",), key=True)
    if first.rule == "topology-unknown-level" and profile is not None and profile.spec.topology is not None:
        return profile.span(("topology",), key=True)
    return None
