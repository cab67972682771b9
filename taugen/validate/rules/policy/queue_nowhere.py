"""A queue has a flavor on each cluster that it names.

A ClusterQueue holds only flavors of its cluster, and is not rendered where it has none: its LocalQueues would be missing there too.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      clusters: [mesa]
      quotas:
        - flavor: l40s
          resources:
            cpu: {nominal: 0}
            memory: {nominal: 0}
            nvidia.com/gpu: {nominal: 0}

Mends:

    kind: Queue
    metadata: {name: extra}
    spec:
      clusters: [fjord]
      quotas:
        - flavor: l40s
          resources:
            cpu: {nominal: 0}
            memory: {nominal: 0}
            nvidia.com/gpu: {nominal: 0}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.references import settled
from taugen.policy.set import Policy

ID = "queue-nowhere"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for _, queue in sorted(policy.queues.items()):
        if not settled(policy, queue.name):
            continue
        names = ", ".join(quotas.flavor for quotas in queue.spec.quotas)
        for at, cluster in enumerate(queue.spec.clusters or ()):
            if cluster in policy.clusters and not policy.queue_flavors_on(queue.name, cluster):
                message = f"cluster {cluster} has no flavor of {queue.label} ({names})"
                hint = "remove the cluster, or add a flavor that it has"
                yield queue.finding(ID, ("clusters", at), message, hint=hint)
