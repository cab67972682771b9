"""No two files have one path, and no two files hold one object.

Argo CD and Flux apply both in turn, for ever; kustomize refuses the folder.

Breaks:

    apiVersion: taugen.dev/v1alpha1
    kind: Cluster
    metadata: {name: mesa}
    spec:
      gitops: {engine: argocd, url: https://git.tern.example/fleet.git, project: taugen-mesa-runs-climate}

Mends:

    apiVersion: taugen.dev/v1alpha1
    kind: Cluster
    metadata: {name: mesa}
    spec:
      gitops: {engine: argocd, url: https://git.tern.example/fleet.git, project: taugen}

Source: kustomize (id conflict), Argo CD (RepeatedResourceWarning)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects._parts import cluster, finding, mapping

ID = "object-twice"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, at the second of two, which names the first; two workspaces in one namespace are `namespace-shared`."""
    paths: dict[str, Rendered] = {}
    identities: dict[tuple[str, str, str, str], Rendered] = {}
    for item in objects:
        namespace = str(mapping(item.obj.get("metadata")).get("namespace") or "")
        first = paths.setdefault(item.path, item)
        if first is item:
            first = identities.setdefault((cluster(item), item.kind, namespace, item.name), item)
        if first is not item and not _shared(policy, item.name if item.kind == "Namespace" else namespace):
            yield finding(ID, item, f"two documents make it: the other stands in {first.span}", "rename one of the two, or remove it")


def _shared(policy: Policy, namespace: str) -> bool:
    return sum(workspace.spec.namespace == namespace for workspace in policy.workspaces.values()) > 1
