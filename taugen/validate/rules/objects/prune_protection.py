"""Namespaces and claims are never pruned.

A namespace takes everything in it along, a claim its data. Both outlive the policy that made them, under Argo CD and under Flux.

Breaks:

    target: {kind: PersistentVolumeClaim}
    patch:
      metadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: null}}

Mends:

    target: {kind: PersistentVolumeClaim}
    patch:
      metadata: {annotations: {example.com/owner: storage-team}}

Source: Argo CD docs/user-guide/sync-options.md (Prune=false, Delete=false); kustomize-controller (prune: disabled)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render import meta
from taugen.render.types import Rendered
from taugen.validate.rules.objects._parts import annotations, finding

ID = "prune-protection"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in objects:
        if item.kind not in {"Namespace", "PersistentVolumeClaim"}:
            continue
        notes = annotations(item)
        options = set(str(notes.get(meta.ARGO_OPTIONS, "")).replace(" ", "").split(","))
        lost = [f"{meta.ARGO_OPTIONS}: {meta.KEPT}"] if not set(meta.KEPT.split(",")) <= options else []
        lost += [f"{meta.FLUX_PRUNE}: disabled"] if notes.get(meta.FLUX_PRUNE) != "disabled" else []
        if lost:
            yield finding(ID, item, f"without {' and '.join(lost)} it would be deleted with its policy")
