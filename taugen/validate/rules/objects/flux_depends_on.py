"""What a Kustomization depends on is there.

Flux waits for ever for a Kustomization that does not exist, and so does everything behind it.

Breaks:

    target: {kind: Kustomization, name: .*-workspace-climate}
    patch:
      spec: {dependsOn: [{name: kueue}]}

Mends:

    target: {kind: Kustomization, name: .*-workspace-climate}
    patch:
      spec: {dependsOn: [{name: kueue, namespace: infra}, {name: taugen-mesa-platform}]}

Source: kustomize-controller docs/spec/v1/kustomizations.md (dependencies)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects._parts import cluster, finding, named
from taugen.words import at

ID = "flux-depends-on"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule: a dependency in another namespace is the platform team's own."""
    flux = [item for item in objects if item.kind == "Kustomization"]
    there = {(cluster(item), at(item.obj, "metadata", "namespace"), item.name) for item in flux}
    for item in flux:
        own = at(item.obj, "metadata", "namespace")
        for name, dependency in named(at(item.obj, "spec", "dependsOn")):
            namespace = dependency.get("namespace", own)
            if namespace == own and (cluster(item), own, name) not in there:
                hint = "name one of taugen's Kustomizations, or one of yours in its own namespace"
                yield finding(ID, item, f"it depends on {name}, which is not in {own}", hint)
