"""A list of clusters names at least one.

Left out, `clusters` means all of them; an empty list means none, and what it belongs to would be on no cluster without anybody being
told.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      clusters: []
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}

Mends:

    kind: Queue
    metadata: {name: extra}
    spec:
      clusters: [mesa]
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "clusters-none"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for kind in ("Flavor", "Queue", "Workspace"):
        for item in policy.each(kind):
            if item.spec.clusters == []:
                message = f"{item.label} is on no cluster"
                yield item.finding(ID, ("clusters",), message, hint="name the clusters, or remove the line for all of them")
