"""A queue lends no more than it has.

Kueue's webhook refuses a ClusterQueue whose lending limit is above its nominal quota.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      cohort: lab
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4, lend: 6}
            memory: {nominal: 16Gi}

Mends:

    kind: Queue
    metadata: {name: extra}
    spec:
      cohort: lab
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4, lend: 4}
            memory: {nominal: 16Gi}

Source: Kueue clusterqueue_webhook.go (validateLendingLimit)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.words import quantity

ID = "lend-over-nominal"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("Queue"):
        for at, quotas in enumerate(item.spec.quotas):
            for resource, quota in quotas.resources.items():
                if quota.lend is not None and quantity.compare(quota.lend, quota.nominal) > 0:
                    path = ("quotas", at, "resources", resource)
                    message = f"lend {quota.lend} {resource} is more than nominal {quota.nominal}"
                    hint = f"write {quota.nominal} or less, or leave lend out to lend all"
                    yield item.finding(ID, (*path, "lend"), message, hint=hint, origin=item.span((*path, "nominal")))
