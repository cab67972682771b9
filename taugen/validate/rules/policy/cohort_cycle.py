"""Cohorts form trees: none is its own ancestor.

Kueue accepts a cycle. Its queues then say that they are ready and admit nothing; where a member borrows under fair sharing, or something
runs already, Kueue walks the cycle for ever under its lock, and no job can be created in the whole cluster until it is restarted.

Breaks:

    kind: Cohort
    metadata: {name: north}
    spec: {parent: south}
    ---
    kind: Cohort
    metadata: {name: south}
    spec: {parent: north}

Mends:

    kind: Cohort
    metadata: {name: north}
    spec: {parent: south}
    ---
    kind: Cohort
    metadata: {name: south}
    spec: {}

Source: Kueue cohort_types.go (cycles are not admitted); seen with Kueue 0.19.2
"""

from collections.abc import Iterator, Mapping

from taugen.diag import Diagnostic, Span
from taugen.policy import model
from taugen.policy.set import Item, Policy

ID = "cohort-cycle"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule: one for each cycle, at the cohort whose name comes first."""
    told: set[str] = set()
    for name, item in sorted(policy.cohorts.items()):
        if name not in told and (ring := _ring(policy, name)):
            told.update(ring)
            message = f"the cohorts form a cycle: {' -> '.join([*ring, name])}: nothing would be admitted in their queues"
            if _shares(policy):
                message += ", and Kueue hangs as soon as one of them borrows"
            hint = "remove parent from the cohort that is meant to be on top"
            yield item.finding(ID, ("parent",), message, hint=hint, origin=_origin(policy.cohorts, ring))


def _ring(policy: Policy, start: str) -> list[str]:
    """The cohorts from `start` back to it; empty if its ancestors don't lead there."""
    ring = [start]
    while True:
        item = policy.cohorts.get(ring[-1])
        parent = item.spec.parent if item is not None else None
        if parent is None or parent in ring[1:] or len(ring) > len(policy.cohorts):
            return []
        if parent == start:
            return ring
        ring.append(parent)


def _shares(policy: Policy) -> bool:
    sharing = policy.platform.spec.queueing.fairSharing if policy.platform is not None else None
    return sharing is not None and sharing.enable


def _origin(cohorts: Mapping[str, Item[model.CohortSpec]], ring: list[str]) -> Span | None:
    return cohorts[ring[1]].span(("parent",)) if len(ring) > 1 else None
