"""A workspace's own objects on one cluster: namespace, accounts, access, quota of small objects, defaults of containers.

In: a policy, a workspace, a cluster. Out: objects of `<cluster>/workspaces/<workspace>/`. What must never happen: a quota on Jobs or on
anything Kueue counts (work that Kueue has admitted would be refused by the API server), access that lets somebody start work around Git,
a namespace that a reconciler may remove.

Who may do what: **viewers** look at everything of the namespace but secrets. **Owners** also open a shell or a port of a running pod and
fill the secrets that policy names. Nobody creates or deletes runs: Git does. With Flux, an account for each workspace applies its runs
and can touch nothing but the run kinds there.
"""

from collections.abc import Iterator

from taugen.policy import model
from taugen.policy.set import Item, Policy
from taugen.render import collector, kueue, meta, network, storage
from taugen.render.gitops import names
from taugen.render.types import Object, Rendered
from taugen.words import Json

_READ: list[Json] = ["get", "list", "watch"]
_LOOK = (
    ("", ["configmaps", "events", "limitranges", "persistentvolumeclaims", "pods", "pods/log", "resourcequotas", "services"]),
    ("batch", ["jobs"]),
    ("events.k8s.io", ["events"]),
    ("jobset.x-k8s.io", ["jobsets"]),
    ("kueue.x-k8s.io", ["localqueues", "workloads"]),
    ("networking.k8s.io", ["networkpolicies"]),
    ("ray.io", ["rayclusters", "rayjobs"]),
)
_APPLY: list[Json] = ["get", "list", "watch", "create", "update", "patch", "delete"]
_RUN_RESOURCES = (("", ["configmaps", "services"]), ("batch", ["jobs"]), ("jobset.x-k8s.io", ["jobsets"]), ("ray.io", ["rayjobs"]))

# Each run has one ConfigMap and at most two Services, finished ones included until they are retired. Public addresses are never a run's.
_QUOTA = {
    "configmaps": "10k",
    "persistentvolumeclaims": "100",
    "secrets": "500",
    "services": "10k",
    "services.loadbalancers": "0",
    "services.nodeports": "0",
}
# For containers that say nothing, such as those that another controller adds. No default limit: it would stop whatever asks for more.
_DEFAULT_REQUEST = {"cpu": "100m", "memory": "128Mi"}


def workspace_objects(policy: Policy, workspace: str, cluster: str) -> Iterator[Rendered]:
    """Everything of `<cluster>/workspaces/<workspace>/`."""
    item = policy.workspaces[workspace]
    folder = f"{cluster}/workspaces/{workspace}"
    for obj in _objects(policy, item, cluster):
        yield meta.placed(folder, obj, item)
    for obj, source in storage.claims(policy, item):
        yield meta.placed(folder, obj, source)


def constant(policy: Policy, workspace: str, cluster: str) -> Rendered:
    """The object that is in `<cluster>/runs/<workspace>/` from the start.

    Flux fails on a path that is missing, and Argo CD refuses to prune everything.
    """
    item = policy.workspaces[workspace]
    data: Object = {"workspace": workspace, "namespace": item.spec.namespace}
    obj: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _metadata(item, "taugen-workspace"), "data": data}
    return meta.placed(f"{cluster}/runs/{workspace}", obj, item)


def _objects(policy: Policy, item: Item[model.Workspace], cluster: str) -> Iterator[Object]:
    yield _namespace(item)
    if item.spec.identity:
        yield _service_account(item, item.spec.identity)
    yield from _access(item)
    engine = policy.clusters[cluster].spec.gitops
    if engine.engine == "flux":
        yield _applier(item)
        account: Object = {"kind": "ServiceAccount", "name": names.applier(item.name), "namespace": names.namespace(engine)}
        yield _binding(item, "taugen-runs", [account])
    yield from collector.reader(item, policy.clusters[cluster])
    yield from network.policies(item)
    yield _object(item, "v1", "ResourceQuota", "taugen", {"hard": {**_QUOTA}})
    default: Object = {"type": "Container", "defaultRequest": {**_DEFAULT_REQUEST}}
    yield _object(item, "v1", "LimitRange", "taugen", {"limits": [default]})
    yield from kueue.local_queues(policy, item, cluster)


def _metadata(item: Item[model.Workspace], name: str, wave: int | None = meta.WAVE_TENANCY) -> Object:
    return meta.metadata(name, namespace=item.spec.namespace, labels={meta.WORKSPACE: item.name}, wave=wave)


def _object(item: Item[model.Workspace], api_version: str, kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": api_version, "kind": kind, "metadata": _metadata(item, name), "spec": spec}


def _namespace(item: Item[model.Workspace]) -> Object:
    # The same level for all three: `enforce` judges pods only, `warn` and `audit` tell of a Job that its pods would be refused.
    level = item.spec.podSecurity
    labels = {f"pod-security.kubernetes.io/{mode}": level for mode in ("enforce", "audit", "warn")} | {meta.WORKSPACE: item.name}
    metadata = meta.metadata(item.spec.namespace, labels=labels, wave=meta.WAVE_NAMESPACE, kept=True)
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _service_account(item: Item[model.Workspace], identity: model.Identity) -> Object:
    notes = {key: str(value) for key, value in identity.annotations.items()}
    labels = {meta.WORKSPACE: item.name}
    metadata = meta.metadata(
        identity.serviceAccount, namespace=item.spec.namespace, labels=labels, annotations=notes, wave=meta.WAVE_TENANCY
    )
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata, "automountServiceAccountToken": identity.token}


def _access(item: Item[model.Workspace]) -> Iterator[Object]:
    owners, viewers = _subjects(item.spec.owners), _subjects(item.spec.viewers)
    look: list[Json] = [_rule(group, resources, _READ) for group, resources in _LOOK]
    yield _role(item, "taugen-viewer", look)
    yield _role(item, "taugen-owner", [*look, *_owner_rules(item)])
    if viewers:
        yield _binding(item, "taugen-viewer", viewers)
    if owners:
        yield _binding(item, "taugen-owner", owners)


def _owner_rules(item: Item[model.Workspace]) -> Iterator[Json]:
    yield _rule("", ["pods/exec", "pods/portforward"], ["create", "get"])
    if item.spec.secrets:
        # `create` can't be held to names (Kubernetes RBAC); the rest is.
        yield _rule("", ["secrets"], ["create"])
        names_: list[Json] = [*sorted(set(item.spec.secrets))]
        yield {**_rule("", ["secrets"], ["get", "update", "patch", "delete"]), "resourceNames": names_}


def _applier(item: Item[model.Workspace]) -> Object:
    return _role(item, "taugen-runs", [_rule(group, resources, _APPLY) for group, resources in _RUN_RESOURCES])


def _rule(group: str, resources: list[str], verbs: list[Json]) -> Object:
    return {"apiGroups": [group], "resources": [*resources], "verbs": [*verbs]}


def _role(item: Item[model.Workspace], name: str, rules: list[Json]) -> Object:
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": _metadata(item, name), "rules": rules}


def _binding(item: Item[model.Workspace], name: str, subjects: list[Json]) -> Object:
    role: Object = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
    head: Object = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": _metadata(item, name)}
    return {**head, "roleRef": role, "subjects": subjects}


def _subjects(subjects: model.Subjects) -> list[Json]:
    named = [("Group", name) for name in sorted(set(subjects.groups))] + [("User", name) for name in sorted(set(subjects.users))]
    return [{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name} for kind, name in named]
