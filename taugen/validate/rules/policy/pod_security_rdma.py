"""A workspace whose profiles use RDMA lets pods pin memory.

RDMA needs the capability IPC_LOCK, which the levels restricted and baseline of Pod Security forbid: the pods of such a run would be
refused, and the run would hang with its quota held.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      clusters: [mesa]
      queues:
        - {name: gpu, queue: research}
      profiles: [h200-node]
      podSecurity: baseline

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      clusters: [mesa]
      queues:
        - {name: gpu, queue: research}
      profiles: [h200-node]
      podSecurity: privileged

Source: Kubernetes docs, Pod Security Standards (Capabilities)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "pod-security-rdma"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for workspace in policy.each("Workspace"):
        level = workspace.spec.podSecurity
        for at, name in enumerate(workspace.spec.profiles):
            profile = policy.profiles.get(name)
            if profile is not None and profile.spec.rdma is not None and level != "privileged":
                message = f"{profile.label} uses RDMA, whose capability IPC_LOCK podSecurity {level} forbids"
                hint = "write podSecurity: privileged, or remove the profile"
                yield workspace.finding(ID, ("profiles", at), message, hint=hint, origin=workspace.span(("podSecurity",), key=True))
