"""The node pools of a cluster have different names.

Findings name pools; two of one name can't be told apart, and the second is usually a copy that was meant to be changed.

Breaks:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops:
        engine: flux
        url: https://git.tern.example/platform/fleet.git
      nodePools:
        - {name: general, count: 2, allocatable: {cpu: 30, memory: 110Gi}}
        - {name: general, count: 4, allocatable: {cpu: 62, memory: 240Gi}}

Mends:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops:
        engine: flux
        url: https://git.tern.example/platform/fleet.git
      nodePools:
        - {name: general, count: 2, allocatable: {cpu: 30, memory: 110Gi}}
        - {name: large, count: 4, allocatable: {cpu: 62, memory: 240Gi}}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.nodes import pools
from taugen.policy.set import Policy

ID = "node-pool-twice"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for cluster in policy.each("Cluster"):
        seen: dict[str, int] = {}
        for _, at, pool in pools(cluster):
            first = seen.setdefault(pool.name, at)
            if first != at:
                origin = cluster.span(("nodePools", first, "name"))
                message = f"{cluster.label} has a pool {pool.name} already"
                yield cluster.finding(ID, ("nodePools", at, "name"), message, hint="rename one of the two", origin=origin)
