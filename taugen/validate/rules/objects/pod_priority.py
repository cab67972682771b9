"""Kueue alone decides which run goes first.

A pod PriorityClass lets the scheduler preempt pods behind Kueue's back: what is preempted so still holds its quota.

Breaks:

    target: {kind: PodTemplate}
    patch: {spec: {priorityClassName: system-node-critical}}

Mends:

    target: {kind: PodTemplate}
    patch: {spec: {schedulerName: default-scheduler}}

Source: Kueue docs, WorkloadPriorityClass; Kubernetes docs, Pod Priority and Preemption
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects import _pods

ID = "pod-priority"
FIELDS = ("priorityClassName", "priority", "preemptionPolicy")


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for pod in _pods.pods(objects):
        for field in FIELDS:
            if field in pod.spec:
                hint = "write policy.priority in the run: a tier of the platform"
                yield pod.finding(ID, ("spec", field), f"{field} would preempt behind Kueue's back", hint)
