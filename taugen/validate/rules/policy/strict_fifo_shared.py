"""A queue of several workspaces lets runs pass that fit.

Under StrictFIFO the oldest run of the highest priority holds back all others, also those that would fit, and those of every other
workspace that feeds the queue.

Breaks:

    kind: Queue
    metadata: {name: batch}
    spec:
      cohort: lab
      strategy: StrictFIFO
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 200}
            memory: {nominal: 800Gi}

Mends:

    kind: Queue
    metadata: {name: batch}
    spec:
      cohort: lab
      strategy: BestEffortFIFO
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 200}
            memory: {nominal: 800Gi}

Source: Kueue clusterqueue_types.go (queueingStrategy)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy

ID = "strict-fifo-shared"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for _, queue in sorted(policy.queues.items()):
        feeding = [name for name, w in sorted(policy.workspaces.items()) if any(q.queue == queue.name for q in w.spec.queues)]
        if queue.spec.strategy == "StrictFIFO" and len(feeding) > 1:
            message = f"{queue.label} is StrictFIFO and shared: one waiting run of {' or '.join(feeding)} holds back the others"
            hint = "write strategy: BestEffortFIFO, or a queue for each workspace"
            yield queue.finding(ID, ("strategy",), message, hint=hint, severity=Severity.NOTE)
