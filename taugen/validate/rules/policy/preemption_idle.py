"""A preemption setting has something to act on.

Reclaiming and borrowing concern a cohort; a threshold concerns the policy beside it; and preemption while borrowing is part of classical
preemption, which fair sharing replaces. A setting without its partner is accepted by Kueue and does nothing.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      preemption: {reclaimWithinCohort: Any}
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}

Mends:

    kind: Queue
    metadata: {name: extra}
    spec:
      preemption: {withinClusterQueue: LowerPriority}
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}

Source: Kueue clusterqueue_types.go (ClusterQueuePreemption, BorrowWithinCohort)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy import model
from taugen.policy.set import Policy

ID = "preemption-idle"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    sharing = policy.platform.spec.queueing.fairSharing if policy.platform is not None else None
    for _, queue in sorted(policy.queues.items()):
        rules = queue.spec.preemption
        if rules is None:
            continue
        borrow = rules.borrowWithinCohort or model.BorrowWithinCohort.model_construct()
        for field, value in (("reclaimWithinCohort", rules.reclaimWithinCohort), ("borrowWithinCohort", borrow.policy)):
            if queue.spec.cohort is None and value != "Never":
                message = f"{queue.label} has no cohort, so {field} does nothing"
                hint = f"write cohort, or remove {field}"
                yield queue.finding(ID, ("preemption", field), message, hint=hint, severity=Severity.WARNING, key=True)
        path = ("preemption", "borrowWithinCohort")
        if borrow.policy == "Never" and borrow.maxPriorityThreshold is not None:
            message = "maxPriorityThreshold does nothing while policy is Never"
            hint = "write policy: LowerPriority, or remove maxPriorityThreshold"
            yield queue.finding(ID, (*path, "maxPriorityThreshold"), message, hint=hint, severity=Severity.WARNING, key=True)
        if borrow.policy != "Never" and queue.spec.cohort is not None and sharing is not None and sharing.enable:
            message = "borrowWithinCohort does nothing while fair sharing is on"
            hint = "remove borrowWithinCohort: weights decide who is preempted"
            yield queue.finding(ID, path, message, hint=hint, severity=Severity.WARNING, key=True)
