"""Argo CD: Applications and AppProjects of one cluster, and the health rules that Argo CD lacks.

In: a policy and a cluster under Argo CD (which runs in the cluster itself; an overlay can give another destination). Out: objects of
`<cluster>/gitops/`, and `<cluster>/bootstrap/configmap-argocd-cm.yaml`. What must never happen: Replace or Force (they delete and
re-create running work), a prune of everything, a retry without bound, a workspace's Application that can touch another namespace or
another kind.

The health rules belong into the ConfigMap `argocd-cm`, which is the platform team's own: it is rendered outside of every synced path,
holding nothing but our keys. Argo CD can't apply it: it always applies as the same field manager, so where `argocd-cm` is itself under
Argo CD, our apply would take away every key that the team has. The team applies it once with a field manager of its own (the annotation
says how), or lists it as a patch of its own installation.
"""

from collections.abc import Iterator

from taugen.policy import model
from taugen.policy.collector import NAMESPACE as COLLECTOR_NAMESPACE
from taugen.policy.health import NAMESPACE as HEALTH_NAMESPACE
from taugen.policy.set import Item, Policy
from taugen.render import meta
from taugen.render.gitops import names
from taugen.render.types import Object, Rendered
from taugen.words import Json, package

API_VERSION = "argoproj.io/v1alpha1"
IN_CLUSTER = "https://kubernetes.default.svc"
PROJECT = "taugen"
"""AppProject of the platform's own Applications where policy names none."""
HEALTH = (
    ("argoproj.io", "Application"),
    ("jobset.x-k8s.io", "JobSet"),
    ("kueue.x-k8s.io", "ClusterQueue"),
    ("kueue.x-k8s.io", "LocalQueue"),
    ("kueue.x-k8s.io", "Workload"),
    ("ray.io", "RayJob"),
)
"""Kinds without a health rule in Argo CD (resource_customizations of v3.5): without one they count as healthy at once."""

_WAVE_PROJECT, _WAVE_PLATFORM, _WAVE_WORKSPACE, _WAVE_RUNS = -1, 0, 1, 2
_PLATFORM_KINDS = [
    ("", "Namespace"),
    *(("kueue.x-k8s.io", kind) for kind in ("ClusterQueue", "Cohort", "ResourceFlavor", "Topology", "WorkloadPriorityClass")),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("readiness.node.x-k8s.io", "NodeReadinessRule"),
]
_PLATFORM_INSIDE = [
    ("", "ConfigMap"),
    ("", "ResourceQuota"),
    ("", "ServiceAccount"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
]
"""Node health and the collector, permitted whether policy has any or not: what a project ceases to permit is never pruned (ADR 7)."""
_WORKSPACE_KINDS = [
    ("", "LimitRange"),
    ("", "PersistentVolumeClaim"),
    ("", "ResourceQuota"),
    ("", "ServiceAccount"),
    ("kueue.x-k8s.io", "LocalQueue"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
]
_CASCADE: list[Json] = ["resources-finalizer.argocd.argoproj.io/background"]
_OPTIONS: list[Json] = ["ServerSideApply=true", "ApplyOutOfSyncOnly=true", "RespectIgnoreDifferences=true"]


def objects(policy: Policy, cluster: str) -> Iterator[Rendered]:
    """The objects that sync a cluster: projects, the platform's Application, two for each workspace; and the health rules."""
    item = policy.clusters[cluster]
    folder = f"{cluster}/gitops"
    present = [policy.workspaces[name] for name in sorted(policy.workspaces) if cluster in policy.clusters_of(name)]
    yield meta.placed(folder, _platform_project(item), item)
    yield meta.placed(folder, _platform(policy, item), item)
    for workspace in present:
        yield meta.placed(folder, _workspace_project(item, workspace), item)
        yield meta.placed(folder, _workspace(policy, item, workspace), item)
        yield meta.placed(folder, _runs_project(item, workspace), item)
        yield meta.placed(folder, _runs(policy, item, workspace), item)
    yield meta.placed(f"{cluster}/bootstrap", health_config(item), item)


def health_config(item: Item[model.Cluster]) -> Object:
    """The keys that taugen adds to `argocd-cm`. No label of ours: the ConfigMap stays the team's."""
    how = "kubectl apply --server-side --field-manager=taugen-health -f <this file>; not by Argo CD, which would take away your own keys"
    data: Object = {f"resource.customizations.health.{group}_{kind}": _lua(kind) for group, kind in HEALTH}
    metadata: Object = {
        "name": "argocd-cm",
        "namespace": names.namespace(item.spec.gitops),
        "annotations": {meta.FLUX_SUBSTITUTE: "disabled", "taugen.dev/apply": how},
    }
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _lua(kind: str) -> str:
    return (package.FOLDER / "render" / "gitops" / "health" / f"{kind.lower()}.lua").read_text("utf-8")


def _project_name(item: Item[model.Cluster]) -> str:
    return item.spec.gitops.project or PROJECT


def _platform_project(item: Item[model.Cluster]) -> Object:
    spaces = ["default", COLLECTOR_NAMESPACE, HEALTH_NAMESPACE]
    spec = _project(item, f"Queues, node health and collector of cluster {item.name}, made by taugen.", spaces)
    spec["clusterResourceWhitelist"] = _kinds(_PLATFORM_KINDS)
    spec["namespaceResourceWhitelist"] = _kinds(_PLATFORM_INSIDE)
    return _object(item, "AppProject", _project_name(item), spec, wave=_WAVE_PROJECT)


def _workspace_project(item: Item[model.Cluster], workspace: Item[model.Workspace]) -> Object:
    """One for each workspace: it goes after its Application, so that it permits for as long as there is something to take away."""
    spec = _project(item, f"Workspace {workspace.name} on cluster {item.name}, made by taugen.", [workspace.spec.namespace])
    spec["clusterResourceWhitelist"] = _kinds([("", "Namespace")])
    spec["namespaceResourceWhitelist"] = _kinds(_WORKSPACE_KINDS)
    return _object(item, "AppProject", names.workspace(item.name, workspace.name), spec, wave=_WAVE_PROJECT, workspace=workspace.name)


def _runs_project(item: Item[model.Cluster], workspace: Item[model.Workspace]) -> Object:
    """Held to one namespace and the run kinds; no cluster-scoped kind is listed, so none is allowed (clusterResourceWhitelist)."""
    spec = _project(item, f"Runs of workspace {workspace.name} on cluster {item.name}, made by taugen.", [workspace.spec.namespace])
    spec["namespaceResourceWhitelist"] = _kinds(meta.RUN_KINDS)
    return _object(item, "AppProject", names.runs(item.name, workspace.name), spec, wave=_WAVE_PROJECT, workspace=workspace.name)


def _project(item: Item[model.Cluster], description: str, namespaces: list[str]) -> Object:
    destinations: list[Json] = [{"server": IN_CLUSTER, "namespace": namespace} for namespace in namespaces]
    return {"description": description, "sourceRepos": [item.spec.gitops.url], "destinations": destinations}


def _kinds(kinds: list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> list[Json]:
    return [{"group": group, "kind": kind} for group, kind in kinds]


def _platform(policy: Policy, item: Item[model.Cluster]) -> Object:
    spec = _application(policy, item, "platform", project=_project_name(item), namespace="default", retry=_retry(20, "3m"))
    return _object(item, "Application", names.platform(item.name), spec, wave=_WAVE_PLATFORM)


def _workspace(policy: Policy, item: Item[model.Cluster], workspace: Item[model.Workspace]) -> Object:
    """Deleting it takes the workspace's access and queues away, never its namespace and claims: those say Delete=false."""
    name = names.workspace(item.name, workspace.name)
    where, namespace = f"workspaces/{workspace.name}", workspace.spec.namespace
    spec = _application(policy, item, where, project=name, namespace=namespace, retry=_retry(20, "3m"))
    obj = _object(item, "Application", name, spec, wave=_WAVE_WORKSPACE, workspace=workspace.name)
    metadata = obj["metadata"]
    assert isinstance(metadata, dict)
    metadata["finalizers"] = _CASCADE[:]
    return obj


def _runs(policy: Policy, item: Item[model.Cluster], workspace: Item[model.Workspace]) -> Object:
    """Deleting it leaves its runs alone: only `cancelled` in a document ends one. A bad object holds the operation for about a minute."""
    name = names.runs(item.name, workspace.name)
    where, namespace = f"runs/{workspace.name}", workspace.spec.namespace
    spec = _application(policy, item, where, project=name, namespace=namespace, retry=_retry(3, "1m"))
    spec["ignoreDifferences"] = _ignored()
    return _object(item, "Application", name, spec, wave=_WAVE_RUNS, workspace=workspace.name)


def _application(policy: Policy, item: Item[model.Cluster], where: str, *, project: str, namespace: str, retry: Object) -> Object:
    gitops = item.spec.gitops
    source: Object = {
        "repoURL": gitops.url,
        "targetRevision": gitops.branch,
        "path": f"{names.folder(policy, item.name)}/{where}",
        "directory": {"recurse": True},
    }
    sync: Object = {"automated": {"prune": True, "selfHeal": True}, "syncOptions": [*_OPTIONS], "retry": retry}
    return {"project": project, "source": source, "destination": {"server": IN_CLUSTER, "namespace": namespace}, "syncPolicy": sync}


def _retry(limit: int, longest: str) -> Object:
    """A bound, and retries on the newest commit (`refresh`, Argo CD 3.2): by default the old one is repeated and what mends it waits."""
    return {"limit": limit, "backoff": {"duration": "10s", "factor": 2, "maxDuration": longest}, "refresh": True}


def _ignored() -> list[Json]:
    """What Kueue writes into admitted runs and an apply would take back: RayJob's worker groups are one atomic list in its CRD.

    Nothing else: what is ignored is copied from the state that Argo CD last saw into what it applies (RespectIgnoreDifferences), and a
    `suspend` from before the admission stopped a run that had just started (ADR 8). What no manifest holds, an apply leaves alone.
    """
    return [{"group": "ray.io", "kind": "RayJob", "jsonPointers": ["/spec/rayClusterSpec/workerGroupSpecs"]}]


def _object(item: Item[model.Cluster], kind: str, name: str, spec: Object, *, wave: int, workspace: str | None = None) -> Object:
    labels = dict(item.spec.labels) if workspace is None else {**item.spec.labels, meta.WORKSPACE: workspace}
    # Argo CD then renders an Application again only when a commit touches its own folder (docs/operator-manual/high_availability.md).
    notes = {"argocd.argoproj.io/manifest-generate-paths": "."} if kind == "Application" else {}
    metadata = meta.metadata(name, namespace=names.namespace(item.spec.gitops), labels=labels, annotations=notes, wave=wave)
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}
