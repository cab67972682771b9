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
from taugen.render.gitops.names import folder, written

ID = "gitops-path-shared"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, at the cluster that reads another folder than publish writes for it; if both do, at the later name."""
    names = sorted(policy.clusters)
    for at, name in enumerate(names):
        for other in names[:at]:
            if not meet(folder(policy, name), folder(policy, other)):
                continue
            wrong, right = (other, name) if folder(policy, name) == written(policy, name) else (name, other)
            item, first = policy.clusters[wrong], policy.clusters[right]
            path = ("gitops", "path") if item.spec.gitops.path is not None else ("gitops",)
            message = f"cluster {wrong} would read {folder(policy, wrong)}, cluster {right} reads {folder(policy, right)}"
            hint = f"write path: {written(policy, wrong)}, or leave it out"
            yield item.finding(ID, path, message, hint=hint, origin=first.span(("gitops", "path")))


def meet(mine: str, theirs: str) -> bool:
    """Whether two folders are one, or one lies in the other."""
    return f"{mine}/".startswith(f"{theirs}/") or f"{theirs}/".startswith(f"{mine}/")
