"""What Argo CD and Flux read of an object says: apply once, leave its text alone, never force.

Flux would rewrite `${VAR}` in scripts and arguments, re-apply what Kueue has changed since, or delete and make a running Job anew where an
apply is refused; Argo CD's Replace and Force do the same at every sync.

Breaks:

    target: {kind: Job}
    patch: {metadata: {annotations: {kustomize.toolkit.fluxcd.io/force: enabled}}}

Mends:

    target: {kind: Job}
    patch: {metadata: {annotations: {lab.example/contact: research}}}

Source: Flux docs, Kustomization (force, ssa, substitute); Argo CD docs, sync options
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects import _pods

ID = "reconciler-annotations"
FLUX = "kustomize.toolkit.fluxcd.io/"
REQUIRED = {f"{FLUX}ssa": "IfNotPresent", f"{FLUX}substitute": "disabled"}
FORBIDDEN = (f"{FLUX}force", f"{FLUX}prune", f"{FLUX}reconcile")
ARGO_OPTIONS = "argocd.argoproj.io/sync-options"
ARGO_FORBIDDEN = ("Replace=true", "Force=true", "Prune=false", "Prune=confirm", "Delete=false", "Delete=confirm")


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in objects:
        if "/runs/" not in item.path or item.path.count("/") < 5:
            continue
        annotations = _pods.annotations_of(item)
        for key, wanted in REQUIRED.items():
            if annotations.get(key) != wanted:
                yield _pods.finding(ID, item, ("metadata", "annotations", key), f"{key} is {annotations.get(key)}, not {wanted}")
        for key in FORBIDDEN:
            if key in annotations:
                yield _pods.finding(ID, item, ("metadata", "annotations", key), f"{key} would restart or orphan a run")
        if ARGO_OPTIONS in annotations:
            options = str(annotations[ARGO_OPTIONS]).replace(" ", "").split(",")
            for option in sorted({o.lower() for o in options} & {o.lower() for o in ARGO_FORBIDDEN}):
                path = ("metadata", "annotations", ARGO_OPTIONS)
                yield _pods.finding(ID, item, path, f"the sync option {option} would restart or orphan a run")
