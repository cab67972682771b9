"""Each workspace has a namespace of its own.

Who may do what, quotas, network and secrets are held by namespace: two workspaces in one would be one tenant.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-climate
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch, default: true}

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch, default: true}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "namespace-shared"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, at the workspace whose name comes later."""
    first: dict[str, str] = {}
    for name, item in sorted(policy.workspaces.items()):
        holder = first.setdefault(item.spec.namespace, name)
        if holder != name:
            message = f"namespace {item.spec.namespace} belongs to workspace {holder}"
            origin = policy.workspaces[holder].span(("namespace",))
            yield item.finding(ID, ("namespace",), message, hint="write a namespace of its own", origin=origin)
