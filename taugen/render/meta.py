"""What all platform objects share: metadata, the annotations that reconcilers read, where an object's file goes.

In: names and policy documents. Out: `metadata` dicts in the usual key order, `Rendered`. The run objects' own labels are not made here.
"""

from collections.abc import Mapping

from taugen.policy.set import Item, S
from taugen.render.types import Object, Rendered
from taugen.words import Json

MANAGED_BY = "app.kubernetes.io/managed-by"
RBAC = "rbac.authorization.k8s.io/v1"
UNMANAGED = "taugen.dev/kueue"
"""Label of taugen's own namespaces, value `unmanaged`: Kueue's managedJobsNamespaceSelector leaves them out."""
WORKSPACE = "taugen.dev/workspace"

FLUX_SUBSTITUTE = "kustomize.toolkit.fluxcd.io/substitute"
"""`disabled` on every object: Flux would rewrite `${VAR}` in any string (kustomize-controller, post-build substitution)."""
FLUX_PRUNE = "kustomize.toolkit.fluxcd.io/prune"
ARGO_OPTIONS = "argocd.argoproj.io/sync-options"
ARGO_WAVE = "argocd.argoproj.io/sync-wave"
ARGO_IGNORE_HEALTH = "argocd.argoproj.io/ignore-healthcheck"
ARGO_COMPARE = "argocd.argoproj.io/compare-options"
KEPT = "Prune=false,Delete=false"
"""Argo CD neither prunes the object nor deletes it with its Application (docs/user-guide/sync-options.md)."""

RUN_KINDS = (("", "ConfigMap"), ("", "Service"), ("batch", "Job"), ("jobset.x-k8s.io", "JobSet"), ("ray.io", "RayJob"))
"""(API group, kind) of everything that a run consists of."""

# Sync waves of Argo CD. Claims go into the last, which waits for nothing: one whose class waits for its first pod would hold a wave open.
WAVE_NAMESPACE = -3
WAVE_FLAVOR = -2
WAVE_TENANCY = -2
WAVE_QUEUE = -1
WAVE_LAST = 0


def metadata(
    name: str,
    *,
    namespace: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    wave: int | None = None,
    kept: bool = False,
) -> Object:
    """Metadata of a platform object. `kept`: neither Flux nor Argo CD ever removes it; `wave` is Argo CD's sync wave."""
    notes = dict(annotations or {})
    if wave is not None:
        notes[ARGO_WAVE] = str(wave)
    if kept:
        notes[ARGO_OPTIONS] = KEPT
        notes[FLUX_PRUNE] = "disabled"
    notes[FLUX_SUBSTITUTE] = "disabled"
    out: Object = {"name": name}
    if namespace is not None:
        out["namespace"] = namespace
    out["labels"] = _sorted({**(labels or {}), MANAGED_BY: "taugen"})
    out["annotations"] = _sorted(notes)
    return out


def _sorted(values: Mapping[str, str]) -> dict[str, Json]:
    return {key: values[key] for key in sorted(values)}


def placed(folder: str, obj: Object, item: Item[S]) -> Rendered:
    """An object in `<folder>/<kind>-<name>.yaml`, made from a policy document."""
    meta = obj["metadata"]
    assert isinstance(meta, dict)
    return Rendered(f"{folder}/{str(obj['kind']).lower()}-{meta['name']}.yaml", obj, item.document.file, item.span())
