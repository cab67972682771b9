"""A workspace has one LocalQueue for each Queue, each with a name of its own.

Two of one name are one object in Kubernetes; and with two LocalQueues for one ClusterQueue nobody could say which of them a profile
means.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch, default: true}
        - {name: more, queue: batch}

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch, default: true}
        - {name: gpu, queue: research}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "local-queue-twice"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("Workspace"):
        names: dict[str, int] = {}
        targets: dict[str, int] = {}
        for at, queue in enumerate(item.spec.queues):
            same_name, same_target = names.setdefault(queue.name, at), targets.setdefault(queue.queue, at)
            if same_name != at:
                message = f"{item.label} has a LocalQueue {queue.name} already"
                origin = item.span(("queues", same_name, "name"))
                yield item.finding(ID, ("queues", at, "name"), message, hint="rename one of the two", origin=origin)
            elif same_target != at:
                message = f"{item.label} has a LocalQueue for Queue {queue.queue} already: {item.spec.queues[same_target].name}"
                origin = item.span(("queues", same_target, "queue"))
                yield item.finding(ID, ("queues", at, "queue"), message, hint="remove one of the two", origin=origin)
