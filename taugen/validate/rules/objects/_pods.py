"""The pods of rendered runs, found once for all rules of objects.

In: rendered objects after overlays. Out: `Pod` values: each pod template with what it is, where it stands and how many pods it makes. Reads
whatever an overlay left: what is not of the expected shape is the schemas' finding, and is passed over here.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from taugen.diag import Diagnostic, Span
from taugen.policy.model import Workspace
from taugen.policy.set import Item, Policy
from taugen.render.frame import QUEUE_LABEL
from taugen.render.types import Object, Rendered
from taugen.resolve.flavors import is_gpu
from taugen.words import Json, Path, dotted

RUN_KINDS = frozenset(("Job", "JobSet", "RayJob"))
Role = Literal["program", "head", "workers", "submitter"]
BY_OVERLAY = "rendering never writes this, so an overlay did: remove it from the patch"


class Pod(Struct, frozen=True):
    """A pod template at `path` of `item`; `group` names it among several; `count` pods are made of it.

    `containers` are init containers, then containers, each with its path below the template; `resources` the names of all that
    they ask for.
    """

    item: Rendered
    path: Path
    role: Role
    group: str
    count: int
    template: Object
    spec: Object
    annotations: Object
    containers: tuple[tuple[Path, Object], ...]
    resources: frozenset[str]

    @property
    def gpus(self) -> bool:
        """Whether it asks for a GPU."""
        return any(map(is_gpu, self.resources))

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


class Known(Struct):
    """Lookups of one policy, filled as they are asked for."""

    policy: Policy
    namespaces: dict[str, Item[Workspace]]
    queues: dict[tuple[str, str], str]
    """(namespace, LocalQueue) -> ClusterQueue."""
    claims: dict[str, frozenset[str]]
    """Workspace -> claims of its storages."""
    covers: dict[Hashable, tuple[str, bool]]
    """What `resource-covered` has found for equal pods."""

    def workspace(self, item: Rendered) -> Item[Workspace] | None:
        """The workspace whose namespace the object is in."""
        return self.namespaces.get(str(mapping(item.obj.get("metadata")).get("namespace")))

    def queue(self, item: Rendered) -> str | None:
        """The ClusterQueue that the object's LocalQueue feeds, None where policy knows neither."""
        metadata = mapping(item.obj.get("metadata"))
        return self.queues.get((str(metadata.get("namespace")), str(mapping(metadata.get("labels")).get(QUEUE_LABEL))))


_known: list[Known] = []


def known(policy: Policy) -> Known:
    """The lookups of a policy; those of the last one are kept."""
    if not _known or _known[0].policy is not policy:
        items = [policy.workspaces[name] for name in sorted(policy.workspaces)]
        storages = {item.name: [policy.storages[name] for name in item.spec.storage if name in policy.storages] for item in items}
        _known[:] = [
            Known(
                policy,
                {item.spec.namespace: item for item in reversed(items)},
                {(item.spec.namespace, queue.name): queue.queue for item in items for queue in item.spec.queues},
                {
                    name: frozenset(s.spec.claim.existing or s.name for s in found if name in s.spec.workspaces)
                    for name, found in storages.items()
                },
                {},
            )
        ]
    return _known[0]


_last: list[tuple[Sequence[Rendered], tuple[Pod, ...]]] = []


def pods(objects: Sequence[Rendered]) -> tuple[Pod, ...]:
    """Every pod template of the runs among `objects`. All rules of one call share the answer."""
    if _last and _last[0][0] is objects:
        return _last[0][1]
    found = tuple(pod for item in runs(objects) for pod in _pods(item))
    _last[:] = [(objects, found)]
    return found


def _pod(item: Rendered, path: Path, role: Role, group: str, count: int, value: Json) -> Pod:  # noqa: PLR0917
    template = mapping(value)
    spec = mapping(template.get("spec"))
    containers: list[tuple[Path, Object]] = []
    wanted: set[str] = set()
    for field in ("initContainers", "containers"):
        for at, container in enumerate(sequence(spec.get(field))):
            if isinstance(container, dict):
                containers.append((("spec", field, at), container))
                resources = mapping(container.get("resources"))
                wanted.update(mapping(resources.get("requests")), mapping(resources.get("limits")))
    annotations = mapping(mapping(template.get("metadata")).get("annotations"))
    return Pod(item, path, role, group, count, template, spec, annotations, tuple(containers), frozenset(wanted))


def _pods(item: Rendered) -> Iterator[Pod]:
    spec = spec_of(item)
    if item.kind == "Job":
        yield _pod(item, ("spec", "template"), "program", "main", number(spec.get("parallelism"), 1), spec.get("template"))
    elif item.kind == "JobSet":
        yield from _replicated(item, spec)
    else:
        yield from _ray(item, spec)


def _replicated(item: Rendered, spec: Object) -> Iterator[Pod]:
    for at, group in enumerate(sequence(spec.get("replicatedJobs"))):
        job = mapping(mapping(mapping(group).get("template")).get("spec"))
        path = ("spec", "replicatedJobs", at, "template", "spec", "template")
        count = number(mapping(group).get("replicas"), 1) * number(job.get("parallelism"), 1)
        yield _pod(item, path, "program", str(mapping(group).get("name")), count, job.get("template"))


def _ray(item: Rendered, spec: Object) -> Iterator[Pod]:
    cluster = mapping(spec.get("rayClusterSpec"))
    head = mapping(cluster.get("headGroupSpec"))
    yield _pod(item, ("spec", "rayClusterSpec", "headGroupSpec", "template"), "head", "head", 1, head.get("template"))
    for at, value in enumerate(sequence(cluster.get("workerGroupSpecs"))):
        group = mapping(value)
        path = ("spec", "rayClusterSpec", "workerGroupSpecs", at, "template")
        count = number(group.get("replicas"), 0) * number(group.get("numOfHosts"), 1)
        yield _pod(item, path, "workers", str(group.get("groupName")), count, group.get("template"))
    if "submitterPodTemplate" in spec:
        yield _pod(item, ("spec", "submitterPodTemplate"), "submitter", "submitter", 1, spec.get("submitterPodTemplate"))
