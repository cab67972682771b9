"""A queue or cohort lists each flavor once.

Kueue takes a flavor in one resource group only and once in it; its resources belong together in one entry.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
        - flavor: cpu
          resources:
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

Source: Kueue clusterqueue_webhook.go (validateResourceGroups: duplicate flavor)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "queue-flavor-twice"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for kind in ("Queue", "Cohort"):
        for item in policy.each(kind):
            seen: dict[str, int] = {}
            for at, quotas in enumerate(item.spec.quotas):
                first = seen.setdefault(quotas.flavor, at)
                if first != at:
                    path = ("quotas", at, "flavor")
                    message = f"flavor {quotas.flavor} stands in these quotas already"
                    hint = "put all its resources into one entry"
                    yield item.finding(ID, path, message, hint=hint, origin=item.span(("quotas", first, "flavor")))
