"""Flux: the GitRepository and the Kustomizations of one cluster.

In: a policy and a cluster under Flux. Out: objects of `<cluster>/gitops/`. What must never happen: `force` (it deletes and re-creates
running work on any refused edit), `wait` on runs (a running Job is never "ready", so the Kustomization would time out),
`targetNamespace`, runs applied with the controller's own rights.

The platform waits until Kueue has taken its queues in. Each workspace has a Kustomization of its own: an edit that the API server refuses
(a smaller claim) holds up that workspace only. Runs depend on their workspace. Deleting a Kustomization of runs or of the platform leaves
its objects; that of a workspace takes access and queues with it.
"""

from collections.abc import Iterator

from taugen.policy import model
from taugen.policy.set import Item, Policy
from taugen.render import meta
from taugen.render.gitops import names
from taugen.render.kueue import API_VERSION as KUEUE
from taugen.render.types import Object, Rendered
from taugen.words import Json
from taugen.words.regex import regex

SOURCE = "taugen"
"""Name of the GitRepository."""
_SCP = regex(r"(?:(?P<user>[^@/:]+)@)?(?P<host>[^/:@]+):(?P<path>(?!//).+)")


def objects(policy: Policy, cluster: str) -> Iterator[Rendered]:
    """The objects that sync a cluster: source, the platform's Kustomization, two and an account for each workspace."""
    item = policy.clusters[cluster]
    folder = f"{cluster}/gitops"
    yield meta.placed(folder, _repository(policy, item), item)
    yield meta.placed(folder, _platform(policy, item), item)
    for name in sorted(policy.workspaces):
        if cluster in policy.clusters_of(name):
            workspace = policy.workspaces[name]
            yield meta.placed(folder, _account(item, workspace), item)
            yield meta.placed(folder, _workspace(policy, item, workspace), item)
            yield meta.placed(folder, _runs(policy, item, workspace), item)


def _repository(policy: Policy, item: Item[model.Cluster]) -> Object:
    """The artifact holds the cluster's folder only. A private repository needs `secretRef`, which an overlay adds."""
    gitops = item.spec.gitops
    spec: Object = {
        "url": _url(gitops.url),
        "ref": {"branch": gitops.branch},
        "interval": "1m0s",
        "timeout": "60s",
        "ignore": _only(names.folder(policy, item.name)),
    }
    return _object(item, "source.toolkit.fluxcd.io/v1", "GitRepository", SOURCE, spec)


def _url(url: str) -> str:
    """Flux takes URLs only: Git's short form `git@host:path` becomes `ssh://git@host/path` (source-controller, GitRepository spec.url)."""
    found = _SCP.fullmatch(url)
    if found is None or "://" in url:
        return url
    user = f"{found['user']}@" if found["user"] else ""
    return f"ssh://{user}{found['host']}/{found['path'].lstrip('/')}"


def _only(folder: str) -> str:
    """Ignore rules (.gitignore syntax) that leave nothing but `folder`."""
    lines, at = [], ""
    for part in folder.split("/") if folder else ():
        lines += [f"{at}/*", f"!{at}/{part}"]
        at += f"/{part}"
    return "".join(f"{line}\n" for line in lines) or "# everything\n"


def _platform(policy: Policy, item: Item[model.Cluster]) -> Object:
    # An error of the expression (no status yet) counts as in progress. A queue on hold, or one whose admission check is down, is no reason
    # to stop syncing.
    active = "status.conditions.exists(c, c.type == 'Active' && (c.status == 'True' || !c.reason.endsWith('NotFound')))"
    spec = _sync(policy, item, "platform", timeout="5m0s")
    spec["wait"] = True
    # Any node that is away keeps a DaemonSet of node health from being ready, a missing key the collector: that must not hold up queues
    # and workspaces. It stands here without them too: the commit that brings or removes them would wait otherwise.
    anyhow: list[Json] = [{"apiVersion": "apps/v1", "kind": kind, "current": "has(metadata.name)"} for kind in ("DaemonSet", "Deployment")]
    spec["healthCheckExprs"] = [{"apiVersion": KUEUE, "kind": "ClusterQueue", "current": active}, *anyhow]
    spec["deletionPolicy"] = "Orphan"
    return _kustomization(item, names.platform(item.name), spec)


def _workspace(policy: Policy, item: Item[model.Cluster], workspace: Item[model.Workspace]) -> Object:
    """No `wait`: a claim that waits for its first pod would keep the runs from being applied that it waits for."""
    spec = _sync(policy, item, f"workspaces/{workspace.name}", timeout="3m0s", after=names.platform(item.name))
    spec["wait"] = False
    spec["deletionPolicy"] = "MirrorPrune"
    return _kustomization(item, names.workspace(item.name, workspace.name), spec, workspace.name)


def _runs(policy: Policy, item: Item[model.Cluster], workspace: Item[model.Workspace]) -> Object:
    after = names.workspace(item.name, workspace.name)
    spec = _sync(policy, item, f"runs/{workspace.name}", timeout="3m0s", after=after)
    spec["wait"] = False
    spec["serviceAccountName"] = names.applier(workspace.name)
    spec["deletionPolicy"] = "Orphan"
    return _kustomization(item, names.runs(item.name, workspace.name), spec, workspace.name)


def _account(item: Item[model.Cluster], workspace: Item[model.Workspace]) -> Object:
    """The account that applies the workspace's runs, beside the Kustomization, where Flux looks for it. Its rights are in the workspace."""
    metadata = _metadata(item, names.applier(workspace.name), workspace.name)
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata, "automountServiceAccountToken": False}


def _sync(policy: Policy, item: Item[model.Cluster], where: str, *, timeout: str, after: str | None = None) -> Object:
    folder = names.folder(policy, item.name)
    source: Object = {"kind": "GitRepository", "name": SOURCE}
    spec: Object = {"sourceRef": source, "path": f"./{folder}/{where}" if folder else f"./{where}", "prune": True}
    if after is not None:
        needs: list[Json] = [{"name": after}]
        spec["dependsOn"] = needs
    return {**spec, "interval": "10m0s", "retryInterval": "1m0s", "timeout": timeout}


def _kustomization(item: Item[model.Cluster], name: str, spec: Object, workspace: str | None = None) -> Object:
    metadata = _metadata(item, name, workspace)
    return {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": metadata, "spec": spec}


def _object(item: Item[model.Cluster], api_version: str, kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": _metadata(item, name, None), "spec": spec}


def _metadata(item: Item[model.Cluster], name: str, workspace: str | None) -> Object:
    labels = dict(item.spec.labels) if workspace is None else {**item.spec.labels, meta.WORKSPACE: workspace}
    return meta.metadata(name, namespace=names.namespace(item.spec.gitops), labels=labels)
