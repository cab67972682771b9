"""The smallest run of a profile is within the limits of the workspaces that list it.

A workspace bounds the GPUs of a run, all workers together: a profile that starts above the bound admits nothing there.

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
      limits: {gpusPerRun: 4}
      podSecurity: privileged

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
      limits: {gpusPerRun: 8}
      podSecurity: privileged

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.validate.profile_shapes import smallest

ID = "profile-over-limit"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for _, workspace in sorted(policy.workspaces.items()):
        limit = workspace.spec.limits.gpusPerRun
        for at, listed in enumerate(workspace.spec.profiles):
            profile = policy.profiles.get(listed)
            shape = smallest(policy, profile) if profile is not None else None
            if profile is None or shape is None or limit is None or shape.gpus * shape.workers <= limit:
                continue
            gpus = f"{shape.workers} x {shape.gpus} = {shape.workers * shape.gpus} GPUs"
            message = f"the smallest run of {profile.label} has {gpus}, but a run of {workspace.label} may have {limit}"
            origin = workspace.span(("limits", "gpusPerRun"))
            yield workspace.finding(ID, ("profiles", at), message, hint="raise limits.gpusPerRun, or remove the profile", origin=origin)
