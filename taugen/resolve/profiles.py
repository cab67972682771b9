"""Which profile a run has, and whether it keeps to it.

In: what the document says about its shape (`Typed`) and the workspace's profiles. Out: the profile, or findings that show both places. A
value that the profile sets and `override` leaves out is fixed; what it leaves out is free.
"""

from typing import NamedTuple

from msgspec import Struct, field

from taugen.policy.model import Bounds, Profile
from taugen.policy.set import Item
from taugen.resolve.bounds import Compare, crossed, order, outside
from taugen.resolve.case import KIND, Case
from taugen.resolve.program import typed_nodes
from taugen.resolve.queues import Queues
from taugen.resolve.sizes import times
from taugen.words import Path, durations, quantity, suggest

PROFILE: Path = ("policy", "profile")
_SHAPING: tuple[Path, ...] = (
    PROFILE,
    ("compute",),
    KIND,
    ("execution", "nodes"),
    ("runtime", "image"),
    ("policy", "queue"),
    ("policy", "lane"),
)


_KIND_AND_GPUS: tuple[Path, ...] = (KIND, ("compute", "gpus"))


class Typed(NamedTuple):
    """What the document says of what a profile may hold; None where it says nothing. `queue` is the ClusterQueue that its queue feeds."""

    kind: str
    gpus: int | None
    workers: int | None
    workers_path: Path
    cpus: str | None
    cpu_limit: str | None
    memory: str | None
    memory_limit: str | None
    shm: str | None
    gpu_class: str | None
    topology: str | None
    preferred: bool
    image: str | None
    queue: str | None
    priority: str | None
    max_duration: str | None


class Breach(Struct, frozen=True):
    """A value outside of what a profile allows: the field, what it is, what the profile says, what may be written, where the profile says
    so.
    """

    path: Path
    value: str
    says: str
    hint: str
    limit: Path


class Choice(NamedTuple):
    """The profile, or None; `decided` is false where a finding (or an unread field) leaves it open."""

    profile: Item[Profile] | None
    decided: bool


_OPEN = Choice(None, decided=False)


def choose(case: Case, queue: Queues) -> Choice:
    """The profile that the document names, else the only one that admits it."""
    workspace, wishes = case.workspace, case.policy
    name, listed = wishes.profile, workspace.item.spec.profiles
    if name is None and not listed:
        return Choice(None, decided=True)
    if not case.kind_known or (name is None and len(workspace.profiles) < len(listed)):
        case.report.refused = True  # a profile that could not be read might be the one
        return _OPEN
    typed = _typed(case, queue)
    question = (name, typed, wishes.team, wishes.lane)
    kept = workspace.chosen(question)
    if kept is not None:
        return Choice(kept, decided=True)
    choice = _named(case, name, typed) if name is not None else _only(case, typed)
    if choice.profile is not None and not case.report.refused:
        workspace.remember(question, choice.profile)
    return choice


def _typed(case: Case, queue: Queues) -> Typed:
    compute, wishes = case.compute, case.policy
    workers, path = typed_nodes(case)
    preferred = wishes.topology is None and wishes.preferred_topology is not None
    return Typed(
        kind=case.kind,
        gpus=compute.gpus,
        workers=workers,
        workers_path=path,
        cpus=compute.cpus,
        cpu_limit=compute.cpu_limit,
        memory=compute.memory,
        memory_limit=compute.memory_limit,
        shm=compute.shm_size,
        gpu_class=None if compute.gpu_class == "any" else compute.gpu_class,
        topology=wishes.preferred_topology if preferred else wishes.topology,
        preferred=preferred,
        image=case.runtime.image if case.workspace.images_matter else None,
        queue=queue.typed,
        priority=wishes.priority if wishes.priority in case.context.policy.tiers else None,
        max_duration=case.run.max_duration,
    )


def _only(case: Case, typed: Typed) -> Choice:
    """The only profile that admits the document; else all of them with what keeps each from it."""
    report, workspace = case.report, case.workspace
    reasons: list[str] = []
    fitting: list[Item[Profile]] = []
    missed: list[tuple[Item[Profile], list[Breach]]] = []
    misspelt: list[_Unfit] = []
    for profile in workspace.profiles.values():
        unfit, found = _unfit(profile.spec, case), breaches(profile.spec, typed)
        if unfit is not None:
            reasons.append(f"{profile.name} ({unfit.why})")
            misspelt += [unfit] if unfit.near and not found else []
        elif found:
            missed.append((profile, found))
            reasons.append(f"{profile.name} ({found[0].value}, and it {found[0].says})")
        else:
            fitting.append(profile)
    if len(fitting) == 1:
        return Choice(fitting[0], decided=True)
    if any(case.doc.lost(path) for path in _SHAPING):
        report.refused = True
    elif fitting:
        names = ", ".join(p.name for p in fitting)
        text = f"more than one profile of workspace {workspace.name} admits this run: {names}"
        hint = f"write the one that is meant: policy: {{profile: {fitting[0].name}}}"
        if typed.gpus is None and len({profile.spec.gpus for profile in fitting}) > 1:
            hint += ", or how many GPUs each worker gets: compute: {gpus: N}"
        report.error("profile-ambiguous", PROFILE, text, hint=hint)
    else:
        _none(case, reasons, missed, misspelt)
    return _OPEN


def _none(case: Case, reasons: list[str], missed: list[tuple[Item[Profile], list[Breach]]], misspelt: list["_Unfit"]) -> None:
    """No profile admits the document. The one that is evidently meant, if kind and GPUs leave one, is held against it field by field; where
    another word would do, that is told alone."""
    text = f"no profile of workspace {case.workspace.name} admits this run: {'; '.join(reasons)}"
    if misspelt:
        case.report.error("profile-none", misspelt[0].path, text, hint=f"write {misspelt[0].near}")
        return
    if len(missed) == len(reasons) == 1:
        _tell(case, *missed[0])
        return
    near = [(profile, found) for profile, found in missed if not any(b.path in _KIND_AND_GPUS for b in found)]
    places = {found[0].path for _, found in missed}
    where = next(iter(places)) if len(places) == 1 else PROFILE
    hint, origin = "name the profile that is meant, and keep to what it allows", None
    if len(near) == 1:
        (profile, (first, *rest)) = near[0]
        where, origin = first.path, profile.span(first.limit, key=True)
        hint = f"{first.hint}, or name another profile and keep to it"
        _tell(case, profile, rest)
    case.report.error("profile-none", where, text, hint=hint, origin=origin)


def _named(case: Case, name: str, typed: Typed) -> Choice:
    workspace, report = case.workspace, case.report
    profile = workspace.profiles.get(name)
    listed = workspace.item.spec.profiles
    if profile is None:
        unknown = [one for one in listed if one not in workspace.profiles]
        if name in listed or suggest.closest(name, unknown):  # missing, broken or misspelt there: policy's own finding says so
            report.refused = True
        else:
            near = suggest.closest(name, listed)
            known = f"it has {', '.join(listed)}" if listed else "it lists none"
            hint = f"write {near}" if near else f"write one of {', '.join(listed)}" if listed else "leave it out"
            origin = workspace.item.span(("profiles",), key=True) if listed else workspace.item.span()
            report.error("profile-unknown", PROFILE, f"workspace {workspace.name} has no profile {name}: {known}", hint=hint, origin=origin)
        return _OPEN
    unfit = _unfit(profile.spec, case)
    if unfit is not None:
        text, origin = f"profile {name} is not for this run: {unfit.why}", profile.span(("applies",), key=True)
        where, hint = (unfit.path, f"write {unfit.near}, or take another profile") if unfit.near else (PROFILE, "take another profile")
        report.error("profile-not-applicable", where, text, hint=hint, origin=origin)
    _tell(case, profile, breaches(profile.spec, typed))
    return Choice(profile, decided=True)


def _tell(case: Case, profile: Item[Profile], found: list[Breach]) -> None:
    for breach in found:
        if breach.limit[0] == "override" and crossed(profile.spec.override[str(breach.limit[1])]):
            case.report.refused = True  # profile-override says so
            continue
        text = f"{breach.value}, and profile {profile.name} {breach.says}"
        case.report.error("profile-limit", breach.path, text, hint=breach.hint, origin=profile.span(breach.limit, key=True))


class _Unfit(NamedTuple):
    """Whom a profile is not for: why, the field that says so, and what may have been meant there."""

    why: str
    path: Path
    near: str | None


def _unfit(profile: Profile, case: Case) -> _Unfit | None:
    applies = profile.applies
    for what, value, wanted in (
        ("workspace", case.workspace.name, applies.workspaces),
        ("team", case.policy.team, applies.teams),
        ("lane", case.policy.lane, applies.lanes),
    ):
        if wanted and value not in wanted:
            near = suggest.closest(value, wanted) if value and what != "workspace" else None
            return _Unfit(f"it is for {what} {', '.join(wanted)}, not for {value or 'a run without one'}", ("policy", what), near)
    return None


class _Check(Struct):
    """Holds values against one profile."""

    spec: Profile
    found: list[Breach] = field(default_factory=list)

    def __call__(
        self, name: str, value: str | None, fixed: str | None, path: Path, *, limit: str = "", compare: Compare | None = quantity.compare
    ) -> bool:
        """Whether `value`, typed at `path`, is what the profile's field `limit` (default: `name`) and its override `name` allow."""
        if value is None:
            return True
        bounds = self.spec.override.get(name)
        if bounds is not None:
            breach = _outside(name, f"{path[-1]} is {value}", value, bounds, path=path, compare=compare)
        elif fixed is not None and (compare(value, fixed) if compare else value != fixed):
            breach = Breach(path, f"{path[-1]} is {value}", f"fixes it at {fixed}", f"write {fixed}, or leave it out", (limit or name,))
        else:
            return True
        if breach is not None:
            self.found.append(breach)
        return breach is None


def breaches(spec: Profile, typed: Typed) -> list[Breach]:
    """What the document says against the profile, each field once."""
    check = _Check(spec)
    if spec.kinds and typed.kind not in spec.kinds and "kind" not in spec.override:
        kinds = ", ".join(spec.kinds)
        check.found.append(Breach(KIND, f"the run is a {typed.kind}", f"is only for {kinds}", f"write one of {kinds}", ("kinds",)))
    elif spec.kinds and typed.kind not in spec.kinds:
        check("kind", typed.kind, None, KIND, compare=None)
    gpus_fit = check("gpus", _text(typed.gpus), _text(spec.gpus), ("compute", "gpus"))
    check("workers", _text(typed.workers), _text(spec.workers), typed.workers_path)
    gpus = typed.gpus if typed.gpus is not None else spec.gpus
    shared = gpus if gpus_fit else None
    _per_gpu(check, "cpus", shared, ("cpuPerGpu", spec.cpuPerGpu), (typed.cpus, typed.cpu_limit, "cpu_limit"))
    _per_gpu(check, "memory", shared, ("memoryPerGpu", spec.memoryPerGpu), (typed.memory, typed.memory_limit, "memory_limit"))
    check("shm", typed.shm, spec.shm, ("compute", "shm_size"))
    check("gpuClass", typed.gpu_class, spec.gpuClass, ("compute", "gpu_class"), compare=None)
    check("topology", typed.topology, spec.topology, ("policy", "preferred_topology" if typed.preferred else "topology"), compare=None)
    check("image", typed.image, spec.image, ("runtime", "image"), compare=None)
    check("queue", typed.queue, spec.queue, ("policy", "queue"), compare=None)
    check("priority", typed.priority, spec.priority, ("policy", "priority"), compare=None)
    check("max_duration", typed.max_duration, None, ("run", "max_duration"), compare=_compare_durations)
    return check.found


def _per_gpu(check: _Check, name: str, gpus: int | None, given: tuple[str, str | None], typed: tuple[str | None, str | None, str]) -> None:
    """`cpus` or `memory`: typed, or derived from the GPUs; the derived value is reported at the GPUs, since they cause it."""
    (source, each), (value, limit, limit_name) = given, typed
    derived = times(each, gpus) if each is not None and gpus else None
    bounds = check.spec.override.get(name)
    if value is not None:
        check(name, value, derived, ("compute", name), limit=source)
    elif derived is not None and bounds is not None:
        said = f"{gpus} GPUs make {name} {derived} ({source} is {each})"
        breach = _outside(name, said, derived, bounds, path=("compute", "gpus"), compare=quantity.compare)
        if breach is not None:
            check.found.append(breach)
    most = bounds.max if bounds is not None else derived
    if limit is not None and most is not None and (order(limit, most) or 0) > 0:
        where: Path = ("override", name) if bounds is not None else (source,)
        check.found.append(
            Breach(("compute", limit_name), f"{limit_name} is {limit}", f"allows at most {most}", f"write {most} or less", where)
        )


def _outside(name: str, said: str, value: str, bounds: Bounds, *, path: Path, compare: Compare | None) -> Breach | None:
    found = outside(value, bounds, compare)
    return None if found is None else Breach(path, said, found.says, found.hint, ("override", name))


def _compare_durations(first: str, second: str) -> int:
    a, b = durations.parse(first), durations.parse(second)
    return (a > b) - (a < b)


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)
