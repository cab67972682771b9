"""The collector of a cluster: what writes evidence there.

In: a policy and a cluster. Out: objects of `<cluster>/platform/collector/`, and of each workspace the role by which the collector reads it.
What must never happen: an account that can change anything in the cluster or read a Secret, a secret's value in Git, two collectors of one
cluster at work (the old one ends before the new one starts).

The key that writes evidence stands in a Secret that people make by hand (docs/evidence.md); until it is there the pod waits for it.
"""

import json
from collections.abc import Iterator

from taugen.policy import model
from taugen.policy.collector import NAMESPACE
from taugen.policy.set import Item, Policy
from taugen.render import meta, storage
from taugen.render.types import Object, Rendered
from taugen.words import Json, durations
from taugen.words.canonical import digest

NAME = "taugen-collector"
READER = "taugen-collector"
"""The role in each workspace's namespace."""
INTERVAL = 10
"""Seconds between two looks at what is to be committed; six pushes a minute at most."""
_USER = 65532
_CONFIG, _KEY, _STATE, _STORAGE = "/etc/taugen", "/etc/taugen-key", "/var/lib/taugen", "/storage"
_READ: list[Json] = ["get", "list", "watch"]
_READS: tuple[tuple[str, list[Json]], ...] = (
    ("", ["events", "pods"]),
    ("batch", ["jobs"]),
    ("jobset.x-k8s.io", ["jobsets"]),
    ("kueue.x-k8s.io", ["workloads"]),
    ("ray.io", ["rayclusters", "rayjobs"]),
)


def collector_objects(policy: Policy, cluster: str) -> Iterator[Rendered]:
    """Everything of `<cluster>/platform/collector/`; nothing where the cluster has no collector."""
    item = policy.clusters[cluster]
    if item.spec.collector is None:
        return
    for obj in _objects(policy, item, item.spec.collector):
        yield meta.placed(f"{cluster}/platform/collector", obj, item)


def reader(workspace: Item[model.Workspace], cluster: Item[model.Cluster]) -> Iterator[Object]:
    """What lets the collector read a workspace's runs, pods and logs; nothing where the cluster has no collector."""
    if cluster.spec.collector is None:
        return
    metadata = meta.metadata(
        READER, namespace=workspace.spec.namespace, labels={meta.WORKSPACE: workspace.name}, wave=meta.WAVE_TENANCY
    )
    rules: list[Json] = [_rule(group, resources) for group, resources in _READS]
    rules.append({"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]})
    yield {"apiVersion": meta.RBAC, "kind": "Role", "metadata": metadata, "rules": rules}
    yield _binding("Role", READER, {**metadata})


def _objects(policy: Policy, item: Item[model.Cluster], collector: model.Collector) -> Iterator[Object]:
    yield _namespace()
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(NAME), "automountServiceAccountToken": False}
    whole = meta.metadata(NAME, wave=meta.WAVE_TENANCY)
    rules: list[Json] = [_rule("", ["nodes"]), _rule("kueue.x-k8s.io", ["clusterqueues"])]
    yield {"apiVersion": meta.RBAC, "kind": "ClusterRole", "metadata": whole, "rules": rules}
    yield _binding("ClusterRole", NAME, {**whole})
    # Nobody has to reach it; what it reaches (API server, Git, Prometheus, object stores) has addresses that policy does not know.
    closed: Object = {"podSelector": {}, "policyTypes": ["Ingress"]}
    yield {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": _metadata("default-deny"), "spec": closed}
    config = settings(policy, item, collector)
    named = f"{NAME}-{digest(config)[:10]}"
    data: Object = {"collector.json": json.dumps(config, indent=2, sort_keys=True) + "\n"}
    yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": _metadata(named), "immutable": True, "data": data}
    yield _deployment(item, collector, named)


def settings(policy: Policy, item: Item[model.Cluster], collector: model.Collector) -> dict[str, Json]:
    """What `taugen collect --config` reads: where things are, in the cluster's own view."""
    project, gitops, metrics = policy.project, item.spec.gitops, item.spec.metrics
    present = [policy.workspaces[name] for name in sorted(policy.workspaces) if item.name in policy.clusters_of(name)]
    mounts: dict[str, Json] = {}
    for name in sorted(collector.storages):
        shared = policy.storages.get(name)
        for workspace in present if shared is not None else ():
            if shared is not None and workspace.name in shared.spec.workspaces:
                mounts[f"{workspace.spec.namespace}/{storage.claim_name(shared)}"] = f"{_STORAGE}/{name}"
    prices = policy.platform.spec.pricing if policy.platform is not None else {}
    # That of Kubernetes the API server tells itself.
    versions: dict[str, Json] = {name: version for name, version in sorted(policy.versions.items()) if name != "kubernetes"}
    queries: dict[str, Json] = {name: metrics.queries[name] for name in sorted(metrics.queries)} if metrics is not None else {}
    return {
        "cluster": item.name,
        "project": project.name,
        "evidence": {"url": collector.url or project.spec.evidence.url or gitops.url, "branch": project.spec.evidence.branch},
        "deploy": {"url": gitops.url, "branch": gitops.branch, "path": project.spec.output.path},
        "namespaces": {workspace.spec.namespace: workspace.name for workspace in present},
        "prometheus": metrics.prometheus if metrics is not None else None,
        "queries": queries,
        "logs": {"every": int(durations.parse(collector.logs.every)), "store": collector.logs.store},
        "mounts": mounts,
        "prices": {name: prices[name] for name in sorted(prices)},
        "versions": versions,
        "signingKey": f"{_KEY}/signing" if collector.keys else None,
        "interval": INTERVAL,
    }


def _namespace() -> Object:
    labels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "audit", "warn")} | {meta.UNMANAGED: "unmanaged"}
    notes = {meta.ARGO_COMPARE: "IgnoreExtraneous"}
    metadata = meta.metadata(NAMESPACE, labels=labels, annotations=notes, wave=meta.WAVE_NAMESPACE, kept=True)
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _metadata(name: str, wave: int = meta.WAVE_TENANCY) -> Object:
    return meta.metadata(name, namespace=NAMESPACE, wave=wave)


def _rule(group: str, resources: list[Json]) -> Json:
    return {"apiGroups": [group], "resources": resources, "verbs": [*_READ]}


def _binding(kind: str, role: str, metadata: Object) -> Object:
    reference: Object = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}
    subject: Object = {"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}
    return {"apiVersion": meta.RBAC, "kind": f"{kind}Binding", "metadata": metadata, "roleRef": reference, "subjects": [subject]}


# -------------------------------------------------------------------------------------------------------------- deployment


def _deployment(item: Item[model.Cluster], collector: model.Collector, config: str) -> Object:
    labels: Object = {"app.kubernetes.io/name": NAME}
    spec: Object = {
        "replicas": 1,
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": {**labels}},
        "template": {"metadata": {"labels": {**labels}}, "spec": _pod(item, collector, config)},
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _metadata(NAME, meta.WAVE_LAST), "spec": spec}


def _pod(item: Item[model.Cluster], collector: model.Collector, config: str) -> Object:
    mounts: list[Json] = [
        {"name": "config", "mountPath": _CONFIG, "readOnly": True},
        {"name": "key", "mountPath": _KEY, "readOnly": True},
        {"name": "state", "mountPath": _STATE},
    ]
    volumes: list[Json] = [
        {"name": "config", "configMap": {"name": config, "defaultMode": 0o444}},
        # Readable by the pod's group. ssh asks for 0600 only of the files that the user owns; these are root's.
        {"name": "key", "secret": {"secretName": collector.secret, "defaultMode": 0o440}},
        {"name": "state", "emptyDir": {"sizeLimit": "4Gi"}},
    ]
    for name, claim in sorted(collector.storages.items()):
        mounts.append({"name": f"storage-{name}"[:63].rstrip("-"), "mountPath": f"{_STORAGE}/{name}", "readOnly": True})
        volumes.append({"name": f"storage-{name}"[:63].rstrip("-"), "persistentVolumeClaim": {"claimName": claim, "readOnly": True}})
    container: Object = {
        "name": "collector",
        "image": collector.image,
        "args": ["collect", "--cluster", item.name, "--config", f"{_CONFIG}/collector.json", "--folder", _STATE],
        "env": [{"name": "GIT_SSH_COMMAND", "value": _SSH}, {"name": "HOME", "value": _STATE}],
        "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True},
        "volumeMounts": mounts,
    }
    user: Object = {"runAsNonRoot": True, "runAsUser": _USER, "runAsGroup": _USER, "fsGroup": _USER}
    return {
        "serviceAccountName": NAME,
        "automountServiceAccountToken": True,
        "enableServiceLinks": False,
        # What is not committed when it ends is seen again when it starts.
        "terminationGracePeriodSeconds": 60,
        "securityContext": {**user, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": volumes,
    }


_SSH = (
    f"ssh -o BatchMode=yes -o IdentitiesOnly=yes -o IdentityFile={_KEY}/identity"
    f" -o StrictHostKeyChecking=yes -o UserKnownHostsFile={_KEY}/known_hosts"
)
