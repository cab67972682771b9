"""From a run's shape to its place: asks `placement` and says in the run's words why there is none.

In: shape, queue, wishes. Out: `Placed`. One cluster is chosen or named; several candidates are an error until placement rules exist.
"""

from collections.abc import Mapping
from typing import NamedTuple

from taugen.diag import Span
from taugen.policy.model import Profile
from taugen.policy.set import Item
from taugen.resolve.context import Context, WorkspaceContext
from taugen.resolve.placement import Answer, Place, Pods, Question
from taugen.resolve.queues import Queues, local_queue
from taugen.resolve.report import Report
from taugen.resolve.run import Placement, Resources
from taugen.words import Json, Path, suggest

CLUSTER: Path = ("policy", "cluster")
SUBMITTER = (("cpu", "500m"), ("memory", "200Mi"))
"""What the pod asks for that submits a RayJob (KubeRay's own default, written out by `render`)."""


class Shape(NamedTuple):
    """What the pods ask for."""

    kind: str
    gpus: int
    mig: str | None
    nodes: int
    cpu: str
    memory: str
    head: Resources | None


class Placed(NamedTuple):
    """The cluster and what the pods need there."""

    cluster: str
    placement: Placement
    gpu_resource: str
    gpu_class: str | None


def place(
    report: Report,
    context: Context,
    workspace: WorkspaceContext,
    profile: Item[Profile] | None,
    queue: Queues,
    shape: Shape,
    tier: str | None,
) -> Placed | None:
    """Find the place; None with findings."""
    wishes = report.doc.spec.policy
    topology, preferred = _topology(report, profile)
    clusters = _clusters(report, context, workspace)
    local = local_queue(report, workspace, profile, queue)
    if local is None or clusters is None or report.refused:
        return None
    cluster_queue = workspace.queues[local]
    if cluster_queue not in context.policy.queues:
        report.refused = True  # a rule of policy says that the workspace names a queue that is not there
        return None
    helpers: tuple[tuple[str, Pods], ...] = ()
    if shape.head is not None:
        helpers = (("Ray head", Pods(1, (("cpu", shape.head.cpu), ("memory", shape.head.memory)))), ("Ray submitter", Pods(1, SUBMITTER)))
    question = Question(
        queue=cluster_queue,
        clusters=clusters,
        gpus=shape.gpus,
        gpu_class=_gpu_class(report, profile) if shape.gpus else None,
        mig=shape.mig,
        workers=Pods(shape.nodes, (("cpu", shape.cpu), ("memory", shape.memory))),
        helpers=helpers,
        topology=topology,
        preferred=preferred,
    )
    answer = context.placer.ask(question)
    if len(answer.places) != 1:
        _explain(report, context, workspace, profile, cluster_queue, answer)
        return None
    found = answer.places[0]
    terms = wishes.node_affinity if wishes is not None else None
    own = [_expression(term.key, term.operator, term.values) for term in terms or ()]
    placement = Placement(local, cluster_queue, tier, found.flavors, found.tolerations, found.topology, _affinity(found, own))
    return Placed(found.cluster, placement, found.gpu_resource, found.gpu_class)


def _topology(report: Report, profile: Item[Profile] | None) -> tuple[str | None, bool]:
    """The wish and whether it is only preferred."""
    wishes = report.doc.spec.policy
    required = wishes.topology if wishes is not None else None
    preferred = wishes.preferred_topology if wishes is not None else None
    if required is not None and preferred is not None:
        text = "topology and preferred_topology are both set, and Kueue takes one"
        report.error(
            "topology-twice",
            ("policy", "preferred_topology"),
            text,
            hint="keep topology if the pods must be that close, else preferred_topology",
        )
    if required is None and preferred is None and profile is not None:
        return profile.spec.topology, False
    return (required, False) if required is not None else (preferred, True)


def _gpu_class(report: Report, profile: Item[Profile] | None) -> str | None:
    compute = report.doc.spec.compute
    typed = compute.gpu_class if compute is not None else None
    if typed is not None and typed != "any":
        return typed
    return profile.spec.gpuClass if profile is not None and profile.spec.gpuClass != "any" else None


def _clusters(report: Report, context: Context, workspace: WorkspaceContext) -> tuple[str, ...] | None:
    """The clusters to try: the one that the document names, or all of the workspace."""
    wishes = report.doc.spec.policy
    name = wishes.cluster if wishes is not None else None
    if name is None:
        if not workspace.clusters and not context.policy.broken:
            report.error("cluster-none", CLUSTER, f"workspace {workspace.name} has no cluster", hint="add a Cluster to policy")
        return workspace.clusters or None
    if name in workspace.clusters:
        return (name,)
    if ("Cluster", name) in context.policy.broken:
        report.refused = True
        return None
    near = suggest.closest(name, workspace.clusters)
    known = ", ".join(workspace.clusters) or "none"
    text = f"workspace {workspace.name} is not on cluster {name}, only on {known}"
    origin = workspace.item.span(("clusters",), key=True) if workspace.item.spec.clusters is not None else None
    report.error("cluster-unknown", CLUSTER, text, hint=f"write {near}" if near else f"write one of {known}", origin=origin)
    return None


def _explain(
    report: Report, context: Context, workspace: WorkspaceContext, profile: Item[Profile] | None, queue: str, answer: Answer
) -> None:
    if answer.places:
        names = ", ".join(p.cluster for p in answer.places)
        hint = f"write policy: {{cluster: {answer.places[0].cluster}}}"
        report.error("cluster-ambiguous", CLUSTER, f"more than one cluster can take this run: {names}", hint=hint)
        return
    obstacles = answer.obstacles
    if not obstacles:
        report.refused = True
        return
    first = obstacles[0]
    alike = all(o.rule == first.rule for o in obstacles)
    text = "; ".join(f"on {o.cluster}: {o.text}" for o in obstacles)
    origin = _origin(context, queue, profile, first.rule)
    if len(obstacles) == 1 or alike:
        report.error(first.rule, _cause(report, profile, first.path), text, hint=first.hint, origin=origin)
    else:
        report.error(
            "cluster-none", CLUSTER, f"no cluster of workspace {workspace.name} can take this run: {text}", hint=first.hint, origin=origin
        )


def _cause(report: Report, profile: Item[Profile] | None, path: Path) -> Path:
    """The field to point at: the one that causes it if the document has it, else the profile that brought it."""
    if report.doc.has(path) or profile is None:
        return path
    return ("policy", "profile")


def _origin(context: Context, queue: str, profile: Item[Profile] | None, rule: str) -> Span | None:
    if rule in {"quota-missing", "quota-too-small", "no-cpu-flavor", "gpu-class-not-in-queue", "gpu-not-in-queue", "queue-not-on-cluster"}:
        return context.policy.queues[queue].span(("quotas",), key=True)
    if rule == "topology-unknown-level" and profile is not None and profile.spec.topology is not None:
        return profile.span(("topology",), key=True)
    return None


def _expression(key: str, operator: str, values: list[str] | None) -> Mapping[str, Json]:
    if values is None:
        return {"key": key, "operator": operator}
    return {"key": key, "operator": operator, "values": list(values)}


def _affinity(found: Place, own: list[Mapping[str, Json]]) -> Mapping[str, Json] | None:
    """Required node affinity: for each way to a wanted flavor, that flavor's labels and the document's own terms."""
    alternatives = found.terms or (((),) if own else ())
    if not alternatives:
        return None
    terms: list[Json] = [{"matchExpressions": [dict(e) for e in (*alternative, *own)]} for alternative in alternatives]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
