"""Sizes in defaults stay within the profiles of the workspace.

A default fills what a run leaves out, also where the profile has no value of its own. Outside of the profile's `override` it would give
every such run what no run may ask for.

Breaks:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpuClass: l40s-48gb
      queue: research
      override:
        gpus: {max: 2}
    ---
    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      clusters: [fjord]
      queues:
        - {name: gpu, queue: research}
      profiles: [extra]
      defaults:
        compute: {gpus: 4}

Mends:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpuClass: l40s-48gb
      queue: research
      override:
        gpus: {max: 2}
    ---
    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      clusters: [fjord]
      queues:
        - {name: gpu, queue: research}
      profiles: [extra]
      defaults:
        compute: {gpus: 2}

Source: this project
"""

from collections.abc import Iterator
from typing import Any

from taugen.diag import Diagnostic
from taugen.policy import model
from taugen.policy.set import Item, Policy
from taugen.resolve.bounds import outside
from taugen.words import Path

ID = "default-over-profile"

_FIELDS = (("gpus", "gpus", "gpus"), ("workers", "workers", "workers"), ("cpus", "cpus", "cpuPerGpu"), ("memory", "memory", "memoryPerGpu"),
           ("shm_size", "shm", "shm"))  # fmt: skip
"""(field of compute, what `override` calls it, the profile's own value, which wins over a default)."""


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, each once."""
    told: list[Diagnostic] = []
    for workspace in policy.each("Workspace"):
        layers: list[Item[Any]] = [workspace, *policy.each("Platform")]
        for field, name, own in _FIELDS:
            layer = next((item for item in layers if _default(item, field) is not None), None)
            for profile in map(policy.profiles.get, workspace.spec.profiles) if layer is not None else ():
                if layer is None or profile is None or getattr(profile.spec, own) is not None or name not in profile.spec.override:
                    continue
                found = _outside(layer, field, profile, name)
                if found is not None and found not in told:
                    told.append(found)
                    yield found


def _default(item: Item[Any], field: str) -> str | None:
    compute = item.spec.defaults.compute
    value = None if compute is None else getattr(compute, field)
    return None if value is None else str(value)


def _outside(layer: Item[Any], field: str, profile: Item[model.Profile], name: str) -> Diagnostic | None:
    value, bounds = _default(layer, field), profile.spec.override[name]
    assert value is not None
    place: Path = ("defaults", "compute", field)
    found = outside(value, bounds)
    if found is None:
        return None
    text = f"the default of {field} is {value}, and Profile {profile.name} {found.says}"
    return layer.finding(ID, place, text, hint=found.hint, origin=profile.span(("override", name), key=True))
