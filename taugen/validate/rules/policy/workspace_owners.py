"""A workspace has owners.

Owners look after the runs of the namespace in the cluster: they read logs, start a shell in a pod, keep the secrets. Without one only
administrators can.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {}
      queues:
        - {name: cpu, queue: batch}

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy

ID = "workspace-owners"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for _, item in sorted(policy.workspaces.items()):
        if not item.spec.owners.groups and not item.spec.owners.users:
            message = f"{item.label} has no owners"
            yield item.finding(ID, ("owners",), message, hint="write owners: {groups: [...]}", severity=Severity.WARNING, key=True)
