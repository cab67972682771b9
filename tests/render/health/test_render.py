"""What is rendered for node health."""

import ast
import copy
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from taugen.policy.health_checks import ALL, checks, chosen, conditions, family
from taugen.policy.load import load_policy
from taugen.policy.set import Policy
from taugen.render import file
from taugen.render.health import health_objects, readiness, settings
from taugen.render.health.scripts.gpuhealth import config as configs
from taugen.render.health.scripts.gpuhealth import patches
from taugen.render.platform import render_platform
from taugen.validate.schemas import Validator
from tests.policykit import fixture_with

HEAD = "apiVersion: taugen.dev/v1alpha1\nkind: {}\nmetadata: {{name: {}}}\nspec:\n"
IMAGE = "registry.tern.example/base/python@sha256:" + "1" * 64
L40S = """  gpuClasses: [l40s-48gb]
  actions: [{condition: GpuXid, taint: {effect: NoSchedule}}]
  maxTainted: 1
"""
H200 = """  gpuClasses: [h200-141gb]
  actions:
    - {condition: GpuXid, taint: {effect: NoSchedule}, after: 0s}
    - {condition: IbLink, taint: {effect: PreferNoSchedule, key: taugen.dev/gpu-health-network}}
    - {condition: GpuHot, event: Normal}
  maxTainted: 25%
  runtimeClass: nvidia
"""
READINESS = HEAD.format("Platform", "tern") + (
    '  versions: {kubernetes: "1.36", kueue: "0.19", nodeReadinessController: "0.5"}\n  queueing: {fairSharing: {enable: true}}\n'
)
ALL_IMAGES = f"  images: {{runner: '{IMAGE}', nodeProblemDetector: '{IMAGE}', dcgmExporter: '{IMAGE}'}}\n"
ONE_IMAGE = f"  images: {{runner: '{IMAGE}'}}\n"


def policy(*documents: str) -> Policy:
    read, found = load_policy(fixture_with("---\n".join(documents)))
    assert read is not None
    assert found == []
    return read


def l40s(more: str = "", images: str = ONE_IMAGE) -> str:
    return HEAD.format("HealthPolicy", "l40s") + L40S + more + images


def h200(more: str = "", images: str = ALL_IMAGES) -> str:
    return HEAD.format("HealthPolicy", "h200") + H200 + more + images


def objects(*documents: str, cluster: str = "mesa") -> dict[tuple[str, str], Any]:
    return {(r.kind, r.name): r.obj for r in health_objects(policy(*documents), cluster)}


@pytest.fixture(scope="module")
def mesa() -> dict[tuple[str, str], Any]:
    return objects(l40s(), h200())


def daemonset(found: dict[tuple[str, str], Any], name: str = "gpu-health-h200-141gb") -> Any:
    return found["DaemonSet", name]["spec"]["template"]["spec"]


def document(found: dict[tuple[str, str], Any], start: str = "gpu-health-h200") -> Any:
    (data,) = (o["data"] for (kind, name), o in found.items() if kind == "ConfigMap" and name.startswith(start))
    return json.loads(data["checks.json"])


# ------------------------------------------------------------------------------------------------------------- objects


def test_nothing_without_a_policy_or_without_its_nodes() -> None:
    assert objects() == {}
    assert objects(l40s(), cluster="mesa") == {}
    assert ("DaemonSet", "gpu-health-l40s-48gb") in objects(l40s(), cluster="fjord")


def test_every_object_is_accepted_and_where_it_belongs(mesa: dict[tuple[str, str], Any]) -> None:
    for documents in ((l40s(), h200()), (l40s(), h200(), READINESS), (h200("  driverRoot: /run/nvidia/driver\n  running: drain\n"),)):
        read = policy(*documents)
        assert read.platform is not None
        validator = Validator({k: v for k, v in read.platform.spec.versions.model_dump().items() if v is not None})
        for item in render_platform(read):
            assert list(validator.faults(item.obj)) == [], item.path
            if "/health/" in item.path:
                assert re.fullmatch(r"(fjord|mesa)/platform/health/[a-z]+-[a-z0-9.-]+\.yaml", item.path)
                assert item.source.startswith("policy/healthpolicy-")
                assert item.obj["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/substitute"] == "disabled"
                assert file.text(item, "tern")


def test_kinds(mesa: dict[tuple[str, str], Any]) -> None:
    assert {name for kind, name in mesa if kind == "DaemonSet"} == {
        "gpu-health-h200-141gb",
        "node-problem-detector-h200-141gb",
        "dcgm-exporter-h200-141gb",
    }
    inside = {kind for (kind, _), o in mesa.items() if o["metadata"].get("namespace") == "taugen-health"}
    assert inside == {"ConfigMap", "DaemonSet", "ResourceQuota", "Role", "RoleBinding", "ServiceAccount"}
    assert {o["metadata"].get("namespace", "") for o in mesa.values()} == {"", "default", "taugen-health"}


def test_the_namespace_is_left_to_itself(mesa: dict[tuple[str, str], Any]) -> None:
    metadata = mesa["Namespace", "taugen-health"]["metadata"]
    assert metadata["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    assert metadata["labels"]["taugen.dev/kueue"] == "unmanaged"
    assert metadata["annotations"]["kustomize.toolkit.fluxcd.io/prune"] == "disabled"


def test_it_runs_on_a_full_node_whatever_its_taints(mesa: dict[tuple[str, str], Any]) -> None:
    for kind, name in mesa:
        if kind == "DaemonSet":
            pod = daemonset(mesa, name)
            assert pod["priorityClassName"] == "system-node-critical"
            assert pod["tolerations"] == [{"operator": "Exists"}]
            (container,) = pod["containers"]
            assert not any("gpu" in resource for resource in container["resources"]["requests"])
            assert set(container["resources"]["limits"]) == {"memory"}
            assert mesa[kind, name]["spec"]["updateStrategy"]["rollingUpdate"] == {"maxUnavailable": "10%", "maxSurge": 0}
            assert mesa[kind, name]["spec"]["minReadySeconds"] >= 10
            assert container["ports"][0]["name"] == "metrics"
            assert pod["automountServiceAccountToken"] is False


def test_it_runs_on_the_nodes_of_its_class_only(mesa: dict[tuple[str, str], Any]) -> None:
    terms = daemonset(mesa)["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    found = [{e["key"]: e["values"] for e in term["matchExpressions"]} for term in terms]
    assert found == [
        {"tern.example/block": ["a"], "tern.example/nodes": ["h200"]},
        {"tern.example/block": ["b"], "tern.example/nodes": ["h200"]},
    ]
    half = objects(h200("  nodes: {tern.example/block: b}\n"))
    assert len(daemonset(half)["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]) == 1
    assert [t["labels"]["tern.example/block"] for t in document(half)["targets"]] == ["b"]


def test_a_cluster_without_node_pools_is_known_by_its_flavors() -> None:
    cluster = HEAD.format("Cluster", "cove") + "  gitops: {engine: flux, url: 'https://git.tern.example/platform/fleet.git', path: cove}\n"
    flavor = HEAD.format("Flavor", "a10") + "  {gpuClass: a10-24gb, clusters: [cove], nodeLabels: {pool: a10}}\n"
    found = objects(cluster, flavor, l40s().replace("l40s-48gb", "a10-24gb"), cluster="cove")
    assert document(found, "gpu-health-a10")["targets"] == [{"gpus": 0, "labels": {"pool": "a10"}}]


# -------------------------------------------------------------------------------------------------------------- rights


def rights(found: dict[tuple[str, str], Any], account: str) -> set[tuple[str, str, str]]:
    """(where, resource, verb) of an account: where is a namespace, or empty for everywhere."""
    out = set()
    for (kind, _), binding in found.items():
        if kind in {"ClusterRoleBinding", "RoleBinding"} and binding["subjects"][0]["name"] == account:
            where = binding["metadata"].get("namespace", "")
            roles = [
                o for o in found.values() if o["kind"] == binding["roleRef"]["kind"] and o["metadata"]["name"] == binding["roleRef"]["name"]
            ]
            out |= {
                (where, resource, verb)
                for role in roles
                for rule in role["rules"]
                for resource in rule["resources"]
                for verb in rule["verbs"]
            }
    return out


def test_the_runner_may_do_this_and_nothing_else(mesa: dict[tuple[str, str], Any]) -> None:
    base = {("", "nodes", "get"), ("", "nodes/status", "patch"), ("default", "events", "create")}
    share = {("", "nodes", "list"), *(("taugen-health", "leases", verb) for verb in ("get", "create", "update"))}
    assert rights(mesa, "taugen-gpu-health") == {*base, *share, ("", "nodes", "patch")}
    assert rights(objects(h200(), READINESS), "taugen-gpu-health") == {*base, *share}
    without = objects(l40s().replace(", taint: {effect: NoSchedule}", ""), cluster="fjord")
    assert rights(without, "taugen-gpu-health") == base


def test_node_problem_detector_has_its_own_account_and_the_exporter_none(mesa: dict[tuple[str, str], Any]) -> None:
    found = rights(mesa, "taugen-node-problem-detector")
    assert found == {
        ("", "nodes", "get"),
        ("", "nodes/status", "patch"),
        *(("default", "events", v) for v in ("create", "patch", "update")),
    }
    exporter = daemonset(mesa, "dcgm-exporter-h200-141gb")
    assert "serviceAccountName" not in exporter
    assert not any("projected" in volume for volume in exporter["volumes"])


def test_each_account_that_writes_nodes_is_held_to_its_own(mesa: dict[tuple[str, str], Any]) -> None:
    for name in ("taugen-gpu-health", "taugen-node-problem-detector"):
        spec = mesa["ValidatingAdmissionPolicy", name]["spec"]
        assert spec["failurePolicy"] == "Fail"
        assert spec["matchConditions"][0]["expression"].endswith(f"'system:serviceaccount:taugen-health:{name}'")
        assert any("authentication.kubernetes.io/node-name" in v["expression"] for v in spec["validations"])
        assert mesa["ValidatingAdmissionPolicyBinding", name]["spec"] == {"policyName": name, "validationActions": ["Deny"]}


def test_root_only_for_the_kernel_s_log(mesa: dict[tuple[str, str], Any]) -> None:
    security = daemonset(mesa)["containers"][0]["securityContext"]
    assert security["capabilities"] == {"add": ["SYSLOG"], "drop": ["ALL"]}
    assert security["runAsUser"] == 0
    assert "privileged" not in security
    plain = objects(h200("  checks: [{name: temperature}]\n").replace("GpuXid", "GpuHot").replace(", event: Normal", ""))
    security = daemonset(plain)["containers"][0]["securityContext"]
    assert security["runAsNonRoot"] is True
    assert security["capabilities"] == {"drop": ["ALL"]}


def test_no_folder_of_the_host_unless_something_needs_it(mesa: dict[tuple[str, str], Any]) -> None:
    def hosts(found: dict[tuple[str, str], Any], name: str = "gpu-health-h200-141gb") -> list[str]:
        return [v["hostPath"]["path"] for v in daemonset(found, name)["volumes"] if "hostPath" in v]

    assert hosts(mesa) == []
    assert hosts(mesa, "node-problem-detector-h200-141gb") == ["/dev/kmsg"]
    assert hosts(mesa, "dcgm-exporter-h200-141gb") == ["/var/lib/kubelet/pod-resources"]
    rooted = objects(h200("  driverRoot: /run/nvidia/driver\n"))
    assert hosts(rooted) == ["/run/nvidia/driver"]
    assert daemonset(rooted)["containers"][0]["securityContext"]["privileged"] is True
    assert not any(pod.get(field) for pod in map(daemonset, (mesa, rooted)) for field in ("hostNetwork", "hostPID", "hostIPC"))


# ------------------------------------------------------------------------------------------------------------ settings


def test_names_carry_the_hash_of_what_they_name(mesa: dict[tuple[str, str], Any]) -> None:
    again, other = objects(l40s(), h200()), objects(l40s(), h200("  interval: 30s\n"))
    names = [{name for kind, name in found if kind == "ConfigMap"} for found in (mesa, again, other)]
    assert names[0] == names[1]
    assert len(names[0] & names[2]) == 1, "the program is the same, the settings are not"
    mounted = [s["configMap"]["name"] for s in daemonset(other)["volumes"][0]["projected"]["sources"]]
    assert set(mounted) == names[2]
    assert all(mesa["ConfigMap", name]["immutable"] for name in names[0])


def test_the_runner_reads_what_is_rendered(mesa: dict[tuple[str, str], Any]) -> None:
    read = configs.read(json.dumps(document(mesa)))
    assert read.gpu_class == "h200-141gb"
    assert read.share == "25%"
    assert configs.gpus(read, {"tern.example/nodes": "h200", "tern.example/block": "a", "x": "y"}) == 8
    assert {check.condition for check in read.checks} == set(read.rules)
    assert read.rules["GpuXid"].after == 0
    assert read.rules["GpuXid"].taint == configs.Taint("taugen.dev/gpu-health", "NoSchedule")
    assert read.rules["GpuNvlink"].taint is None
    scripts = set(settings.sources())
    assert {f"checks/{check.script}" for check in read.checks} <= scripts


def test_the_mounted_program_starts(mesa: dict[tuple[str, str], Any], tmp_path: Path) -> None:
    """Put into a folder by the DaemonSet's own volume, it imports and stops for what it lacks."""
    for source in daemonset(mesa)["volumes"][0]["projected"]["sources"]:
        data = mesa["ConfigMap", source["configMap"]["name"]]["data"]
        for item in source["configMap"]["items"]:
            target = tmp_path / item["path"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(data[item["key"]])
    command = daemonset(mesa)["containers"][0]["command"]
    done = subprocess.run(
        [sys.executable, *command[1:]], cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )
    assert "KeyError: 'KUBERNETES_SERVICE_HOST'" in done.stderr, done.stderr


def test_the_program_needs_the_standard_library_alone() -> None:
    known = set(sys.stdlib_module_names)
    for path, text in settings.sources().items():
        if path.endswith(".py"):
            for node in ast.walk(ast.parse(text)):
                names = (
                    [a.name for a in node.names]
                    if isinstance(node, ast.Import)
                    else [node.module or ""]
                    if isinstance(node, ast.ImportFrom) and not node.level
                    else []
                )
                assert {name.partition(".")[0] for name in names} <= known, path


def test_a_configmap_is_far_from_its_limit() -> None:
    assert sum(len(text.encode()) for text in settings.sources().values()) < 200_000


def test_readiness_rules_ask_for_the_runner_s_condition() -> None:
    found = objects(h200().replace("taugen.dev/gpu-health-network", "readiness.k8s.io/gpu-network"), READINESS)
    rules = [o["spec"] for (kind, _), o in found.items() if kind == "NodeReadinessRule"]
    assert len(rules) == 4, "two taints, two kinds of node"
    read = configs.read(json.dumps(document(found)))
    assert read.gates is True
    written = {patches.gate(read.prefix, rule.taint) for rule in read.rules.values() if rule.taint is not None}
    assert {rule["conditions"][0]["type"] for rule in rules} == written
    for rule in rules:
        assert rule["conditions"][0]["requiredStatus"] == rule["conditions"][0]["defaultStatus"] == "False"
        assert rule["taint"]["key"].startswith("readiness.k8s.io/")
        assert rule["enforcementMode"] == "continuous"
    names = {name for kind, name in found if kind == "NodeReadinessRule"}
    other = objects(
        h200().replace("PreferNoSchedule, key: taugen.dev/gpu-health-network", "NoSchedule, key: readiness.k8s.io/gpu-network"), READINESS
    )
    assert len(names & {name for kind, name in other if kind == "NodeReadinessRule"}) == 2
    assert readiness.API_VERSION.startswith("readiness.node.x-k8s.io/")


# ------------------------------------------------------------------------------------------------------ the reconcilers


def test_the_platform_s_project_permits_what_is_rendered_also_when_it_leaves() -> None:
    """What a project ceases to permit Argo CD never prunes."""
    project = "fjord/gitops/appproject-platform.yaml"
    with_, without = ({r.path: r.obj for r in render_platform(policy(*documents))} for documents in ((l40s("", ALL_IMAGES),), ()))
    spec: Any = with_[project]["spec"]
    cluster = {(e["group"], e["kind"]) for e in spec["clusterResourceWhitelist"]}
    inside = {(e["group"], e["kind"]) for e in spec["namespaceResourceWhitelist"]}
    spaces = {d["namespace"] for d in spec["destinations"]}
    for path, obj in with_.items():
        if path.startswith("fjord/platform/"):
            metadata: Any = obj["metadata"]
            group = str(obj["apiVersion"]).rpartition("/")[0]
            assert (group, obj["kind"]) in (inside if "namespace" in metadata else cluster), path
            assert metadata.get("namespace", "default") in spaces
    assert without[project]["spec"] == spec


def test_a_node_that_is_away_holds_up_no_sync() -> None:
    found = {r.path: r.obj for r in render_platform(policy(h200()))}
    spec: Any = found["mesa/gitops/kustomization-taugen-mesa-platform.yaml"]["spec"]
    assert {"apiVersion": "apps/v1", "kind": "DaemonSet", "current": "has(metadata.name)"} in spec["healthCheckExprs"]
    waves = {o["kind"]: int(o["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"]) for o in objects(h200()).values()}
    assert waves["DaemonSet"] == max(waves.values())
    assert waves["Namespace"] == min(waves.values())


def test_the_same_whatever_the_order(mesa: dict[tuple[str, str], Any]) -> None:
    assert list(mesa.items()) == list(objects(h200(), l40s()).items())
    assert mesa == copy.deepcopy(mesa)


# ---------------------------------------------------------------------------------------------------------- the checks


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("h100-80gb", "h100"),
        ("NVIDIA-H200", "h200"),
        ("a10", "a10"),
        ("a100_sxm4", "a100"),
        ("gb200-nvl72", "gb200"),
        ("l40s-48gb", "other"),
        ("a1000", "other"),
    ],
)
def test_families(name: str, expected: str) -> None:
    assert family(name) == expected


def test_defaults_of_each_family() -> None:
    spec = next(iter(policy(l40s()).health.values())).spec
    usual = {f: {one.check.name for one in chosen(spec, f, rdma=False)} for f in ALL}
    assert "nvlink" not in usual["a10"]
    assert "fabric" not in usual["a100"]
    assert {"nvlink", "fabric", "xid", "driver", "missing", "ecc-uncorrectable", "pcie-width", "temperature"} <= usual["gb200"]
    assert not any("ib-link" in names or "dcgm" in names for names in usual.values())
    assert "ib-link" in {one.check.name for one in chosen(spec, "h100", rdma=True)}
    limits = {f: next(one.threshold for one in chosen(spec, f, rdma=False) if one.check.name == "temperature") for f in ALL}
    assert limits == {"a10": 90, "a100": 85, "h100": 87, "h200": 87, "gb200": 87, "other": 90}


def test_the_table_is_consistent() -> None:
    for check in checks().values():
        low, high = check.limits
        assert all(low <= check.default(f) <= high for f in ALL)
        assert bool(check.window) == (check.measure != "level")
        if check.window:
            assert check.windows[0] <= check.window <= check.windows[1]
        for text in (check.reads, check.why, check.then):
            assert text.endswith(".")
    assert len(conditions()) == len(checks())
