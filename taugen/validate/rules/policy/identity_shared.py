"""Each workspace has a cloud identity of its own.

With the identity of another workspace its runs can read and write what that one can.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      identity:
        serviceAccount: extra-runs
        annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::000000000000:role/speech-runs"}
      queues:
        - {name: cpu, queue: batch}

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      identity:
        serviceAccount: extra-runs
        annotations: {eks.amazonaws.com/role-arn: "arn:aws:iam::000000000000:role/extra-runs"}
      queues:
        - {name: cpu, queue: batch}

Source: AWS, Azure and Google Cloud workload identity annotations
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.policy.tenancy import AZURE_CLIENT

ID = "identity-shared"

_KEYS = frozenset({AZURE_CLIENT, "eks.amazonaws.com/role-arn", "iam.gke.io/gcp-service-account"})


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, at the workspace whose name comes later."""
    first: dict[tuple[str, str], str] = {}
    for name, item in sorted(policy.workspaces.items()):
        for key, value in (item.spec.identity.annotations if item.spec.identity is not None else {}).items():
            holder = first.setdefault((key, value), name) if key in _KEYS else name
            if holder != name:
                path = ("identity", "annotations", key)
                message = f"the identity {value} is that of workspace {holder}"
                origin = policy.workspaces[holder].span(path)
                hint = "make an identity of its own"
                yield item.finding(ID, path, message, hint=hint, severity=Severity.WARNING, origin=origin)
