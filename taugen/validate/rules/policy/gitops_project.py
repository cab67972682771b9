"""Only Argo CD has projects.

`project` names the AppProject of the platform's Applications. Flux has no such thing.

Breaks:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops:
        engine: flux
        url: https://git.tern.example/platform/fleet.git
        project: platform

Mends:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops:
        engine: flux
        url: https://git.tern.example/platform/fleet.git

Source: Argo CD docs, projects
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "gitops-project"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for cluster in policy.each("Cluster"):
        gitops = cluster.spec.gitops
        if gitops.engine != "argocd" and gitops.project is not None:
            message = f"project does nothing with engine {gitops.engine}"
            yield cluster.finding(ID, ("gitops", "project"), message, hint="remove it", origin=cluster.span(("gitops", "engine")), key=True)
