"""What all runs of a workspace have in common, computed once a policy.

In: a `Policy`. Out: `Context`: lookups by workspace with the defaults of Platform and Workspace merged. Nothing here depends on a document.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar, cast

from msgspec import Struct, field

from taugen.diag import Span
from taugen.policy.model import Defaults, KindImages, Platform, Profile, Storage, Workspace
from taugen.policy.set import Item, Policy
from taugen.resolve.placement import Placer
from taugen.resolve.run import EnvVar
from taugen.spec.model import ComputeSection, DataSection, ResilienceSection, RuntimeSection, Section
from taugen.words import Json, Path, durations

GRACE_SECONDS = 600
"""Time between SIGTERM and SIGKILL where nobody says: TauGrid's, enough for a checkpoint."""
_MOST_CHOICES = 20_000

_IMAGES = KindImages.model_construct()
_RUNTIME = RuntimeSection.model_construct()


class Layer(Struct, frozen=True):
    """One document of policy that holds defaults."""

    name: str
    item: Item[Workspace] | Item[Platform]
    defaults: Defaults

    def span(self, path: Path) -> Span:
        """The place of a default."""
        return self.item.span(("defaults", *path), key=True)


class WorkspaceContext(Struct):
    """A workspace as its runs see it. `layers` hold its defaults, the stronger first."""

    name: str
    item: Item[Workspace]
    layers: tuple[Layer, ...]
    clusters: tuple[str, ...]
    queues: Mapping[str, str]
    """LocalQueue -> ClusterQueue."""
    default_queue: str | None
    profiles: Mapping[str, Item[Profile]]
    images_matter: bool
    """Whether any of the profiles says something about images."""
    storages: Mapping[str, Item[Storage]]
    claims: Mapping[str, str]
    """PersistentVolumeClaim -> Storage."""
    compute: ComputeSection
    runtime: RuntimeSection
    storage: DataSection
    env: Mapping[str, EnvVar]
    env_sorted: tuple[EnvVar, ...]
    labels: Mapping[str, str]
    resilience: Mapping[str, Json]
    priority: str | None
    max_duration: int | None
    grace_period: int
    restricted: bool
    env_of_profile: dict[str, tuple[EnvVar, ...]] = field(default_factory=dict)
    _chosen: dict[object, Item[Profile]] = field(default_factory=dict)

    def image(self, kind: str) -> str | None:
        """The default image of a workload kind: the workspace's before the platform's, by kind before the general one."""
        for layer in self.layers:
            found = getattr(layer.defaults.images or _IMAGES, kind, None) or (layer.defaults.runtime or _RUNTIME).image
            if found is not None:
                return str(found)
        return None

    def chosen(self, question: object) -> Item[Profile] | None:
        """The profile that was found before for the same question."""
        return self._chosen.get(question)

    def remember(self, question: object, profile: Item[Profile]) -> None:
        """Keep the answer to a question (anything hashable): most runs of a workspace ask the same few."""
        if len(self._chosen) >= _MOST_CHOICES:
            self._chosen.clear()
        self._chosen[question] = profile


class Context:
    """The lookups of one policy."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.placer = Placer(policy)
        self._workspaces: dict[str, WorkspaceContext] = {}

    def workspace(self, name: str) -> WorkspaceContext | None:
        """The workspace `name`, None where policy has none of that name."""
        found = self._workspaces.get(name)
        if found is None and name in self.policy.workspaces:
            found = self._workspaces[name] = _build(self.policy, self.policy.workspaces[name])
        return found


def _build(policy: Policy, item: Item[Workspace]) -> WorkspaceContext:
    spec = item.spec
    layers: list[Layer] = [Layer("workspace", item, spec.defaults)]
    if policy.platform is not None:
        layers.append(Layer("platform", policy.platform, policy.platform.spec.defaults))
    defaults = [layer.defaults for layer in layers]
    storages = _storages(policy, item)
    profiles = {name: policy.profiles[name] for name in spec.profiles if name in policy.profiles}
    env = _env(defaults)
    return WorkspaceContext(
        name=item.name,
        item=item,
        layers=tuple(layers),
        clusters=tuple(policy.clusters_of(item.name)),
        queues={q.name: q.queue for q in spec.queues},
        default_queue=next((q.name for q in spec.queues if q.default), spec.queues[0].name if len(spec.queues) == 1 else None),
        profiles=profiles,
        images_matter=any(p.spec.image is not None or "image" in p.spec.override for p in profiles.values()),
        storages=storages,
        claims={(s.spec.claim.existing or name): name for name, s in storages.items()},
        compute=_merged(ComputeSection, [d.compute for d in defaults]),
        runtime=_merged(RuntimeSection, [d.runtime for d in defaults]),
        storage=_merged(DataSection, [d.storage for d in defaults]),
        env=env,
        env_sorted=tuple(env[name] for name in sorted(env)),
        labels=_labels(defaults),
        resilience=_merged(ResilienceSection, [d.resilience for d in defaults]).written(),
        priority=_first(d.priority for d in defaults),
        max_duration=_seconds(d.max_duration for d in defaults),
        grace_period=_seconds(d.grace_period for d in defaults) or GRACE_SECONDS,
        restricted=spec.podSecurity == "restricted" or any(_restricts(d.runtime) for d in defaults),
    )


def _storages(policy: Policy, item: Item[Workspace]) -> dict[str, Item[Storage]]:
    """The Storages that the workspace lists and that list the workspace."""
    found = {name: policy.storages[name] for name in item.spec.storage if name in policy.storages}
    return {name: storage for name, storage in found.items() if item.name in storage.spec.workspaces}


S = TypeVar("S", bound=Section)


def _merged(kind: type[S], stronger_first: "list[S | None]") -> S:
    """One section with the first value of each field, those of sections in it (`compute.head`, `compute.rdma`) one by one."""
    found = cast("S", kind.model_construct())  # there is nothing to judge
    for section in reversed(stronger_first):
        if section is not None:
            found = _over(section, found)
    return found


def _over(stronger: S, weaker: S) -> S:
    """What `stronger` says, and what `weaker` says of the rest."""
    update: dict[str, object] = {}
    for name in stronger.model_fields_set:
        value, other = getattr(stronger, name), getattr(weaker, name)
        if value is not None:
            update[name] = _over(value, other) if isinstance(value, Section) and other is not None else value
    return weaker.model_copy(update=update)


def _labels(stronger_first: list[Defaults]) -> dict[str, str]:
    found = {key: value for defaults in reversed(stronger_first) for key, value in (defaults.labels or {}).items()}
    return {key: found[key] for key in sorted(found)}


def _env(stronger_first: list[Defaults]) -> dict[str, EnvVar]:
    found: dict[str, EnvVar] = {}
    for defaults in reversed(stronger_first):
        if defaults.runtime is not None:
            found |= section_env(defaults.runtime)
    return found


def section_env(runtime: RuntimeSection) -> dict[str, EnvVar]:
    """The variables that a `runtime` section sets."""
    found = {name: EnvVar(name, value) for name, value in (runtime.env or {}).items()}
    for name, reference in (runtime.env_secret or {}).items():
        secret, _, key = reference.partition(":")
        found[name] = EnvVar(name, "", secret, key)
    return found


def _restricts(runtime: RuntimeSection | None) -> bool:
    return runtime is not None and runtime.security is not None and runtime.security.mode == "restricted"


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value is not None), None)


def _seconds(values: Iterable[str | None]) -> int | None:
    text = _first(values)
    return None if text is None else durations.parse(text)
