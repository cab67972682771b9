"""A claim that is made here is not also somebody else's.

The claim of a Storage without `existing` has the name of the Storage. If another Storage of the same workspace calls that claim existing,
two owners would write one object.

Breaks:

    kind: Storage
    metadata: {name: archive}
    spec:
      claim: {existing: checkpoints}
      path: /archive
      workspaces: [climate]

Mends:

    kind: Storage
    metadata: {name: archive}
    spec:
      claim: {existing: archive}
      path: /archive
      workspaces: [climate]

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "storage-claim-twice"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    made = {name: item for name, item in policy.storages.items() if item.spec.claim.existing is None}
    for _, item in sorted(policy.storages.items()):
        other = made.get(item.spec.claim.existing or "")
        shared = [w for w in item.spec.workspaces if other is not None and w in other.spec.workspaces]
        if other is not None and shared:
            message = f"the claim {other.name} of workspace {shared[0]} is made by {other.label}"
            hint = f"use {other.label}, or rename one of the two"
            yield item.finding(ID, ("claim", "existing"), message, hint=hint, origin=other.span())
