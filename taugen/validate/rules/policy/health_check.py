"""A check of a HealthPolicy exists for its GPU classes.

Checks are known by name. One that does not exist would watch nothing; one that none of the policy's classes has (NVLink on cards without
it) would never tell anything. A check has one source, and runs once.

Breaks:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      checks: [{name: driver}, {name: nvlink}]
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Mends:

    kind: HealthPolicy
    metadata: {name: l40s}
    spec:
      gpuClasses: [l40s-48gb]
      checks: [{name: driver}, {name: pcie-width}]
      images: {runner: 'registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Source: docs/gpu-health.md
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy import model
from taugen.policy.health_checks import checks, family
from taugen.policy.set import Item, Policy
from taugen.words import suggest
from taugen.words.errors import shown

ID = "health-check"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("HealthPolicy"):
        seen: dict[str, int] = {}
        for at, entry in enumerate(item.spec.checks or ()):
            first = seen.setdefault(entry.name, at)
            path = ("checks", at, "name")
            if first != at:
                origin = item.span(("checks", first, "name"))
                yield item.finding(ID, path, f"the check {entry.name} is listed already", hint="keep one of the two", origin=origin)
            else:
                yield from _entry(item, at, entry)


def _entry(item: Item[model.HealthPolicy], at: int, entry: model.HealthCheck) -> Iterator[Diagnostic]:
    families = sorted({family(name) for name in item.spec.gpuClasses})
    known = checks()
    found = known.get(entry.name)
    usable = [name for name, one in known.items() if one.families & set(families)]
    if found is None:
        near = suggest.closest(entry.name, list(known))
        hint = f"did you mean {near}?" if near else f"the checks are {', '.join(usable)}"
        yield item.finding(ID, ("checks", at, "name"), f"there is no check {shown(entry.name)}", hint=hint)
        return
    if not found.families & set(families):
        have = ", ".join(sorted(found.families))
        message = f"no class of the policy ({', '.join(item.spec.gpuClasses)}) has the check {entry.name}, only {have}"
        yield item.finding(ID, ("checks", at, "name"), message, hint=f"remove it, or choose from {', '.join(usable)}")
    if entry.source is not None and entry.source != found.source:
        message = f"the check {entry.name} reads from {found.source}, not from {entry.source}"
        yield item.finding(ID, ("checks", at, "source"), message, hint=f"write {found.source}, or remove the line")
