"""A cohort bounds borrowing and lending only where it has a parent.

Its limits are against the cohorts beside it; on top of the tree there is nobody to borrow from, and Kueue refuses the object.

Breaks:

    kind: Cohort
    metadata: {name: spare}
    spec:
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4, borrow: 2}

Mends:

    kind: Cohort
    metadata: {name: spare}
    spec:
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}

Source: Kueue cohort_webhook.go (validateCohort)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "cohort-limits"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.cohorts.values():
        if item.spec.parent is not None:
            continue
        for at, quotas in enumerate(item.spec.quotas):
            for resource, quota in quotas.resources.items():
                for field in ("borrow", "lend"):
                    if getattr(quota, field) is not None:
                        path = ("quotas", at, "resources", resource, field)
                        message = f"{item.label} has no parent, so {field} of {resource} bounds nothing"
                        yield item.finding(ID, path, message, hint=f"remove {field}, or write parent", key=True)
