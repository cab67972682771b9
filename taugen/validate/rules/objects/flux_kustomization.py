"""Kustomizations never force, move or substitute; those of runs wait for nothing and act as their workspace's account.

`force` deletes and re-creates an object whose edit is refused: running work dies. `wait` on runs times out, since a running Job is never
ready. `targetNamespace` moves every object. Without `serviceAccountName` runs are applied with the rights of the whole cluster.

Breaks:

    target: {kind: Kustomization, name: .*-runs-climate}
    patch:
      spec: {wait: true}

Mends:

    target: {kind: Kustomization, name: .*-runs-climate}
    patch:
      spec: {interval: 30m}

Source: kustomize-controller docs/spec/v1/kustomizations.md
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Object, Rendered
from taugen.validate.rules.objects._parts import finding, mapping

ID = "flux-kustomization"
_MOVING = ("targetNamespace", "namePrefix", "nameSuffix", "postBuild", "patches", "commonMetadata", "components", "images")


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in objects:
        if item.kind == "Kustomization":
            for message in _faults(mapping(item.obj.get("spec"))):
                yield finding(ID, item, message)


def _faults(spec: Object) -> Iterator[str]:
    if spec.get("force"):
        yield "force deletes and re-creates objects whose edit is refused"
    for key in _MOVING:
        if spec.get(key):
            yield f"{key} changes objects on their way, so that Git no longer says what runs"
    if spec.get("prune") is not True:
        yield "prune is not true, so that what leaves Git stays"
    if "/runs/" in str(spec.get("path")):
        if spec.get("wait") or spec.get("healthChecks"):
            yield "it waits for runs, which are not ready until they end"
        if not spec.get("serviceAccountName"):
            yield "without serviceAccountName its runs are applied with the rights of the whole cluster"
