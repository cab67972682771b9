"""What all runs of a workspace have in common, computed once a policy.

In: a `Policy`. Out: `Context`: lookups by workspace with the defaults of Platform and Workspace merged. Nothing here depends on a document.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from taugen.diag import Span
from taugen.policy.model import Defaults, KindImages, Platform, Profile, Storage, Workspace
from taugen.policy.set import Item, Policy
from taugen.resolve.placement import Placer
from taugen.resolve.run import EnvVar
from taugen.spec.model import ComputeSection, ResilienceSection, RuntimeSection, StorageSection
from taugen.words import Json, Path, durations

V = TypeVar("V")
GRACE_SECONDS = 600
"""Time between SIGTERM and SIGKILL where nobody says: TauGrid's, enough for a checkpoint."""

_NO_DEFAULTS = Defaults()
_NO_RUNTIME = RuntimeSection()
_NO_COMPUTE = ComputeSection()
_NO_STORAGE = StorageSection()
_NO_IMAGES = KindImages()


@dataclass(frozen=True, slots=True)
class Layer:
    """One document of policy that holds defaults, the weaker after the stronger."""

    name: str
    item: Item[Workspace] | Item[Platform]
    defaults: Defaults

    def span(self, path: Path) -> Span:
        """The place of a default."""
        return self.item.span(("defaults", *path), key=True)


@dataclass(slots=True)
class WorkspaceContext:
    """A workspace as its runs see it."""

    name: str
    item: Item[Workspace]
    layers: tuple[Layer, ...]
    clusters: tuple[str, ...]
    queues: Mapping[str, str]
    """LocalQueue -> ClusterQueue."""
    default_queue: str | None
    profiles: Mapping[str, Item[Profile]]
    storages: Mapping[str, Item[Storage]]
    claims: Mapping[str, str]
    """PersistentVolumeClaim -> Storage."""
    compute: ComputeSection
    runtime: RuntimeSection
    storage: StorageSection
    env: Mapping[str, EnvVar]
    env_sorted: tuple[EnvVar, ...]
    labels: Mapping[str, str]
    resilience: Mapping[str, Json]
    priority: str | None
    max_duration: int | None
    grace_period: int
    restricted: bool
    env_of_profile: dict[str, tuple[EnvVar, ...]] = field(default_factory=dict)

    def image(self, kind: str) -> str | None:
        """The default image of a workload kind: the workspace's before the platform's, by kind before the general one."""
        for layer in self.layers:
            images = layer.defaults.images or _NO_IMAGES
            found = getattr(images, kind, None) or (layer.defaults.runtime or _NO_RUNTIME).image
            if found is not None:
                return str(found)
        return None

    def layer_of(self, *path: str) -> Layer | None:
        """The layer whose default at `path` counts."""
        for layer in self.layers:
            value: object = layer.defaults
            for part in path:
                value = value.get(part) if isinstance(value, Mapping) else getattr(value, part, None)
            if value is not None:
                return layer
        return None


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
    storages = {
        name: policy.storages[name]
        for name in spec.storage
        if name in policy.storages and item.name in policy.storages[name].spec.workspaces
    }
    env = _env(defaults)
    queues = {q.name: q.queue for q in spec.queues}
    return WorkspaceContext(
        name=item.name,
        item=item,
        layers=tuple(layers),
        clusters=tuple(policy.clusters_of(item.name)),
        queues=queues,
        default_queue=next((q.name for q in spec.queues if q.default), spec.queues[0].name if len(queues) == 1 else None),
        profiles={name: policy.profiles[name] for name in spec.profiles if name in policy.profiles},
        storages=storages,
        claims={(s.spec.claim.existing or name): name for name, s in storages.items()},
        compute=_merged(ComputeSection, [d.compute or _NO_COMPUTE for d in defaults]),
        runtime=_merged(RuntimeSection, [d.runtime or _NO_RUNTIME for d in defaults]),
        storage=_merged(StorageSection, [d.storage or _NO_STORAGE for d in defaults]),
        env=env,
        env_sorted=tuple(env[name] for name in sorted(env)),
        labels={k: v for d in reversed(defaults) for k, v in (d.labels or {}).items()},
        resilience=_merged(ResilienceSection, [d.resilience or ResilienceSection() for d in defaults]).model_dump(exclude_none=True),
        priority=_first(d.priority for d in defaults),
        max_duration=_seconds(_first(d.max_duration for d in defaults)),
        grace_period=_seconds(_first(d.grace_period for d in defaults)) or GRACE_SECONDS,
        restricted=spec.podSecurity == "restricted" or any(d.runtime and d.runtime.security and d.runtime.security.mode for d in defaults),
    )


S = TypeVar("S", ComputeSection, RuntimeSection, StorageSection, ResilienceSection)


def _merged(kind: type[S], stronger_first: "list[S]") -> S:
    """One section with the first value of each field."""
    fields = {}
    for section in reversed(stronger_first):
        fields.update({name: value for name in section.model_fields_set if (value := getattr(section, name)) is not None})
    return kind.model_construct(**fields)


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
        found[name] = EnvVar(name, secret=secret, key=key)
    return found


def _first(values: "object") -> str | None:
    return next((v for v in values if v is not None), None)  # type: ignore[attr-defined]


def _seconds(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return durations.parse(text)
    except durations.DurationError:
        return None  # a rule of policy has said so
