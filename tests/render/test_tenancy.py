"""Namespaces, access, network, quota, claims."""

import pytest

from taugen.render.platform import render_platform
from tests.render.test_platform import by_path, policy_with

WORKSPACE = (
    "apiVersion: taugen.dev/v1alpha1\nkind: Workspace\nmetadata: {name: speech}\nspec:\n  namespace: lab-speech\n  clusters: [fjord]\n"
)
QUEUES = "  queues: [{name: gpu, queue: research}]\n"


@pytest.fixture(scope="module")
def paths():
    return by_path(render_platform(policy_with()))


def speech(more="", cluster="fjord"):
    """The objects of workspace speech by file name, with other fields than the fixture's."""
    start = f"{cluster}/workspaces/speech/"
    return {
        p.removeprefix(start): o for p, o in by_path(render_platform(policy_with(WORKSPACE + QUEUES + more))).items() if p.startswith(start)
    }


def test_namespace(paths):
    labels = paths["mesa/workspaces/protein/namespace-lab-protein.yaml"]["metadata"]["labels"]
    assert {k.rpartition("/")[2]: v for k, v in labels.items() if k.startswith("pod-security")} == dict.fromkeys(
        ("enforce", "audit", "warn"), "restricted"
    )
    assert labels["taugen.dev/workspace"] == "protein"


def test_service_account(paths):
    account = paths["fjord/workspaces/speech/serviceaccount-speech-runs.yaml"]
    assert account["metadata"]["annotations"]["eks.amazonaws.com/role-arn"] == "arn:aws:iam::000000000000:role/speech-runs"
    assert account["automountServiceAccountToken"] is False
    assert (
        speech("  identity: {serviceAccount: runner, token: true}\n")["serviceaccount-runner.yaml"]["automountServiceAccountToken"] is True
    )
    assert not any(name.startswith("serviceaccount") for name in speech())


def verbs(role, resource):
    return {
        (verb, tuple(rule.get("resourceNames", ()))) for rule in role["rules"] if resource in rule["resources"] for verb in rule["verbs"]
    }


def test_nobody_starts_or_ends_a_run_around_git(paths):
    writing = {"create", "update", "patch", "delete", "deletecollection", "*"}
    for path, role in paths.items():
        if "/role-taugen-viewer" in path or "/role-taugen-owner" in path:
            for rule in role["rules"]:
                assert "*" not in (*rule["resources"], *rule["apiGroups"], *rule["verbs"])
                if writing & set(rule["verbs"]):
                    assert set(rule["resources"]) <= {"pods/exec", "pods/portforward", "secrets"}


def test_viewers_see_no_secrets_and_owners_only_those_of_policy(paths):
    folder = "fjord/workspaces/speech/role-taugen-"
    viewer, owner = paths[folder + "viewer.yaml"], paths[folder + "owner.yaml"]
    assert verbs(viewer, "secrets") == set()
    assert verbs(owner, "secrets") == {("create", ())} | {(verb, ("tracker",)) for verb in ("get", "update", "patch", "delete")}
    assert verbs(viewer, "rayjobs") == verbs(owner, "rayjobs") == {("get", ()), ("list", ()), ("watch", ())}
    assert verbs(viewer, "pods/log") == {("get", ()), ("list", ()), ("watch", ())}
    assert verbs(viewer, "pods/exec") == set()
    assert verbs(paths["mesa/workspaces/protein/role-taugen-owner.yaml"], "secrets") == set()


def test_bindings(paths):
    owner = paths["fjord/workspaces/speech/rolebinding-taugen-owner.yaml"]
    assert owner["subjects"] == [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "speech-leads"}]
    assert owner["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "taugen-owner"}
    assert "mesa/workspaces/protein/rolebinding-taugen-viewer.yaml" not in paths
    both = speech("  viewers: {users: [b, a, b], groups: [g]}\n")["rolebinding-taugen-viewer.yaml"]
    assert [(s["kind"], s["name"]) for s in both["subjects"]] == [("Group", "g"), ("User", "a"), ("User", "b")]


def test_the_account_that_applies_runs_is_held_to_the_run_kinds(paths):
    role = paths["mesa/workspaces/climate/role-taugen-runs.yaml"]
    kinds = {(group, resource) for rule in role["rules"] for group in rule["apiGroups"] for resource in rule["resources"]}
    assert kinds == {("", "configmaps"), ("", "services"), ("batch", "jobs"), ("jobset.x-k8s.io", "jobsets"), ("ray.io", "rayjobs")}
    binding = paths["mesa/workspaces/climate/rolebinding-taugen-runs.yaml"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "taugen-runs-climate", "namespace": "flux-system"}]
    assert "fjord/workspaces/speech/role-taugen-runs.yaml" not in paths, "Argo CD's projects do this"


def test_quota_never_limits_what_kueue_counts(paths):
    hard = paths["mesa/workspaces/climate/resourcequota-taugen.yaml"]["spec"]["hard"]
    counted = ("cpu", "memory", "requests.", "limits.", "pods", "count/jobs", "jobs", "ephemeral-storage")
    assert not [key for key in hard if key.startswith(counted)]
    assert hard["services.loadbalancers"] == hard["services.nodeports"] == "0"
    assert hard["configmaps"] == "10k", "canonical, or Argo CD would see a difference for ever"


def test_limit_range_only_fills_in(paths):
    limits = paths["mesa/workspaces/climate/limitrange-taugen.yaml"]["spec"]["limits"]
    assert limits == [{"type": "Container", "defaultRequest": {"cpu": "100m", "memory": "128Mi"}}]


# --------------------------------------------------------------------------------------------------------------------- network


def test_open_egress(paths):
    folder = "mesa/workspaces/climate/networkpolicy-taugen-"
    assert paths[folder + "default-deny.yaml"]["spec"] == {"podSelector": {}, "policyTypes": ["Ingress"]}
    assert paths[folder + "same-workspace.yaml"]["spec"] == {
        "podSelector": {},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"podSelector": {}}]}],
    }
    assert folder + "egress.yaml" not in paths


def test_closed_egress(paths):
    folder = "fjord/workspaces/speech/networkpolicy-taugen-"
    assert paths[folder + "default-deny.yaml"]["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert paths[folder + "same-workspace.yaml"]["spec"]["egress"] == [{"to": [{"podSelector": {}}]}]
    dns = {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}
    rule = {"to": [{"ipBlock": {"cidr": "10.40.0.0/16"}}], "ports": [{"protocol": "TCP", "port": 443}]}
    assert paths[folder + "egress.yaml"]["spec"]["egress"] == [dns, rule]
    nothing = speech("  network: {egress: []}\n")["networkpolicy-taugen-egress.yaml"]["spec"]["egress"]
    assert nothing == [dns], "an empty list is closed, not open"
    every_port = speech("  network: {egress: [{to: 10.0.0.0/8}]}\n")["networkpolicy-taugen-egress.yaml"]["spec"]["egress"]
    assert every_port[1] == {"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}


def test_the_ray_operator_reaches_heads_and_tenants_can_not_pose_as_it(paths):
    spec = paths["mesa/workspaces/climate/networkpolicy-taugen-ray-operator.yaml"]["spec"]
    assert spec["podSelector"] == {"matchLabels": {"ray.io/node-type": "head"}}
    (rule,) = spec["ingress"]
    (peer,) = rule["from"]
    assert peer["namespaceSelector"] == {"matchExpressions": [{"key": "taugen.dev/workspace", "operator": "DoesNotExist"}]}
    assert peer["podSelector"] == {"matchLabels": {"app.kubernetes.io/name": "kuberay-operator"}}
    assert rule["ports"] == [{"protocol": "TCP", "port": 8265}]


# --------------------------------------------------------------------------------------------------------------------- storage


def test_claims(paths):
    claims = sorted(path for path in paths if "persistentvolumeclaim" in path)
    assert claims == [
        f"{cluster}/workspaces/{workspace}/persistentvolumeclaim-checkpoints.yaml"
        for cluster, workspace in (("fjord", "protein"), ("mesa", "climate"), ("mesa", "protein"))
    ], "existing ones are not made"
    claim = paths[claims[1]]
    assert claim["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "shared-nvme",
        "resources": {"requests": {"storage": "10Ti"}},
        "volumeMode": "Filesystem",
    }
    assert claim["metadata"]["annotations"]["argocd.argoproj.io/ignore-healthcheck"] == "true"
