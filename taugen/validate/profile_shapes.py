"""The smallest and the largest run that a profile admits, asked of the same placement as real runs.

In: a profile and a policy. Out: `Shape` values and, for one of them, what stands in its way everywhere. A value that policy leaves open
is not made up: a shape then says less, and the questions about it are milder.
"""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from taugen.policy import model
from taugen.policy.references import settled
from taugen.policy.set import Item, Policy
from taugen.resolve.bounds import crossed
from taugen.resolve.capacity import Obstacle, Pods
from taugen.resolve.placement import Placer, Question
from taugen.resolve.sizes import times
from taugen.words import Path, quantity

Choose = Callable[[Sequence[Decimal]], Decimal]

_NEARNESS = (
    "queue-not-on-cluster",
    "gpu-not-in-queue",
    "gpu-class-not-in-queue",
    "no-cpu-flavor",
    "topology-unknown-level",
    "quota-missing",
    "no-node-fits",
    "quota-too-small",
)
"""Obstacles, the last nearest to success: of several clusters the one is told that lacks least."""


class _Known(Struct, frozen=True, eq=False):
    """A policy as the key of a cache: rules ask one after the other about the same one, and its placement is worked out once."""

    policy: Policy

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and other.policy is self.policy

    def __hash__(self) -> int:
        return id(self.policy)


class Shape(Struct, frozen=True):
    """Equal workers. `causes`: which field of the profile decides a resource (or the wish) of that name in a finding of a run."""

    gpus: int
    workers: int
    requests: tuple[tuple[str, str], ...]
    gpu_classes: tuple[str | None, ...]
    topology: str | None
    queues: tuple[str, ...]
    causes: dict[Path, Path]

    @property
    def text(self) -> str:
        """`2 workers of 8 GPUs, 96 cpu, 1600Gi memory`."""
        each = [f"{self.gpus} GPUs" if self.gpus != 1 else "1 GPU"] if self.gpus else []
        each += [f"{amount} {resource}" for resource, amount in self.requests]
        return f"{self.workers} worker{'s' if self.workers != 1 else ''} of {', '.join(each) or 'any size'}"


def smallest(policy: Policy, profile: Item[model.Profile]) -> Shape | None:
    """The least that a run of the profile can be; None where the profile does not say how many GPUs it has."""
    known = _asked(_Known(policy)).smallest
    if profile.name not in known or known[profile.name][0] is not profile:
        known[profile.name] = profile, _shape(policy, profile, "min", min)
    return known[profile.name][1]


def upper(policy: Policy, profile: Item[model.Profile]) -> Iterator[Shape]:
    """The upper bounds, each by itself: the largest worker in the smallest number, and the largest number of the smallest worker."""
    small, large = smallest(policy, profile), _shape(policy, profile, "max", max)
    if large is not None:
        yield large if small is None else replace(large, workers=small.workers)
    workers = _count(profile.spec, "workers", profile.spec.workers, "max", max)
    if small is not None and workers is not None and workers != small.workers:
        causes = dict.fromkeys(small.causes, _cause(profile.spec, "workers", ("workers",)))
        yield replace(small, workers=workers, causes=causes)


class _Asked(Struct):
    """What was found out of a policy: each workspace lists profiles, and several rules ask about them."""

    placer: Placer
    smallest: dict[str, tuple[Item[model.Profile], Shape | None]]


@lru_cache(maxsize=1)
def _asked(known: _Known) -> _Asked:
    return _Asked(Placer(known.policy), {})


def obstacle(policy: Policy, shape: Shape, clusters: Sequence[str]) -> Obstacle | None:
    """What keeps the shape off all of the clusters; None if one takes it."""
    placer = _asked(_Known(policy)).placer
    found: list[Obstacle] = []
    for queue in shape.queues:
        for gpu_class in shape.gpu_classes:
            pods = Pods(shape.workers, shape.requests)
            question = Question(queue, tuple(clusters), shape.gpus, gpu_class, None, pods, (), shape.topology, False)
            answer = placer.ask(question)
            if answer.places:
                return None
            found += answer.obstacles
    return max(found, key=lambda o: _NEARNESS.index(o.rule) if o.rule in _NEARNESS else -1, default=None)


def _shape(policy: Policy, profile: Item[model.Profile], side: str, choose: Choose) -> Shape | None:
    spec = profile.spec
    gpus = _count(spec, "gpus", spec.gpus, side, choose)
    if gpus is None and side == "min" and "gpus" in spec.override:
        gpus = 1 if spec.gpuClass is not None else 0
    workers = _count(spec, "workers", spec.workers, side, choose)
    if workers is None and (side == "min" or "workers" not in spec.override):
        workers = 1
    if gpus is None or workers is None:
        return None
    causes: dict[Path, Path] = {
        ("compute", "gpus"): _cause(spec, "gpus", ("gpus",)),
        ("policy", "queue"): ("queue",),
        ("policy", "topology"): ("topology",),
    }
    causes["compute", "gpu_class"] = ("gpuClass",)
    requests = []
    for resource, field, each in (("cpu", "cpus", spec.cpuPerGpu), ("memory", "memory", spec.memoryPerGpu)):
        own = times(each, gpus) if each is not None and gpus else None
        amount = _amount(spec, field, own, side, choose)
        fallback: Path = (f"{resource}PerGpu",) if own is not None else ()
        causes["compute", field] = _cause(spec, field, fallback)
        if amount is not None:
            requests.append((resource, amount))
    topology = None if "topology" in spec.override else spec.topology
    return Shape(gpus, workers, tuple(requests), _classes(spec, gpus), topology, _queues(policy, spec), causes)


def _cause(spec: model.Profile, field: str, own: Path) -> Path:
    return ("override", field) if field in spec.override else own


def _bounds(spec: model.Profile, field: str, side: str) -> Iterator[str]:
    bounds = spec.override[field]
    if bounds.oneOf is not None:
        yield from bounds.oneOf
    elif (bound := getattr(bounds, side)) is not None:
        yield bound


def _amount(spec: model.Profile, field: str, own: str | None, side: str, choose: Choose) -> str | None:
    """The bound of an overridable field on one side, the profile's own value where it has none on it."""
    if field not in spec.override:
        return own
    texts = list(_bounds(spec, field, side))
    try:
        amounts = {quantity.parse(text): text for text in texts}
    except quantity.QuantityError:
        return None  # profile-override says so
    if crossed(spec.override[field]):
        return None  # profile-override says so
    if not amounts:
        return own if side == "max" and own is not None else None
    return amounts[choose(list(amounts))]


def _count(spec: model.Profile, field: str, own: int | None, side: str, choose: Choose) -> int | None:
    if field not in spec.override:
        return own
    amount = _amount(spec, field, None, side, choose)
    return int(quantity.parse(amount)) if amount is not None else None


def _classes(spec: model.Profile, gpus: int) -> tuple[str | None, ...]:
    bounds = spec.override.get("gpuClass")
    if not gpus or spec.gpuClass in {None, "any"} or (bounds is not None and bounds.oneOf is None):
        return (None,)
    return tuple(dict.fromkeys([spec.gpuClass, *((bounds.oneOf or []) if bounds is not None else [])]))


def _queues(policy: Policy, spec: model.Profile) -> tuple[str, ...]:
    """The queues that a run may be in; none while something that decides over one of them is missing or broken, which is told already."""
    bounds = spec.override.get("queue")
    if spec.queue is None or (bounds is not None and bounds.oneOf is None):
        named = sorted(policy.queues)
    else:
        named = [spec.queue, *((bounds.oneOf or []) if bounds is not None else [])]
    return tuple(dict.fromkeys(named)) if all(settled(policy, queue) for queue in named) else ()
