"""Each cluster reads a folder of its own.

Two clusters with one folder would run each other's work; two where one lies in the other too.

Breaks:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops:
        engine: flux
        url: https://git.tern.example/platform/fleet.git
        path: clusters/mesa

Mends:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops:
        engine: flux
        url: https://git.tern.example/platform/fleet.git
        path: clusters/cove

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.gitops.names import folder

ID = "gitops-path-shared"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, at the cluster whose name comes later."""
    names = sorted(policy.clusters)
    for at, name in enumerate(names):
        mine = folder(policy, name) + "/"
        for other in names[:at]:
            theirs = folder(policy, other) + "/"
            if mine.startswith(theirs) or theirs.startswith(mine):
                item, first = policy.clusters[name], policy.clusters[other]
                path = ("gitops", "path") if item.spec.gitops.path is not None else ("gitops",)
                origin = first.span(("gitops", "path"))
                message = f"cluster {name} would read {mine.rstrip('/')}, cluster {other} reads {theirs.rstrip('/')}"
                yield item.finding(
                    ID, path, message, hint=f"write path: {policy.project.spec.output.path}/{name}, or leave it out", origin=origin
                )
