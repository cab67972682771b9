"""A queue borrows and lends only where it has a cohort.

Without a cohort there is nobody to borrow from or lend to, and Kueue's webhook refuses the ClusterQueue.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4, borrow: 2}
            memory: {nominal: 16Gi}

Mends:

    kind: Queue
    metadata: {name: extra}
    spec:
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}

Source: Kueue clusterqueue_webhook.go (validateResourceGroups: borrowingLimit and lendingLimit need cohortName)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "borrow-needs-cohort"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.queues.values():
        if item.spec.cohort is not None:
            continue
        for at, quotas in enumerate(item.spec.quotas):
            for resource, quota in quotas.resources.items():
                for field in ("borrow", "lend"):
                    if getattr(quota, field) is not None:
                        path = ("quotas", at, "resources", resource, field)
                        message = f"{item.label} has no cohort, so it can't {field} {resource}"
                        yield item.finding(ID, path, message, hint=f"write cohort, or remove {field}", key=True)
