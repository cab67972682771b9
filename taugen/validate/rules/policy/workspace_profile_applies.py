"""A profile applies to the workspaces that list it.

A profile that names its workspaces refuses the runs of all others.

Breaks:

    kind: Profile
    metadata: {name: big-cpu}
    spec:
      applies: {workspaces: [speech]}
      gpus: 0
      queue: batch
    ---
    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch}
      profiles: [big-cpu]

Mends:

    kind: Profile
    metadata: {name: big-cpu}
    spec:
      applies: {workspaces: [speech, extra]}
      gpus: 0
      queue: batch
    ---
    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch}
      profiles: [big-cpu]

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "workspace-profile-applies"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("Workspace"):
        for at, name in enumerate(item.spec.profiles):
            profile = policy.profiles.get(name)
            named = profile.spec.applies.workspaces if profile is not None else []
            if profile is not None and named and item.name not in named:
                message = f"{profile.label} is for workspace {', '.join(named)} only"
                origin = profile.span(("applies", "workspaces"), key=True)
                hint = f"remove it here, or add {item.name} there"
                yield item.finding(ID, ("profiles", at), message, hint=hint, origin=origin)
