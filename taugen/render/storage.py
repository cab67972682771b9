"""Claims that policy makes for a workspace.

In: a policy and a workspace. Out: PersistentVolumeClaims, one for each Storage without `existing` that lists the workspace, named as the
Storage. What must never happen: a claim that a reconciler may prune or delete: data outlives its policy.
"""

from collections.abc import Iterator

from taugen.policy import model
from taugen.policy.set import Item, Policy
from taugen.render import meta
from taugen.render.types import Object
from taugen.words import Json


def claim_name(item: Item[model.Storage]) -> str:
    """The PersistentVolumeClaim behind a Storage, in the namespace of each of its workspaces."""
    return item.spec.claim.existing or item.name


def claims(policy: Policy, workspace: Item[model.Workspace]) -> Iterator[tuple[Object, Item[model.Storage]]]:
    """The claims to render for a workspace, by name, each with the Storage that it comes from."""
    for _, item in sorted(policy.storages.items()):
        if item.spec.claim.existing is None and workspace.name in item.spec.workspaces:
            yield _claim(workspace, item), item


def _claim(workspace: Item[model.Workspace], item: Item[model.Storage]) -> Object:
    claim = item.spec.claim
    metadata = meta.metadata(
        claim_name(item),
        namespace=workspace.spec.namespace,
        labels={meta.WORKSPACE: workspace.name},
        # A claim whose class waits for the first pod stays Pending until a run uses it.
        annotations={meta.ARGO_IGNORE_HEALTH: "true"},
        wave=meta.WAVE_LAST,
        kept=True,
    )
    modes: list[Json] = [*(claim.accessModes or ["ReadWriteMany"])]
    spec: Object = {"accessModes": modes}
    if claim.storageClass:
        spec["storageClassName"] = claim.storageClass
    if claim.size:
        spec["resources"] = {"requests": {"storage": claim.size}}
    spec["volumeMode"] = "Filesystem"
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
