"""A cluster reads what publish writes.

Publish writes the branch of taugen.yaml and a folder for each cluster. A cluster that tracks something else never sees it, unless
something in between copies it there.

Breaks:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops:
        engine: flux
        url: https://git.tern.example/platform/fleet.git
        path: fleet/cove

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

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.render.gitops.names import folder, written
from taugen.validate.rules.policy.gitops_path_shared import meet
from taugen.validate.rules.policy.output_path import outside

ID = "gitops-mismatch"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    output = policy.project.spec.output
    for name, cluster in sorted(policy.clusters.items()):
        gitops = cluster.spec.gitops
        if gitops.branch != output.branch:
            message = f"cluster {name} tracks branch {gitops.branch}, but publish writes {output.branch}"
            origin = policy.project.span(("output", "branch"))
            yield cluster.finding(
                ID, ("gitops", "branch"), message, hint=f"write {output.branch}", severity=Severity.WARNING, origin=origin
            )
        mine, right = folder(policy, name), written(policy, name)
        told = outside(output.path) or any(meet(mine, folder(policy, other)) for other in policy.clusters if other != name)
        if mine != right and not told:
            message = f"cluster {name} reads {mine}, but publish writes {right}"
            hint = f"write {right}, or leave it out"
            yield cluster.finding(ID, ("gitops", "path"), message, hint=hint, severity=Severity.WARNING)
