"""A storage has a claim that exists, or says all that is needed to make one.

A claim is either somebody else's, named by `existing`, or made from here with a size and access modes; the storage class may be left to
the cluster.

Breaks:

    kind: Storage
    metadata: {name: scratch}
    spec:
      claim: {existing: scratch, size: 1Ti}
      path: /scratch
      workspaces: [speech]

Mends:

    kind: Storage
    metadata: {name: scratch}
    spec:
      claim: {existing: scratch}
      path: /scratch
      workspaces: [speech]

Source: Kubernetes core validation.go (ValidatePersistentVolumeClaimSpec)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.words import quantity

ID = "storage-claim"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("Storage"):
        claim = item.spec.claim
        if claim.existing is not None:
            for field in ("storageClass", "size", "accessModes"):
                if getattr(claim, field) is not None:
                    message = f"{field} does nothing: the claim {claim.existing} exists already"
                    hint = f"remove {field}, or remove existing to make a claim"
                    yield item.finding(ID, ("claim", field), message, hint=hint, key=True)
            continue
        lacks = [field for field in ("size", "accessModes") if getattr(claim, field) is None]
        if lacks:
            message = f"a claim can't be made without {' and '.join(lacks)}"
            hint = "write existing: NAME, or size and accessModes, such as {size: 1Ti, accessModes: [ReadWriteMany]}"
            yield item.finding(ID, ("claim",), message, hint=hint, key=True)
        if claim.size is not None and quantity.compare(claim.size, "0") == 0:
            yield item.finding(ID, ("claim", "size"), "a claim of size 0 can't be made", hint="write a size, such as 1Ti")
        elif claim.size is not None and quantity.looks_like_bytes(claim.size):
            message = f"{claim.size} is {claim.size} bytes"
            yield item.finding(ID, ("claim", "size"), message, hint=f"write a unit: {claim.size}Gi")
