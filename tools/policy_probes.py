"""The tables of `tools.policy_effects`: for each field of each kind of policy two values, what else they need, and what is compiled.

In: tables. Out: `PROBES`, `ELSEWHERE`, `REFUSED`, and the files and runs that they speak of. A new kind needs an entry in `PROBES`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tools import effects
from tools.effects import BASES, GIT, IMAGE, OTHER

Change = tuple[str, str, str]
"""(kind, name of the document, path below spec)."""


class Probe(NamedTuple):
    """Two values of a field of the document `name`; None leaves the field out. `needs` are changes of policy, `typed` those of the runs,
    that the field needs. `runs` are compiled too; `platform` False leaves the platform's objects out. `key` stands for NAME in the
    field.
    """

    name: str
    one: Any
    two: Any
    needs: Mapping[Change, Any] = {}
    runs: tuple[str, ...] = ()
    typed: Mapping[str, Any] = {}
    platform: bool = True
    key: str = ""


def _seen_in(run: str, name: str, one: Any, two: Any, *, needs: Mapping[Change, Any] | None = None, **typed: Any) -> Probe:
    """A field that is seen in a run; `typed` are the run's own fields, `__` for a dot."""
    return Probe(name, one, two, needs or {}, (run,), {path.replace("__", "."): value for path, value in typed.items()}, platform=False)


def _judged(name: str, one: Any, two: Any, needs: Mapping[Change, Any] | None = None) -> Probe:
    """A field that rules of policy judge by."""
    return Probe(name, one, two, needs or {}, platform=False)


def _without(document: dict[str, Any], section: str) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != section}


SHAPED = {**BASES["gpu"], "compute": {}}
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: ("lab", document) for name, document in BASES.items()},
    "bare job": ("lab", _without(BASES["job"], "runtime")),
    "bare ray": ("lab", _without(BASES["ray"], "runtime")),
    "shaped": ("shaped", {**SHAPED, "policy": {"profile": "large"}}),
    "open": ("shaped", {**SHAPED, "policy": {"profile": "open"}}),
    "both": ("both", BASES["job"]),
}
"""Documents with their workspaces."""

_FLAVOR = "target: {kind: ResourceFlavor}\npatch: {metadata: {annotations: {example.org/a: %s}}}\n"
_TIER = "apiVersion: taugen.dev/v1alpha1\nkind: PriorityTier\nmetadata: {name: %s}\nspec: {value: 7}\n"
FILES = {
    "overlays/newer/job.yaml": "target: {kind: Job}\npatch: {spec: {template: {spec: {schedulingGroup: {podGroupName: a}}}}}\n",
    "overlays/newer/ray.yaml": "target: {kind: RayJob}\npatch: {spec: {rayClusterSpec: {networkPolicy: {mode: DenyAll}}}}\n",
    "overlays/mine/flavor.yaml": _FLAVOR % "b",
    "patches/mine/flavor.yaml": _FLAVOR % "c",
    "narrow/tier.yaml": _TIER % "narrow",
}
"""Further files of the project; those of `newer` need the newer of two versions."""

ONE, TWO = "1" * 40, "2" * 40
REMOTES = {ONE: {"a/tier.yaml": _TIER % "a", "b/tier.yaml": _TIER % "b"}, TWO: {"a/tier.yaml": _TIER % "c"}}
"""Repositories of policy: commit -> files."""
_HERE, _THERE = "https://git.example.org/one.git", "https://git.example.org/two.git"
PINS = {(_HERE, "main", "a"): ONE, (_HERE, "main", "b"): ONE, (_HERE, "next", "a"): TWO, (_THERE, "main", "a"): TWO}
"""(url, ref, path) -> commit, as taugen.lock has them."""


def _remote(one: str, two: str) -> Probe:
    sources = [{"git": {"url": _HERE, "ref": "main", "path": "a"}}, {"path": "policy"}]
    return Probe("effects", one, two, {("Project", "effects", "policy"): sources})


_PROJECT = {
    "policy[].path": Probe("effects", "policy", "narrow", {("Project", "effects", "policy"): [{}]}),
    "policy[].git.url": _remote(_HERE, _THERE),
    "policy[].git.ref": _remote("main", "next"),
    "policy[].git.path": _remote("a", "b"),
    "runs": Probe("effects", ["workspaces/*/run/tau.yaml"], ["workspaces/lab/run/tau.yaml"]),
    "overlays": Probe("effects", "overlays", "patches", {("Cluster", "near", "overlays"): ["mine"]}),
    "output.path": Probe("effects", "clusters", "fleet"),
}
_WITH_HEALTH: Mapping[Change, Any] = {
    ("HealthPolicy", "gpus", "gpuClasses"): ["h100-80gb"],
    ("HealthPolicy", "gpus", "images.runner"): IMAGE,
    ("HealthPolicy", "gpus", "actions"): [{"condition": "GpuXid", "taint": {"effect": "NoSchedule"}}],
}
_NEWER: Mapping[Change, Any] = {("Cluster", "near", "overlays"): ["newer"]}
_PLATFORM = {
    "versions.kubernetes": _seen_in("job", "effects", "1.35", "1.36", needs=_NEWER),
    "versions.kuberay": _seen_in("ray", "effects", "1.6", "1.7", needs=_NEWER),
    "versions.kueue": _judged("effects", "0.19", "0.18"),
    "versions.jobset": _judged("effects", "0.12", "0.11"),
    "versions.nodeReadinessController": Probe("effects", None, "0.5", _WITH_HEALTH),
    "images.allow": _seen_in("job", "effects", None, ["registry.example.org"]),
    "images.digests": _seen_in("job", "effects", "warn", "required", runtime__image="python:3.12"),
    "code.allow": Probe("effects", ["https://git.example.org/"], ["https://git.example.com/"], {}, ("job",), GIT, platform=False),
    "pricing": _seen_in("gpu", "effects", {"h100": 2}, {"h100": 3}),
    "queueing.fairSharing.enable": _judged("effects", True, False, {("Queue", "pooled", "fairSharing"): {"weight": 2}}),
}
_ARGO: Mapping[Change, Any] = {("Cluster", "near", "gitops.engine"): "argocd"}
_CPU = {"name": "cpu", "count": 8, "labels": {"pool": "cpu"}, "allocatable": {"cpu": 60, "memory": "500Gi", "ephemeral-storage": "1Ti"}}
_H100 = {
    "name": "h100", "count": 8, "labels": {"pool": "h100", "rack": "r1"}, "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
    "allocatable": {"cpu": 200, "memory": "1800Gi", "nvidia.com/gpu": 8}, "gpuClass": "h100-80gb", "gpus": 8,
}  # fmt: skip
_CPUS: Mapping[Change, Any] = {("Cluster", "near", "nodePools"): [_CPU]}
_GPUS: Mapping[Change, Any] = {("Cluster", "near", "nodePools"): [_H100]}
_TYPE: Mapping[Change, Any] = {**_CPUS, ("Flavor", "cpu", "nodeLabels"): {"node.kubernetes.io/instance-type": "m7i"}}
_COLLECTS: Mapping[Change, Any] = {("Cluster", "near", "collector.image"): IMAGE}
_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDIhz2GK/XCUj4i6Q5yQJNL1MKMY0RxzPV2QrBqfHrDq"
_CLUSTER = {
    "gitops.engine": Probe("near", "flux", "argocd"),
    "gitops.url": Probe("near", "https://git.example.org/fleet.git", "https://git.example.org/other.git"),
    "gitops.branch": Probe("near", "deploy", "other"),
    "gitops.path": Probe("near", None, "clusters/elsewhere"),
    "gitops.namespace": Probe("near", None, "gitops"),
    "gitops.project": Probe("near", None, "team", _ARGO),
    "nodePools[].name": _judged("near", "h100", "hopper", {("Cluster", "near", "nodePools"): [{**_H100, "gpuClass": "h100-94gb"}]}),
    "nodePools[].count": _seen_in("job", "near", 8, 0, needs=_CPUS),
    "nodePools[].instanceType": Probe("near", "m7i", "m7a", _TYPE),
    "nodePools[].labels": Probe("near", {"pool": "cpu"}, {"pool": "h100"}, _CPUS),
    "nodePools[].taints[].key": _judged("near", "nvidia.com/gpu", "amd.com/gpu", _GPUS),
    "nodePools[].taints[].value": _judged("near", None, "present", _GPUS),
    "nodePools[].taints[].effect": _judged("near", "NoSchedule", "NoExecute", _GPUS),
    "nodePools[].allocatable": _seen_in("job", "near", {"cpu": 60}, {"cpu": 2}, needs=_CPUS),
    "nodePools[].gpuClass": _judged("near", "h100-80gb", "l40s-48gb", _GPUS),
    "nodePools[].gpus": _judged("near", 8, 4, _GPUS),
    "labels": Probe("near", None, {"region": "north"}),
    "overlays": Probe("near", None, ["mine"]),
    "collector.image": Probe("near", IMAGE, OTHER),
    "collector.url": Probe("near", None, "https://git.example.org/evidence.git", _COLLECTS),
    "collector.secret": Probe("near", None, "evidence-key", _COLLECTS),
    "collector.keys": Probe("near", None, [_KEY], _COLLECTS),
    "collector.logs.every": Probe("near", "5m", "10m", _COLLECTS),
    "collector.logs.store": Probe("near", None, "s3://logs", _COLLECTS),
    "collector.storages": Probe("near", None, {"data": "data"}, _COLLECTS),
    "metrics.prometheus": Probe("near", "http://a:9090", "http://b:9090", _COLLECTS),
    "metrics.queries": Probe("near", None, {"gpu": "avg(a)"}, {**_COLLECTS, ("Cluster", "near", "metrics.prometheus"): "http://a:9090"}),
}
_FLAVORS = {
    "gpuClass": Probe("h100", "h100-80gb", "h100-94gb", {}, ("gpu",)),
    "nodeLabels": Probe("cpu", {"pool": "cpu"}, {"pool": "cpu", "zone": "a"}),
    "nodeTaints[].key": Probe("h100", "nvidia.com/gpu", "amd.com/gpu"),
    "nodeTaints[].value": Probe("h100", None, "present"),
    "nodeTaints[].effect": Probe("h100", "NoSchedule", "NoExecute"),
    "topology": Probe("h100", "racks", None),
    "clusters": Probe("cpu", None, ["near"]),
}
_NEAR = {"policy.topology": "same-network-domain"}
_TOPOLOGY = {
    "levels[].label": Probe("racks", "rack", "row", {}, ("gang",), _NEAR),
    "levels[].domain": Probe("racks", "same-network-domain", "same-site", {}, ("gang",), _NEAR),
}


def _quotas(name: str) -> dict[str, Probe]:
    """The fields that queues and cohorts share."""
    return {
        "quotas[].flavor": Probe(name, "cpu", "h100"),
        "quotas[].resources.NAME.nominal": Probe(name, 8, 9, key="cpu"),
        "quotas[].resources.NAME.borrow": Probe(name, None, 2, key="cpu"),
        "quotas[].resources.NAME.lend": Probe(name, None, 2, key="cpu"),
        "fairSharing.weight": Probe(name, 1, 2),
    }


_RECLAIM: Mapping[Change, Any] = {("Queue", "pooled", "preemption"): {"reclaimWithinCohort": "Any"}}
_BORROW = {**_RECLAIM, ("Queue", "pooled", "preemption.borrowWithinCohort.policy"): "LowerPriority"}
_QUEUE = {
    "cohort": Probe("pooled", "pool", "all"),
    **_quotas("pooled"),
    "strategy": Probe("pooled", "BestEffortFIFO", "StrictFIFO"),
    "preemption.withinClusterQueue": Probe("pooled", "Never", "LowerPriority"),
    "preemption.reclaimWithinCohort": Probe("pooled", "Never", "Any"),
    "preemption.borrowWithinCohort.policy": Probe("pooled", "Never", "LowerPriority", _RECLAIM),
    "preemption.borrowWithinCohort.maxPriorityThreshold": Probe("pooled", None, 100, _BORROW),
    "fungibility.whenCanBorrow": Probe("pooled", "MayStopSearch", "TryNextFlavor"),
    "fungibility.whenCanPreempt": Probe("pooled", "TryNextFlavor", "MayStopSearch"),
    "admissionChecks": Probe("pooled", None, ["provisioning"]),
    "stop": Probe("pooled", "None", "Hold"),
    "clusters": Probe("pooled", None, ["near"]),
}
_PROFILE = {
    "applies.workspaces": _seen_in("shaped", "large", None, ["lab"]),
    "applies.teams": _seen_in("shaped", "large", None, ["blue"]),
    "applies.lanes": _seen_in("shaped", "large", None, ["eval"]),
    "kinds": _seen_in("shaped", "large", None, ["rayjob"]),
    "gpus": _seen_in("shaped", "large", 1, 2),
    "workers": _seen_in("shaped", "large", None, 2, execution__launcher="torchrun", run__max_duration="1h"),
    "gpuClass": _seen_in("shaped", "large", "h100-80gb", "a100-80gb"),
    "cpuPerGpu": _seen_in("shaped", "large", 1, 2),
    "memoryPerGpu": _seen_in("shaped", "large", "8Gi", "9Gi"),
    "shm": _seen_in("shaped", "large", None, "1Gi"),
    "topology": _seen_in("shaped", "large", None, "same-host"),
    "nccl": _seen_in("shaped", "large", None, {"NCCL_DEBUG": "INFO"}),
    "rdma.resource": _seen_in("shaped", "large", "rdma/ib", "rdma/roce"),
    "rdma.count": _seen_in("shaped", "large", 1, 2, needs={("Profile", "large", "rdma"): {"resource": "rdma/ib"}}),
    "image": _seen_in("shaped", "large", IMAGE, OTHER, runtime=None),
    "queue": _seen_in("shaped", "large", "main", "other"),
    "priority": _seen_in("shaped", "large", "low", "high"),
}
NUMBERS: dict[str, tuple[dict[str, Any], Any, Any, Any]] = {
    "gpus": ({"compute.gpus": 2}, 2, 1, 3),
    "workers": ({"compute": {"gpus": 1, "workers": 2}, "run.workload_kind": "rayjob"}, 2, 1, 3),
    "cpus": ({"compute": {"gpus": 1, "cpus": 4}}, 4, 3, 5),
    "memory": ({"compute": {"gpus": 1, "memory": "8Gi"}}, "8Gi", "7Gi", "9Gi"),
    "shm": ({"compute": {"gpus": 1, "shm_size": "2Gi"}}, "2Gi", "1Gi", "3Gi"),
    "max_duration": ({"compute.gpus": 1, "run.max_duration": "2h"}, "2h", "1h", "3h"),
}
"""What a run types, that value, one below and one above."""
_WORDS: dict[str, tuple[dict[str, Any], str, str]] = {
    "gpuClass": ({"compute": {"gpus": 1, "gpu_class": "h100-80gb"}}, "h100-80gb", "a100-80gb"),
    "topology": ({"compute.gpus": 1, "policy.topology": "same-host"}, "same-host", "same-network-domain"),
    "image": ({"compute.gpus": 1}, IMAGE, OTHER),
    "queue": ({"compute.gpus": 1, "policy.queue": "main"}, "main", "other"),
    "priority": ({"compute.gpus": 1, "policy.priority": "low"}, "low", "high"),
    "kind": ({"compute.gpus": 1}, "job", "jobset"),
}
"""What a run types, that value and another."""


def _bounds() -> Iterator[tuple[str, Probe]]:
    """Each side of the bounds of each field that a run may override."""
    listed: dict[Change, Any] = {("Workspace", "shaped", "profiles"): ["open"]}
    for name, (typed, same, below, above) in NUMBERS.items():
        for side, allows, forbids in (("min", below, above), ("max", above, below), ("oneOf", [same], [below])):
            yield f"override.{name}.{side}", Probe("open", allows, forbids, listed, ("open",), typed, platform=False)
    for word, (typed, value, other) in _WORDS.items():
        needs = {**listed, ("Profile", "open", "kinds"): ["rayjob"]} if word == "kind" else listed
        yield f"override.{word}.oneOf", Probe("open", [value], [other], needs, ("open",), typed, platform=False)


_ACCOUNT: Mapping[Change, Any] = {("Workspace", "lab", "identity.serviceAccount"): "runs"}
_TO: Mapping[Change, Any] = {("Workspace", "lab", "network.egress"): [{"to": "10.0.0.0/8"}]}
_WORKSPACE = {
    "namespace": Probe("lab", "team-lab", "team-b", {}, ("job",)),
    "owners.groups": Probe("lab", ["leads"], ["others"]),
    "owners.users": Probe("lab", None, ["ada"]),
    "viewers.groups": Probe("lab", None, ["all"]),
    "viewers.users": Probe("lab", None, ["ada"]),
    "queues[].name": Probe("lab", "main", "first", {}, ("job",)),
    "queues[].queue": Probe("lab", "main", "pooled", {}, ("job",)),
    "queues[].default": _seen_in("job", "lab", True, False),
    "profiles": _seen_in("shaped", "shaped", ["large"], ["small"]),
    "identity.serviceAccount": Probe("lab", "runs", "jobs", {}, ("job",)),
    "identity.annotations": Probe("lab", None, {"example.org/role": "a"}, _ACCOUNT),
    "identity.token": Probe("lab", False, True, _ACCOUNT, ("job",)),
    "storage": _seen_in("data", "lab", ["data", "more", "made"], ["data", "made"]),
    "secrets": Probe("lab", ["token", "deploy"], ["token"]),
    "limits.gpusPerRun": _seen_in("gpu", "lab", 2, 1),
    "network.egress[].to": Probe("lab", "10.0.0.0/8", "10.0.0.0/16", _TO),
    "network.egress[].ports": Probe("lab", None, [443], _TO),
    "podSecurity": Probe("lab", "privileged", "restricted", {}, ("job",)),
    "clusters": Probe("both", ["near"], ["far"], {}, ("both",)),
}


def _watched(one: Any, two: Any, more: Mapping[str, Any] | None = None, needs: Mapping[Change, Any] | None = None) -> Probe:
    """A field of a HealthPolicy of its own."""
    whole = {"gpuClasses": ["h100-80gb"], "images.runner": IMAGE, **(more or {})}
    return Probe("gpus", one, two, {**{("HealthPolicy", "gpus", path): value for path, value in whole.items()}, **(needs or {})})


_CHECK = {"checks": [{"name": "temperature"}]}
_RACKS: Mapping[Change, Any] = {
    ("Cluster", "near", "nodePools"): [_H100, {**_H100, "name": "more", "labels": {"pool": "h100", "rack": "r2"}}]
}
_TAINT = {"actions": [{"condition": "GpuXid", "taint": {"effect": "NoSchedule"}}]}
_HEALTH = {
    "gpuClasses": _watched(["h100-80gb"], ["a100-80gb"]),
    "nodes": _watched(None, {"rack": "r1"}, needs=_RACKS),
    "checks[].name": _watched("temperature", "throttle", _CHECK),
    "checks[].source": _watched("script", "dcgm", _CHECK),
    "checks[].threshold": _watched(None, 80, _CHECK),
    "checks[].window": _watched("5m", "10m", {"checks": [{"name": "xid"}]}),
    "actions[].condition": _watched("GpuXid", "GpuEcc", _TAINT),
    "actions[].taint.effect": _watched("NoSchedule", "PreferNoSchedule", _TAINT),
    "actions[].taint.key": _watched(None, "example.org/health", _TAINT),
    "actions[].event": _watched("Warning", "Normal", _TAINT),
    "actions[].after": _watched("1m", "2m", _TAINT),
    "actions[].clearAfter": _watched("10m", "20m", _TAINT),
    "maxTainted": _watched("10%", 2, _TAINT),
    "running": _watched("leave", "drain", _TAINT),
    "interval": _watched("1m", "2m"),
    "runtimeClass": _watched(None, "nvidia"),
    "driverRoot": _watched(None, "/opt/nvidia"),
    "dcgm": _watched(None, "dcgm.example.org:5555", {"checks": [{"name": "dcgm"}]}),
    "images.runner": _watched(IMAGE, OTHER),
    "images.nodeProblemDetector": _watched(None, OTHER),
    "images.dcgmExporter": _watched(None, OTHER),
}
_MADE: Mapping[Change, Any] = {("Workspace", "lab", "storage"): ["data", "more", "made"]}
_STORAGE = {
    "claim.existing": Probe("data", "data", "archive", {}, ("data",)),
    "claim.storageClass": Probe("made", None, "fast"),
    "claim.size": Probe("made", "1Ti", "2Ti"),
    "claim.accessModes": Probe("made", ["ReadWriteMany"], ["ReadOnlyMany"]),
    "path": _seen_in("job", "made", "/made", "/other", needs=_MADE, storage__data="made"),
    "readOnly": _seen_in("job", "made", False, True, needs=_MADE, storage__data="made"),
    "workspaces": Probe("made", ["lab"], ["lab", "both"]),
}

_MOUNTS = {"name": ("d", "e"), "storage": ("data", "more"), "path": ("/x", "/y"), "read_only": (None, True)}
_MOUNT = {"storage.mounts": [{"name": "d", "storage": "data", "path": "/x"}]}
_DEVICES = {"compute.rdma": {"resource": "rdma/ib"}}
_OWN = {
    "compute.rdma.enabled": effects.Probe("gpu", _DEVICES, None, False),
    **{f"storage.mounts[].{field}": effects.Probe("job", _MOUNT, *values) for field, values in _MOUNTS.items()},
}
"""Fields whose probe of tau.yaml does not show what a default does."""


def _defaults(kind: str, name: str) -> Iterator[tuple[str, Probe]]:
    """The defaults of Workspace or Platform: the values that tau.yaml's own table has, typed in policy instead of in the run."""
    for field, probe in {**effects.PROBES, **_OWN}.items():
        if field.partition(".")[0] not in {"runtime", "compute", "storage", "resilience"} or field.startswith("storage.image_assets"):
            continue
        inside = {path: value for path, value in probe.needs.items() if field.startswith((f"{path}.", f"{path}[]")) and "." in path}
        needs = {(kind, name, f"defaults.{path}"): value for path, value in inside.items()}
        typed = {path: value for path, value in probe.needs.items() if path not in inside}
        run = "gpu" if probe.base == "shaped" else probe.base
        typed[field.partition("[]")[0]] = None
        yield f"defaults.{field}", Probe(name, probe.one, probe.two, needs, (run,), typed, platform=False)
    for workload, run in (("job", "bare job"), ("jobset", "bare job"), ("rayjob", "bare ray")):
        yield f"defaults.images.{workload}", _seen_in(run, name, IMAGE, OTHER, run__workload_kind=workload)
    yield "defaults.labels", _seen_in("job", name, None, {"example.org/team": "a"})
    yield "defaults.priority", _seen_in("job", name, "low", "high")
    yield "defaults.max_duration", _seen_in("job", name, "1h", "2h")
    yield "defaults.grace_period", _seen_in("job", name, "1m", "2m")


PROBES: dict[str, dict[str, Probe]] = {
    "Project": _PROJECT,
    "Platform": {**_PLATFORM, **dict(_defaults("Platform", "effects"))},
    "Cluster": _CLUSTER,
    "Flavor": _FLAVORS,
    "Topology": _TOPOLOGY,
    "Cohort": {"parent": Probe("pool", "all", None), **_quotas("pool")},
    "Queue": _QUEUE,
    "PriorityTier": {"value": Probe("low", 1, 3), "description": Probe("low", None, "for tests")},
    "Profile": {**_PROFILE, **dict(_bounds())},
    "Workspace": {**_WORKSPACE, **dict(_defaults("Workspace", "lab"))},
    "Storage": _STORAGE,
    "HealthPolicy": _HEALTH,
}
"""Kind -> field -> probe."""

REFUSED = {("Platform", "defaults.runtime.env_secret"): "default-secret"}
"""Fields that another kind shares and that are refused here, with the rule that says so."""
ASKED = {(kind, field): PROBES[kind].pop(field)._replace(one=None) for kind, field in REFUSED}
"""Their probes, against none at all."""

PUBLISH = "tests/publish/test_policy_fields.py"
ELSEWHERE: dict[str, dict[str, tuple[str, str]]] = {
    "Project": {
        "output.branch": ("publish commits to it; each cluster should track it", f"{PUBLISH}::test_output_branch"),
        "output.url": ("publish pushes there", f"{PUBLISH}::test_output_url"),
        "evidence.url": ("publish looks there for evidence before it makes a lost branch anew", f"{PUBLISH}::test_evidence_url"),
        "evidence.branch": ("publish looks there for evidence before it makes a lost branch anew", f"{PUBLISH}::test_evidence_branch"),
        "safety.cancel": ("publish: whether a run whose document vanished stays", f"{PUBLISH}::test_safety_cancel"),
    },
    "Cluster": {"role": ("none: it has one value so far", "tests/policy/test_documents.py::test_a_role_of_a_later_release")},
    "Workspace": {"on_edit": ("publish: what happens to the older run", f"{PUBLISH}::test_on_edit_of_a_workspace")},
}
"""Fields whose effect is not in what is compiled: what they do, and the test that shows it."""
