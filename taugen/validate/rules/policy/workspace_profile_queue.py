"""A workspace feeds the queue of each of its profiles.

A profile that names a queue is of use only where the workspace has a LocalQueue for it: every run with that profile would be refused.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch}
      profiles: [cpu, l40s-small]

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch}
      profiles: [cpu]

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "workspace-profile-queue"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for _, item in sorted(policy.workspaces.items()):
        fed = {queue.queue for queue in item.spec.queues}
        if any(queue not in policy.queues for queue in fed) or len(fed) < len(item.spec.queues):
            continue  # a misspelt queue, or one that stands twice, may be the one that is missed here
        for at, name in enumerate(item.spec.profiles):
            profile = policy.profiles.get(name)
            if profile is None or profile.spec.queue is None or profile.spec.queue in fed or profile.spec.queue not in policy.queues:
                continue
            bounds = profile.spec.override.get("queue")
            if bounds is not None and (bounds.oneOf is None or fed & set(bounds.oneOf)):
                continue
            message = f"{profile.label} runs in Queue {profile.spec.queue}, which {item.label} has no LocalQueue for"
            hint = f"add {{name: {profile.spec.queue}, queue: {profile.spec.queue}}} to queues, or remove the profile"
            yield item.finding(ID, ("profiles", at), message, hint=hint, origin=profile.span(("queue",)))
