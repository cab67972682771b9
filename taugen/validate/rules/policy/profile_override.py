"""The bounds of a profile are fields that runs can set, with values that they can have.

Runs are held against these bounds: a misspelt field would leave its value fixed, and a bound that can't be read would let everything or
nothing through.

Breaks:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 1
      gpuClass: l40s-48gb
      queue: research
      override:
        gpu: {max: 4}

Mends:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 1
      gpuClass: l40s-48gb
      queue: research
      override:
        gpus: {max: 4}

Source: this project
"""

from collections.abc import Iterator
from typing import Any

from taugen.diag import Diagnostic
from taugen.policy import model
from taugen.policy.set import Item, Policy
from taugen.spec.model import TOPOLOGIES
from taugen.words import Path, durations, quantity, suggest
from taugen.words.errors import TextError, shown

ID = "profile-override"

_UNITS: dict[str, quantity.Unit] = {"gpus": "count", "workers": "count", "cpus": "cpu", "memory": "memory", "shm": "memory"}
_MEANT = {
    "nodes": "workers",
    "cpu": "cpus",
    "cpuPerGpu": "cpus",
    "memoryPerGpu": "memory",
    "mem": "memory",
    "shm_size": "shm",
    "gpu_class": "gpuClass",
    "tier": "priority",
    "kinds": "kind",
    "workload_kind": "kind",
    "duration": "max_duration",
}
_OWN = {
    "gpus": "gpus",
    "workers": "workers",
    "shm": "shm",
    "gpuClass": "gpuClass",
    "topology": "topology",
    "image": "image",
    "queue": "queue",
    "priority": "priority",
}
_NAMED = {"queue": "Queue", "priority": "PriorityTier"}


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    classes = sorted({f.spec.gpuClass for f in policy.flavors.values() if f.spec.gpuClass is not None})
    for profile in policy.each("Profile"):
        for field, bounds in profile.spec.override.items():
            if field not in model.OVERRIDES:
                near = _MEANT.get(field) or suggest.closest(field, model.OVERRIDES)
                hint = f"did you mean {near}?" if near else f"write one of {', '.join(model.OVERRIDES)}"
                yield profile.finding(ID, ("override", field), f"{field} is no field that a run can override", hint=hint, key=True)
                continue
            faults = list(_values(profile, field, bounds, classes))
            yield from faults or _against_own(policy, profile, field, bounds)


def _values(profile: Item[model.Profile], field: str, bounds: model.Bounds, classes: list[str]) -> Iterator[Diagnostic]:
    numeric = field in _UNITS or field == "max_duration"
    for side in ("min", "max"):
        value = getattr(bounds, side)
        if value is not None and not numeric:
            path = ("override", field, side)
            yield profile.finding(ID, path, f"{field} has no order, so it has no {side}", hint="write oneOf: [...]", key=True)
        elif value is not None:
            yield from _readable(profile, field, ("override", field, side), value)
    for at, value in enumerate(bounds.oneOf or ()):
        choice: Path = ("override", field, "oneOf", at)
        if numeric:
            yield from _readable(profile, field, choice, value)
            continue
        known = {"topology": list(TOPOLOGIES), "kind": ["job", "rayjob", "jobset"], "gpuClass": classes}.get(field)
        if known is not None and value not in known:
            near = suggest.closest(value, known)
            hint = f"did you mean {near}?" if near else f"write one of {', '.join(known)}"
            yield profile.finding(ID, choice, f"{shown(value)} is no {field}", hint=hint)


def _readable(profile: Item[model.Profile], field: str, path: Path, value: str) -> Iterator[Diagnostic]:
    try:
        _number(field, value)
    except TextError as error:
        yield profile.finding(ID, path, f"{field}: {error.message}", hint=error.hint)
        return
    if _UNITS.get(field) == "memory" and quantity.looks_like_bytes(value):
        yield profile.finding(ID, path, f"{field}: {value} is {value} bytes", hint=f"write a unit: {value}Gi")


def _number(field: str, value: str) -> Any:
    """The value as something that can be compared. Raises `TextError`."""
    if field == "max_duration":
        return durations.parse(value)
    return quantity.parse(quantity.canonical(value, unit=_UNITS[field]))


def _against_own(policy: Policy, profile: Item[model.Profile], field: str, bounds: model.Bounds) -> Iterator[Diagnostic]:
    """Bounds against each other, and against the profile's own value."""
    if bounds.min is not None and bounds.max is not None and _number(field, bounds.min) > _number(field, bounds.max):
        message = f"{field}: min {bounds.min} is more than max {bounds.max}"
        origin = profile.span(("override", field, "max"))
        yield profile.finding(ID, ("override", field, "min"), message, hint="swap them", origin=origin)
        return
    own = getattr(profile.spec, _OWN[field]) if field in _OWN else None
    if own is None or (field in _NAMED and not policy.exists(_NAMED[field], own)):  # unknown-name says so
        return
    value, origin = str(own), profile.span((_OWN[field],))
    if bounds.oneOf is not None and value not in bounds.oneOf:
        message = f"the profile's own {field} {value} is not among {', '.join(bounds.oneOf)}"
        yield profile.finding(ID, ("override", field, "oneOf"), message, hint=f"add {value}", origin=origin, key=True)
    for side, outside in (("min", -1), ("max", 1)):
        bound = getattr(bounds, side)
        if bound is not None and field in _UNITS and quantity.compare(value, bound) == outside:
            message = f"the profile's own {field} {value} is {'less' if outside < 0 else 'more'} than {side} {bound}"
            yield profile.finding(ID, ("override", field, side), message, hint=f"write {value}, or change {field}", origin=origin)
