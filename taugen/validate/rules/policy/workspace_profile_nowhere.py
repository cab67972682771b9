"""A profile can run on the clusters of the workspaces that list it.

The nodes of a profile may all be on clusters that the workspace is not on: its runs would find no place.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      clusters: [fjord]
      queues:
        - {name: gpu, queue: research}
      profiles: [l40s-small, h200-node]
      podSecurity: privileged

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      clusters: [fjord]
      queues:
        - {name: gpu, queue: research}
      profiles: [l40s-small]
      podSecurity: privileged

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.validate.profile_shapes import obstacle, smallest

ID = "workspace-profile-nowhere"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, where the profile is possible at all."""
    everywhere = sorted(policy.clusters)
    for name, workspace in sorted(policy.workspaces.items()):
        here = policy.clusters_of(name)
        if any(cluster not in policy.clusters for cluster in workspace.spec.clusters or ()):
            continue  # it may be the one that has the nodes
        for at, listed in enumerate(workspace.spec.profiles):
            profile = policy.profiles.get(listed)
            shape = smallest(policy, profile) if profile is not None else None
            if profile is None or shape is None or not shape.queues or not here or len(here) == len(everywhere):
                continue
            found = obstacle(policy, shape, here)
            if found is not None and obstacle(policy, shape, everywhere) is None:
                message = f"no run of {profile.label} can start on cluster {' or '.join(here)}: {found.text}"
                hint = f"remove the profile, or add a cluster to {workspace.label} that has its nodes"
                origin = profile.span(shape.causes.get(found.path, ()))
                yield workspace.finding(ID, ("profiles", at), message, hint=hint, origin=origin)
