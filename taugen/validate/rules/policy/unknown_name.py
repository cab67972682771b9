"""Every name that a document uses for another one is the name of a document.

A queue whose flavor does not exist stays inactive in the cluster, a workspace without its profile can run nothing, and neither Git nor
Kueue says so before somebody waits. A document that exists but can't be read counts as there: its own findings are enough. Kueue makes a
Cohort up where none is declared; here it has to be declared, so that a misspelt one is seen.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      quotas:
        - flavor: l40
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}
            nvidia.com/gpu: {nominal: 1}
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}

Mends:

    kind: Queue
    metadata: {name: extra}
    spec:
      quotas:
        - flavor: l40s
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}
            nvidia.com/gpu: {nominal: 1}
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}

Source: Kueue clusterqueue_controller.go (FlavorNotFound, TopologyNotFound); localqueue_controller.go (ClusterQueueDoesNotExist)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.references import references
from taugen.policy.set import Policy
from taugen.words import suggest

ID = "unknown-name"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item, path, kind, name in references(policy):
        if policy.exists(kind, name):
            continue
        known = sorted(policy.of(kind))
        near = suggest.closest(name, known)
        hint = f"did you mean {near}?" if near else f"write one of {', '.join(known)}" if known else f"add a {kind} document"
        yield item.finding(ID, path, f"there is no {kind} {name}", hint=hint)
