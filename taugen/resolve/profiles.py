"""Which profile a run has, and whether it keeps to it.

In: what the document says about its shape (`Typed`) and the workspace's profiles. Out: the profile, or findings that show both places. A value that the profile
sets and `override` leaves out is fixed; what it leaves out is free.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from taugen.policy.model import Bounds, Profile
from taugen.policy.set import Item
from taugen.resolve.context import WorkspaceContext
from taugen.resolve.report import Report
from taugen.words import Path, durations, quantity, suggest

PROFILE: Path = ("policy", "profile")


class Typed(NamedTuple):
    """What the document says of what a profile may hold; None where it says nothing. `queue` is the ClusterQueue that its queue feeds."""

    kind: str
    gpus: int | None
    workers: int | None
    workers_path: Path
    cpus: str | None
    memory: str | None
    shm: str | None
    gpu_class: str | None
    topology: str | None
    topology_path: Path
    image: str | None
    queue: str | None
    priority: str | None
    max_duration: str | None


@dataclass(frozen=True, slots=True)
class Breach:
    """A value outside of what a profile allows: the field, what is wrong, what may be written, and where the profile says so (below its spec)."""

    path: Path
    message: str
    hint: str
    limit: Path


class Choice(NamedTuple):
    """The profile, or None; `decided` is false where a finding (or an unread section) leaves it open."""

    profile: Item[Profile] | None
    decided: bool


def choose(report: Report, workspace: WorkspaceContext, typed: Typed, team: str | None, lane: str | None) -> Choice:
    """The profile that the document names, else the only one that admits it."""
    policy = report.doc.spec.policy
    name = policy.profile if policy is not None else None
    if name is not None:
        return _named(report, workspace, name, typed, team, lane)
    if not workspace.profiles:
        return Choice(None, not workspace.item.spec.profiles)
    reasons: list[str] = []
    fitting: list[Item[Profile]] = []
    last: list[Breach] = []
    for profile in workspace.profiles.values():
        why = _applies(profile.spec, workspace.name, team, lane)
        if why is None:
            last = breaches(profile, typed)
            why = last[0].message if last else None
        if why is None:
            fitting.append(profile)
        else:
            reasons.append(f"{profile.name}: {why}")
    if len(fitting) == 1:
        return Choice(fitting[0], decided=True)
    if report.doc.unread & {"policy", "compute", "run", "execution", "runtime"}:
        report.refused = True
    elif fitting:
        names = ", ".join(p.name for p in fitting)
        text = f"more than one profile of workspace {workspace.name} admits this run: {names}"
        report.error("profile-ambiguous", PROFILE, text, hint="write the one that is meant: policy: {profile: " + fitting[0].name + "}")
    elif len(reasons) == 1 and last:
        _report(report, next(iter(workspace.profiles.values())), last)
    else:
        text = f"no profile of workspace {workspace.name} admits this run: {'; '.join(reasons)}"
        report.error("profile-none", PROFILE, text, hint="name the profile that is meant, and keep to what it allows")
    return Choice(None, decided=False)


def _named(report: Report, workspace: WorkspaceContext, name: str, typed: Typed, team: str | None, lane: str | None) -> Choice:
    profile = workspace.profiles.get(name)
    listed = workspace.item.spec.profiles
    if profile is None:
        if name in listed:  # it exists but could not be read: policy's own finding says so
            report.refused = True
        else:
            near = suggest.closest(name, listed)
            known = f"it has {', '.join(listed)}" if listed else "it lists none"
            text = f"workspace {workspace.name} has no profile {name}: {known}"
            report.error(
                "profile-unknown", PROFILE, text, hint=f"write {near}" if near else "", origin=workspace.item.span(("profiles",), key=True)
            )
        return Choice(None, decided=False)
    why = _applies(profile.spec, workspace.name, team, lane)
    if why is not None:
        report.error(
            "profile-not-applicable", PROFILE, f"profile {name} is not for this run: {why}", origin=profile.span(("applies",), key=True)
        )
    _report(report, profile, breaches(profile, typed))
    return Choice(profile, decided=True)


def _report(report: Report, profile: Item[Profile], found: list[Breach]) -> None:
    for breach in found:
        message = f"{breach.message} by profile {profile.name}"
        report.error("profile-limit", breach.path, message, hint=breach.hint, origin=profile.span(breach.limit, key=True))


def _applies(profile: Profile, workspace: str, team: str | None, lane: str | None) -> str | None:
    applies = profile.applies
    for what, value, wanted in (("workspace", workspace, applies.workspaces), ("team", team, applies.teams), ("lane", lane, applies.lanes)):
        if wanted and value not in wanted:
            return f"it applies to {what} {', '.join(wanted)}, not to {value or 'a run without one'}"
    return None


def breaches(profile: Item[Profile], typed: Typed) -> list[Breach]:
    """What the document says against the profile, each field once."""
    spec = profile.spec
    found: list[Breach] = []
    override = spec.override

    def check(
        field: str,
        value: str | None,
        fixed: str | None,
        path: Path,
        limit: Path,
        compare: Callable[[str, str], int] | None = quantity.compare,
    ) -> bool:
        if value is None:
            return True
        bounds = override.get(field)
        if bounds is not None:
            breach = _outside(field, value, bounds, path, compare)
        elif fixed is not None and (compare(value, fixed) if compare else value != fixed):
            breach = Breach(path, f"{field} {value} is not allowed: it is fixed at {fixed}", f"write {fixed}, or leave it out", limit)
        else:
            return True
        if breach is not None:
            found.append(breach)
        return breach is None

    if spec.kinds and typed.kind not in spec.kinds and (bounds := override.get("kind")) is None:
        hint = f"write one of {', '.join(spec.kinds)}"
        found.append(Breach(("run", "workload_kind"), f"a {typed.kind} is not allowed: only {', '.join(spec.kinds)} are", hint, ("kinds",)))
    elif spec.kinds and typed.kind not in spec.kinds and bounds is not None:
        check("kind", typed.kind, None, ("run", "workload_kind"), ("kinds",), None)
    fixed_gpus = None if spec.gpus is None else str(spec.gpus)
    gpus_fit = check("gpus", _text(typed.gpus), fixed_gpus, ("compute", "gpus"), ("gpus",))
    check("workers", _text(typed.workers), _text(spec.workers), typed.workers_path, ("workers",))
    gpus = typed.gpus if typed.gpus is not None else spec.gpus
    for field, value, per_gpu, source in (
        ("cpus", typed.cpus, spec.cpuPerGpu, "cpuPerGpu"),
        ("memory", typed.memory, spec.memoryPerGpu, "memoryPerGpu"),
    ):
        derived = quantity.multiply(per_gpu, gpus) if per_gpu is not None and gpus else None
        if value is not None:
            check(field, value, derived if gpus_fit else None, ("compute", field), (source,))
        elif derived is not None and gpus_fit and (bounds := override.get(field)) is not None:
            breach = _outside(field, derived, bounds, ("compute", "gpus"), quantity.compare)
            if breach is not None:
                text = f"{gpus} GPUs make {breach.message} ({source} {per_gpu} x {gpus})"
                found.append(Breach(breach.path, text, f"write fewer GPUs, or {field}", breach.limit))
    check("shm", typed.shm, spec.shm, ("compute", "shm_size"), ("shm",))
    gpu_class = None if typed.gpu_class == "any" else typed.gpu_class
    check("gpuClass", gpu_class, spec.gpuClass, ("compute", "gpu_class"), ("gpuClass",), None)
    check("topology", typed.topology, spec.topology, typed.topology_path, ("topology",), None)
    check("image", typed.image, spec.image, ("runtime", "image"), ("image",), None)
    check("queue", typed.queue, spec.queue, ("policy", "queue"), ("queue",), None)
    check("priority", typed.priority, spec.priority, ("policy", "priority"), ("priority",), None)
    check("max_duration", typed.max_duration, None, ("run", "max_duration"), ("override", "max_duration"), _compare_durations)
    return found


def _outside(field: str, value: str, bounds: Bounds, path: Path, compare: Callable[[str, str], int] | None) -> Breach | None:
    limit: Path = ("override", field)
    if bounds.oneOf is not None and value not in bounds.oneOf:
        return Breach(
            path, f"{field} {value} is not allowed: only {', '.join(bounds.oneOf)} are", f"write one of {', '.join(bounds.oneOf)}", limit
        )
    if compare is None:
        return None
    if bounds.max is not None and compare(value, bounds.max) > 0:
        return Breach(path, f"{field} {value} is not allowed: at most {bounds.max} is", f"write {bounds.max} or less", limit)
    if bounds.min is not None and compare(value, bounds.min) < 0:
        return Breach(path, f"{field} {value} is not allowed: at least {bounds.min} is", f"write {bounds.min} or more", limit)
    return None


def _compare_durations(first: str, second: str) -> int:
    a, b = durations.parse(first), durations.parse(second)
    return (a > b) - (a < b)


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)
