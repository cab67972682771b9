"""A claim can be mounted by as many pods as will want it.

ReadWriteOnce holds a volume on one node and ReadWriteOncePod in one pod: the second node of a gang, a Ray worker beside its head, or the
next run waits for ever. ReadOnlyMany can't be written. ReadWriteOncePod beside another mode is refused by the API server.

Breaks:

    kind: Storage
    metadata: {name: scratch}
    spec:
      claim: {size: 1Ti, accessModes: [ReadWriteOnce]}
      path: /scratch
      workspaces: [speech]

Mends:

    kind: Storage
    metadata: {name: scratch}
    spec:
      claim: {size: 1Ti, accessModes: [ReadWriteMany]}
      path: /scratch
      workspaces: [speech]

Source: Kubernetes docs, persistent volumes (access modes); core validation.go (ValidatePersistentVolumeClaimSpec)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy

ID = "storage-access-modes"

_SINGLE = {"ReadWriteOnce": "on one node at a time", "ReadWriteOncePod": "in one pod at a time"}


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("Storage"):
        modes = item.spec.claim.accessModes or []
        path = ("claim", "accessModes")
        if "ReadWriteOncePod" in modes and len(modes) > 1:
            message = "ReadWriteOncePod stands alone or not at all: the API server refuses it beside another mode"
            yield item.finding(ID, (*path, modes.index("ReadWriteOncePod")), message, hint="keep the mode that the runs need")
        elif modes and all(mode in _SINGLE for mode in modes):
            message = (
                f"{' and '.join(modes)} can be mounted {_SINGLE[modes[0]]}: runs of several pods, and runs beside each other, would hang"
            )
            hint = "write [ReadWriteMany] with a storage class that has it, such as a shared file system"
            yield item.finding(ID, path, message, hint=hint, severity=Severity.WARNING)
        elif modes == ["ReadOnlyMany"] and not item.spec.readOnly:
            message = "a ReadOnlyMany claim can't be written, but readOnly is not set"
            yield item.finding(ID, path, message, hint="write readOnly: true", severity=Severity.WARNING)
