"""The collector's objects: what it may do, what it is told, and that a cluster without one has none."""

import json

from taugen.policy.load import load_policy
from taugen.render.platform import render_cluster
from tests.policykit import FIXTURE, fixture_with, split

IMAGE = "registry.tern.example/base/taugen@sha256:" + "1" * 64
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDIhz2GK/XCUj4i6Q5yQJNL1MKMY0RxzPV2QrBqfHrDq"
COLLECTOR = f"""  collector:
    image: {IMAGE}
    keys: [{KEY}]
    logs: {{every: 10m, store: 's3://logs'}}
    storages: {{checkpoints: shared-checkpoints}}
  metrics:
    prometheus: http://prometheus.monitoring:9090
    queries: {{gpu: avg(x)}}
  gitops:
"""


def rendered(cluster, *, collects=True):
    document = next(d for d in split((FIXTURE / "policy" / "clusters.yaml").read_text()) if f"name: {cluster}\n" in d)
    policy, _ = load_policy(fixture_with(document.replace("  gitops:\n", COLLECTOR, 1) if collects else document))
    return policy, render_cluster(policy, cluster)


def only(objects, kind):
    return next(r.obj for r in objects if r.kind == kind and "/platform/collector/" in r.path)


def test_no_collector_no_objects():
    _, objects = rendered("mesa", collects=False)
    assert not [r.path for r in objects if "collector" in r.path]


def test_it_can_read_and_nothing_else():
    policy, objects = rendered("mesa")
    granted = [r.obj for r in objects if r.kind in {"Role", "ClusterRole"} and r.name == "taugen-collector"]
    verbs = {verb for role in granted for rule in role["rules"] for verb in rule["verbs"]}
    resources = {resource for role in granted for rule in role["rules"] for resource in rule["resources"]}
    assert verbs == {"get", "list", "watch"}
    assert not resources & {"secrets", "configmaps", "*"}
    spaces = {policy.workspaces[w].spec.namespace for w in policy.workspaces if "mesa" in policy.clusters_of(w)}
    assert {role["metadata"]["namespace"] for role in granted if role["kind"] == "Role"} == spaces
    for binding in (r.obj for r in objects if r.kind.endswith("Binding") and r.name == "taugen-collector"):
        assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "taugen-collector", "namespace": "taugen-collector"}]


def test_what_it_is_told():
    policy, objects = rendered("mesa")
    config = only(objects, "ConfigMap")
    told = json.loads(config["data"]["collector.json"])
    assert told["evidence"] == {"url": "https://git.tern.example/platform/fleet.git", "branch": "evidence"}
    assert told["logs"] == {"every": 600, "store": "s3://logs"}
    assert told["namespaces"] == {policy.workspaces[w].spec.namespace: w for w in policy.workspaces if "mesa" in policy.clusters_of(w)}
    assert told["signingKey"] == "/etc/taugen-key/signing"
    shared = [w for w in policy.storages["checkpoints"].spec.workspaces if "mesa" in policy.clusters_of(w)]
    assert shared
    assert told["mounts"] == {f"{policy.workspaces[w].spec.namespace}/checkpoints": "/storage/checkpoints" for w in shared}
    pod = only(objects, "Deployment")["spec"]["template"]["spec"]
    assert {"name": "config", "configMap": {"name": config["metadata"]["name"], "defaultMode": 0o444}} in pod["volumes"]
    assert "--cluster mesa --config /etc/taugen/collector.json" in " ".join(pod["containers"][0]["args"])


def test_another_setting_makes_another_pod():
    _, one = rendered("mesa")
    _, two = rendered("fjord")
    assert only(one, "ConfigMap")["metadata"]["name"] != only(two, "ConfigMap")["metadata"]["name"]


def test_argo_cd_lets_it_in():
    _, objects = rendered("fjord")
    project = next(r.obj for r in objects if r.kind == "AppProject" and "/gitops/" in r.path and r.name == "platform")
    spaces = {d["namespace"] for d in project["spec"]["destinations"]}
    allowed = {(k["group"], k["kind"]) for key in ("clusterResourceWhitelist", "namespaceResourceWhitelist") for k in project["spec"][key]}
    mine = [r.obj for r in objects if "/platform/collector/" in r.path]
    for obj in mine:
        group = obj["apiVersion"].rpartition("/")[0]
        assert (group, obj["kind"]) in allowed
        assert obj["metadata"].get("namespace", "default") in spaces


def test_the_pod_keeps_the_restricted_standard():
    _, objects = rendered("mesa")
    pod = only(objects, "Deployment")["spec"]["template"]["spec"]
    container = pod["containers"][0]["securityContext"]
    assert (pod["securityContext"]["runAsNonRoot"], container["allowPrivilegeEscalation"]) == (True, False)
    assert container["capabilities"] == {"drop": ["ALL"]}
    assert only(objects, "Namespace")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
