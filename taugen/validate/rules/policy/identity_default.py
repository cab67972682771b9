"""Runs have a service account of their own.

Kubernetes gives the account named default to every pod that names none: its cloud identity and annotations would go to all of them.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      identity: {serviceAccount: default}
      queues:
        - {name: cpu, queue: batch}

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      identity: {serviceAccount: extra-runs}
      queues:
        - {name: cpu, queue: batch}

Source: Kubernetes docs, service accounts
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy

ID = "identity-default"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("Workspace"):
        if item.spec.identity is not None and item.spec.identity.serviceAccount == "default":
            message = "every pod of the namespace that names no account has the account default"
            hint = f"name one for runs, such as {item.name}-runs"
            yield item.finding(ID, ("identity", "serviceAccount"), message, hint=hint, severity=Severity.WARNING)
