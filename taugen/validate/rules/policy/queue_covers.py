"""A queue has quotas of cpu and memory.

Every pod asks for both, and Kueue admits no workload with a resource that no group of its queue covers: it waits for ever, and nothing in
Git says why.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}

Mends:

    kind: Queue
    metadata: {name: extra}
    spec:
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}

Source: Kueue flavorassigner.go (resource unavailable in ClusterQueue); seen with Kueue 0.19.2
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy

ID = "queue-covers"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for _, queue in sorted(policy.queues.items()):
        covered = {resource for quotas in queue.spec.quotas for resource in quotas.resources}
        lacks = [resource for resource in ("cpu", "memory") if resource not in covered]
        if lacks:
            message = f"{queue.label} has no quota of {' and '.join(lacks)}: no run would ever be admitted"
            hint = f"add {' and '.join(lacks)} to the resources of its flavors"
            yield queue.finding(ID, ("quotas",), message, hint=hint, severity=Severity.WARNING, key=True)
