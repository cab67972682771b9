"""A queue that preempts while it borrows also reclaims.

Kueue refuses borrowWithinCohort where reclaimWithinCohort is Never.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      cohort: lab
      preemption:
        reclaimWithinCohort: Never
        borrowWithinCohort: {policy: LowerPriority}
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}

Mends:

    kind: Queue
    metadata: {name: extra}
    spec:
      cohort: lab
      preemption:
        reclaimWithinCohort: LowerPriority
        borrowWithinCohort: {policy: LowerPriority}
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}

Source: Kueue clusterqueue_webhook.go (validatePreemption)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "preemption-pair"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for queue in policy.each("Queue"):
        rules = queue.spec.preemption
        if rules is None or rules.borrowWithinCohort is None or rules.borrowWithinCohort.policy == "Never":
            continue
        if rules.reclaimWithinCohort == "Never":
            message = f"borrowWithinCohort is {rules.borrowWithinCohort.policy}, but reclaimWithinCohort is Never"
            hint = "write reclaimWithinCohort: LowerPriority or Any, or remove borrowWithinCohort"
            yield queue.finding(ID, ("preemption", "borrowWithinCohort", "policy"), message, hint=hint)
