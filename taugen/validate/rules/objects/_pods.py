"""The pods of rendered runs, found once for all rules of objects.

In: rendered objects after overlays. Out: `Pod` values: each pod template with what it is, where it stands and how many pods it makes. Reads
whatever an overlay left: what is not of the expected shape is the schemas' finding, and is passed over here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from taugen.diag import Diagnostic, Span
from taugen.policy.model import Workspace
from taugen.policy.set import Item, Policy
from taugen.render.types import Object, Rendered
from taugen.words import Json, Path, dotted

RUN_KINDS = frozenset(("Job", "JobSet", "RayJob"))
Role = Literal["program", "head", "workers", "submitter"]
BY_OVERLAY = "rendering never writes this, so an overlay did: remove it from the patch"


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod template at `path` of `item`; `group` names it among several; `count` pods are made of it."""

    item: Rendered
    path: Path
    role: Role
    group: str
    count: int
    template: Object

    @property
    def spec(self) -> Object:
        """The pod's spec."""
        return mapping(self.template.get("spec"))

    @property
    def annotations(self) -> Object:
        """The template's annotations."""
        return mapping(mapping(self.template.get("metadata")).get("annotations"))

    def containers(self) -> Iterator[tuple[Path, Object]]:
        """Init containers, then containers, each with its path."""
        for field in ("initContainers", "containers"):
            for at, container in enumerate(sequence(self.spec.get(field))):
                if isinstance(container, dict):
                    yield (*self.path, "spec", field, at), container

    @property
    def resources(self) -> frozenset[str]:
        """Names of everything that its containers ask for."""
        found: set[str] = set()
        for _, container in self.containers():
            wanted = mapping(container.get("resources"))
            found.update(mapping(wanted.get("requests")), mapping(wanted.get("limits")))
        return frozenset(found)

    def finding(self, rule: str, path: Path, message: str, hint: str = BY_OVERLAY, origin: Span | None = None) -> Diagnostic:
        """A finding at `path` below the template."""
        return finding(rule, self.item, (*self.path, *path), message, hint, origin)


def mapping(value: Json) -> Object:
    """The value if it is a map, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: Json) -> list[Json]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def number(value: Json, default: int) -> int:
    """The value if it is a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def finding(  # noqa: PLR0917
    rule: str, item: Rendered, path: Path, message: str, hint: str = BY_OVERLAY, origin: Span | None = None
) -> Diagnostic:
    """A finding at `path` of an object, shown at the document that it comes from."""
    return Diagnostic(rule, f"{item.kind} {item.name}: {message}", item.span, path=dotted(path), hint=hint, origin=origin)


def runs(objects: Sequence[Rendered]) -> list[Rendered]:
    """The Jobs, JobSets and RayJobs."""
    return [item for item in objects if item.kind in RUN_KINDS]


def spec_of(item: Rendered) -> Object:
    """The object's spec."""
    return mapping(item.obj.get("spec"))


def labels_of(item: Rendered) -> Object:
    """The object's labels."""
    return mapping(mapping(item.obj.get("metadata")).get("labels"))


def annotations_of(item: Rendered) -> Object:
    """The object's annotations."""
    return mapping(mapping(item.obj.get("metadata")).get("annotations"))


def cluster_of(item: Rendered) -> str:
    """The cluster whose tree the object goes to."""
    return item.path.partition("/")[0]


def workspace_of(item: Rendered, policy: Policy) -> Item[Workspace] | None:
    """The workspace whose namespace the object is in."""
    name = policy.workspace_of(str(mapping(item.obj.get("metadata")).get("namespace")))
    return policy.workspaces[name] if name is not None else None


def queue_of(item: Rendered, policy: Policy) -> str | None:
    """The ClusterQueue that the object's LocalQueue feeds, None where policy knows neither."""
    workspace = workspace_of(item, policy)
    label = labels_of(item).get("kueue.x-k8s.io/queue-name")
    return None if workspace is None else next((q.queue for q in workspace.spec.queues if q.name == label), None)


_last: list[tuple[Sequence[Rendered], tuple[Pod, ...]]] = []


def pods(objects: Sequence[Rendered]) -> tuple[Pod, ...]:
    """Every pod template of the runs among `objects`. All rules of one call share the answer."""
    if _last and _last[0][0] is objects:
        return _last[0][1]
    found = tuple(pod for item in runs(objects) for pod in _pods(item))
    _last[:] = [(objects, found)]
    return found


def _pods(item: Rendered) -> Iterator[Pod]:
    spec = spec_of(item)
    if item.kind == "Job":
        yield Pod(item, ("spec", "template"), "program", "main", number(spec.get("parallelism"), 1), mapping(spec.get("template")))
    elif item.kind == "JobSet":
        yield from _replicated(item, spec)
    else:
        yield from _ray(item, spec)


def _replicated(item: Rendered, spec: Object) -> Iterator[Pod]:
    for at, group in enumerate(sequence(spec.get("replicatedJobs"))):
        job = mapping(mapping(mapping(group).get("template")).get("spec"))
        path = ("spec", "replicatedJobs", at, "template", "spec", "template")
        count = number(mapping(group).get("replicas"), 1) * number(job.get("parallelism"), 1)
        yield Pod(item, path, "program", str(mapping(group).get("name")), count, mapping(job.get("template")))


def _ray(item: Rendered, spec: Object) -> Iterator[Pod]:
    cluster = mapping(spec.get("rayClusterSpec"))
    head = mapping(cluster.get("headGroupSpec"))
    yield Pod(item, ("spec", "rayClusterSpec", "headGroupSpec", "template"), "head", "head", 1, mapping(head.get("template")))
    for at, value in enumerate(sequence(cluster.get("workerGroupSpecs"))):
        group = mapping(value)
        path = ("spec", "rayClusterSpec", "workerGroupSpecs", at, "template")
        count = number(group.get("replicas"), 0) * number(group.get("numOfHosts"), 1)
        yield Pod(item, path, "workers", str(group.get("groupName")), count, mapping(group.get("template")))
    if "submitterPodTemplate" in spec:
        yield Pod(item, ("spec", "submitterPodTemplate"), "submitter", "submitter", 1, mapping(spec.get("submitterPodTemplate")))
