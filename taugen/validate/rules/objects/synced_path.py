"""Every folder that is synced holds something.

Flux fails on a path that does not exist; Argo CD refuses to prune the last object of an Application, and one that was never there is an
error.

Breaks:

    target: {kind: Kustomization, name: taugen-mesa-platform}
    patch:
      spec: {path: ./clusters/mesa/queues}

Mends:

    target: {kind: Kustomization, name: taugen-mesa-platform}
    patch:
      spec: {path: ./clusters/mesa/platform/}

Source: kustomize-controller (path not found); Argo CD docs/user-guide/auto_sync.md (allowEmpty)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.gitops import names
from taugen.render.types import Rendered
from taugen.validate.rules.objects._parts import cluster, finding
from taugen.words import at

ID = "synced-path"
_PATH = {"Application": ("spec", "source", "path"), "Kustomization": ("spec", "path")}


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    syncing = [item for item in objects if item.kind in _PATH]
    if not syncing:
        return
    folders = {"/".join(parts[:n]) for parts in (item.path.split("/") for item in objects) for n in range(1, len(parts))}
    for item in syncing:
        path = "/".join(part for part in str(at(item.obj, *_PATH[item.kind])).split("/") if part not in {"", "."})
        root = names.folder(policy, cluster(item))
        inside = path.removeprefix(root).strip("/") if path == root or path.startswith(f"{root}/") or not root else None
        if inside is None or f"{cluster(item)}/{inside}".rstrip("/") not in folders:
            yield finding(ID, item, f"it syncs {path or 'the root'}, where nothing is rendered")
