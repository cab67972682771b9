"""A LocalQueue has its queue on the clusters of its workspace.

A ClusterQueue without a flavor of a cluster is not there, and neither is a LocalQueue that would feed it: the workspace's runs can't go
to that cluster through it.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      cohort: lab
      quotas:
        - flavor: l40s
          resources:
            cpu: {nominal: 0}
            memory: {nominal: 0}
            nvidia.com/gpu: {nominal: 0}
    ---
    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      clusters: [mesa]
      queues:
        - {name: gpu, queue: extra}

Mends:

    kind: Queue
    metadata: {name: extra}
    spec:
      cohort: lab
      quotas:
        - flavor: l40s
          resources:
            cpu: {nominal: 0}
            memory: {nominal: 0}
            nvidia.com/gpu: {nominal: 0}
    ---
    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      clusters: [fjord]
      queues:
        - {name: gpu, queue: extra}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.references import settled
from taugen.policy.set import Policy

ID = "workspace-queue-nowhere"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule: an error where the queue is on none of the clusters, a note where it is on some."""
    for name, item in sorted(policy.workspaces.items()):
        clusters = policy.clusters_of(name)
        for at, local in enumerate(item.spec.queues):
            queue = policy.queues.get(local.queue)
            if queue is None or not settled(policy, queue.name):
                continue
            lacks = [c for c in clusters if not policy.queue_flavors_on(queue.name, c)]
            if not lacks:
                continue
            names = ", ".join(lacks)
            message = f"{queue.label} has no flavor on cluster {names}, so LocalQueue {local.name} is not there"
            severity = Severity.ERROR if len(lacks) == len(clusters) else Severity.NOTE
            hint = (
                "name a queue that has flavors there, or other clusters"
                if severity is Severity.ERROR
                else "runs of this queue go to the other clusters"
            )
            origin = queue.span(("quotas",), key=True)
            yield item.finding(ID, ("queues", at, "queue"), message, hint=hint, severity=severity, origin=origin)
