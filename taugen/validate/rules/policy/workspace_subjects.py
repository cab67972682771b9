"""Owners and viewers are people and groups, not everybody.

Groups of the API server such as system:authenticated hold every user or every service account, those of other tenants included.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      viewers: {groups: ["system:authenticated"]}
      queues:
        - {name: cpu, queue: batch}

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      viewers: {groups: [extra]}
      queues:
        - {name: cpu, queue: batch}

Source: Kubernetes docs, authentication (system: groups)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "workspace-subjects"

_EVERYBODY = {
    "system:authenticated": "every user",
    "system:masters": "the administrators, who need no binding",
    "system:serviceaccounts": "every service account",
    "system:unauthenticated": "everybody who reaches the API server",
    "system:anonymous": "everybody who reaches the API server",
    "*": "no name",
}


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("Workspace"):
        for role in ("owners", "viewers"):
            for what in ("groups", "users"):
                for at, name in enumerate(getattr(getattr(item.spec, role), what)):
                    who = _EVERYBODY.get(name)
                    if who is None and name.startswith("system:serviceaccounts:"):
                        who = "every service account of a namespace"
                    if who is not None:
                        message = f"{name} is {who}"
                        yield item.finding(ID, (role, what, at), message, hint="name a group of your identity provider")
