"""What people type who know Kueue, Kubernetes or TauGrid, and what they should write here.

In: a kind, or a field with its place. Out: the end of a message or a hint. Nothing here accepts anything: these names are always refused.
"""

from collections.abc import Mapping

from taugen.words import Path

KINDS: Mapping[str, str] = {
    "AdmissionCheck": "AdmissionChecks are made outside of taugen; name them in admissionChecks of a Queue",
    "AppProject": "Argo CD's objects are rendered from gitops of a Cluster",
    "Application": "Argo CD's objects are rendered from gitops of a Cluster",
    "ClusterQueue": "write a Queue",
    "ConfigMap": "policy makes no ConfigMaps; those of runs are rendered from their code",
    "GitRepository": "Flux's objects are rendered from gitops of a Cluster",
    "Kustomization": "Flux's objects are rendered from gitops of a Cluster; move a kustomization.yaml out of the policy folder",
    "LimitRange": "it is rendered from a Workspace",
    "LocalQueue": "list it in queues of a Workspace",
    "MultiKueueCluster": "MultiKueue is not built yet",
    "MultiKueueConfig": "MultiKueue is not built yet",
    "Namespace": "write a Workspace with this namespace",
    "NetworkPolicy": "write network.egress of a Workspace",
    "Node": "write a pool in nodePools of a Cluster",
    "NodeReadinessRule": "write a HealthPolicy, and versions.nodeReadinessController of Platform",
    "PersistentVolumeClaim": "write a Storage",
    "PriorityClass": "write a PriorityTier; a pod PriorityClass would preempt behind Kueue's back",
    "ResourceFlavor": "write a Flavor",
    "ResourceQuota": "write limits of a Workspace; quota of GPUs belongs to a Queue",
    "RoleBinding": "write owners and viewers of a Workspace",
    "Secret": "secrets never stand in Git; list their names in secrets of a Workspace",
    "ServiceAccount": "write identity of a Workspace",
    "TauQuotaRequest": "edit quotas of a Queue in a pull request",
    "TauTeam": "write a Cohort, with a Queue for each workspace",
    "TauWorkspace": "write a Workspace",
    "WorkloadPriorityClass": "write a PriorityTier",
    "WorkloadProfile": "write a Profile",
}
"""Kinds of other systems."""

_QUOTA = {"nominalQuota": "nominal", "borrowingLimit": "borrow", "lendingLimit": "lend"}
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "Queue": {
        **{theirs: f"write {ours}" for theirs, ours in _QUOTA.items()},
        "cohortName": "write cohort",
        "queueingStrategy": "write strategy",
        "flavorFungibility": "write fungibility",
        "stopPolicy": "write stop",
        "resourceGroups": "write quotas: a list of flavors, each with its resources; the resource groups follow from them",
        "coveredResources": "leave it out: it follows from the resources of quotas",
        "namespaceSelector": "leave it out: namespaces get in by queues of a Workspace",
        "admissionChecksStrategy": "write admissionChecks",
        "flavors": "write quotas: [{flavor, resources}]",
        "quotas.name": "write flavor",
        "admissionScope": "leave it out: admission by usage is not built",
        "parentName": "write cohort",
    },
    "Cohort": {
        **{theirs: f"write {ours}" for theirs, ours in _QUOTA.items()},
        "parentName": "write parent",
        "cohort": "write parent",
        "cohortName": "write parent",
        "resourceGroups": "write quotas: a list of flavors, each with its resources",
        "quotas.name": "write flavor",
    },
    "Flavor": {
        "topologyName": "write topology",
        "tolerations": "leave it out: a run's GPU pods bring them, so that Kueue keeps all other pods off",
        "nodeSelector": "write nodeLabels",
        "labels": "write nodeLabels",
        "taints": "write nodeTaints",
        "gpu_class": "write gpuClass",
    },
    "Topology": {"nodeLabel": "write label"},
    "Cluster": {
        "nodeLabels": "write labels of a pool in nodePools",
        "pools": "write nodePools",
        "nodes": "write count",
        "capacity": "write allocatable: what is left for pods",
        "instance_type": "write instanceType",
        "repoURL": "write url",
        "targetRevision": "write branch",
    },
    "PriorityTier": {"globalDefault": "leave it out: write priority of a Profile, or defaults.priority of a Workspace"},
    "Profile": {
        "gpu": "write gpus",
        "nodes": "write workers",
        "gpu_class": "write gpuClass",
        "gpu_type": "write gpuClass",
        "cpus": "write cpuPerGpu; a run of CPUs sets its own cpus, within override",
        "memory": "write memoryPerGpu; a run of CPUs sets its own memory, within override",
        "shm_size": "write shm",
        "overrides": "write override",
        "env": "write nccl for NCCL_* variables; others belong to defaults.runtime.env of a Workspace",
        "tier": "write priority",
    },
    "Workspace": {
        "localQueues": "write queues",
        "clusterQueue": "write queue",
        "serviceAccount": "write identity.serviceAccount",
        "admins": "write owners",
        "members": "write owners or viewers",
        "max_gpus_per_run": "write limits.gpusPerRun",
        "volumes": "write storage",
        "quota": "write the quotas of a Queue",
        "cidr": "write to",
    },
    "Storage": {
        "storageClassName": "write storageClass",
        "claimName": "write existing",
        "pvc": "write claim",
        "mountPath": "write path",
        "read_only": "write readOnly",
        "accessMode": "write accessModes",
        "storage": "write size",
    },
    "HealthPolicy": {
        "gpuClass": "write gpuClasses: a list",
        "nodeSelector": "write nodes",
        "taints": "write actions: [{condition, taint: {effect}}]",
        "timeAdded": "leave it out",
        "value": "leave it out: a taint of health has no value",
        "for": "write after",
        "maxUnavailable": "write maxTainted",
        "image": "write images.runner",
        "node-problem-detector": "write nodeProblemDetector",
        "dcgm-exporter": "write dcgmExporter",
        "drain": "write running: drain",
    },
    "Platform": {"allowed": "write allow", "registries": "write images.allow"},
    "Project": {"workspaces": "write runs: globs of the run documents", "clusters": "write Cluster documents in a policy folder"},
}

_LATER: Mapping[tuple[str, str], str] = {
    ("Platform", "versions.trainer"): "Kubeflow Trainer is not built yet",
    ("Platform", "versions.gitops"): "nothing depends on the version of Argo CD or Flux yet",
    ("Platform", "queueing.waitForPodsReady"): "it comes with the bootstrap of Kueue's configuration",
    ("Platform", "queueing.fairSharing.preemptionStrategies"): "it comes with the bootstrap of Kueue's configuration",
    ("Platform", "defaults.storage.image_assets"): "name assets in each run, or build them into the image",
    ("Workspace", "defaults.storage.image_assets"): "name assets in each run, or build them into the image",
    ("Workspace", "limits.runs"): "nothing counts a workspace's runs yet",
    ("Workspace", "limits.gpuHours"): "nothing counts a workspace's GPU hours yet",
}


def foreign_field(kind: str, path: Path) -> str | None:
    """What to write instead of a field of another system, None where the name is not one. `path` starts below `spec`."""
    known = _FIELDS.get(kind, {})
    return known.get(_generic(path)) or known.get(str(path[-1]))


def later_field(kind: str, path: Path) -> str | None:
    """Why a field of the specification is not accepted yet, None where it is not one. `path` starts below `spec`."""
    return _LATER.get((kind, _generic(path)))


def later_value(kind: str, path: Path, value: object) -> str | None:
    """What to write instead of a value of the specification that is not accepted yet, None where it is not one."""
    if (kind, _generic(path)) == ("Cluster", "role") and value in ("manager", "worker"):
        return "MultiKueue is not built yet: remove role"
    return None


def shape(kind: str, path: Path, value: object) -> str | None:
    """How to write what Kueue or shorthand puts into another form, None where it is just wrong."""
    where = _generic(path)
    if kind in {"Queue", "Cohort"}:
        if where == "quotas" and isinstance(value, dict):
            return "write a list: - flavor: NAME, with its resources below"
        if where == "quotas.resources" and isinstance(value, list):
            return "write a mapping by resource: {cpu: {nominal: 16}, memory: {nominal: 64Gi}}"
        if where.startswith("quotas.resources.") and isinstance(value, int | float | str):
            return f"write {{nominal: {value}}}"
    if where.rpartition(".")[2] in {"labels", "nodeLabels", "annotations", "nccl"} and isinstance(value, list):
        return "write a mapping: KEY: value"
    return None


def _generic(path: Path) -> str:
    return ".".join(part for part in path if isinstance(part, str))
