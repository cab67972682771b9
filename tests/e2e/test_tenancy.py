"""Tenancy as rendered: what people of one workspace may do there and elsewhere, what a reconciler's account may do, which pods network
policies select.
"""

import pytest

from tests.e2e import fleet, lab, runs
from tests.e2e.fleet import LAB, Fleet
from tests.e2e.kube import Kube, Object, Refused
from tests.e2e.lab import Lab
from tests.e2e.plane import Plane

WITH = ("jobset", "kuberay", "kueue")
SHARES = "lab"
OWNER = ("lena@lab.example", ("red-leads", "system:authenticated"))
VIEWER = ("ruth@lab.example", ("system:authenticated",))
READ = ("get", "list", "watch")
CHANGE = ("create", "update", "patch", "delete", "deletecollection")
# Every namespaced thing that a workspace has.
KINDS = {
    "": ("pods", "pods/log", "pods/exec", "configmaps", "secrets", "services", "persistentvolumeclaims", "serviceaccounts", "events"),
    "batch": ("jobs",),
    "jobset.x-k8s.io": ("jobsets",),
    "ray.io": ("rayjobs", "rayclusters"),
    "kueue.x-k8s.io": ("localqueues", "workloads"),
    "rbac.authorization.k8s.io": ("roles", "rolebindings"),
    "networking.k8s.io": ("networkpolicies",),
}


@pytest.fixture(scope="module")
def labs(kube: Kube, tmp_path_factory: pytest.TempPathFactory) -> Lab:
    return Lab(tmp_path_factory.mktemp("tenancy") / "repo", kube)


def may(kube: Kube, user: tuple[str, tuple[str, ...]], verb: str, group: str, resource: str, namespace: str) -> bool:
    """What the API server's authorizer says."""
    name, _, sub = resource.partition("/")
    attributes = {"verb": verb, "group": group, "resource": name, "subresource": sub, "namespace": namespace}
    spec = {"user": user[0], "groups": list(user[1]), "resourceAttributes": attributes}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    return bool(kube.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"])


@pytest.mark.parametrize("user", [OWNER, VIEWER], ids=["owner", "viewer"])
def test_people_of_one_workspace_can_do_nothing_in_another(labs: Lab, kube: Kube, user: tuple[str, tuple[str, ...]]):
    for namespace in ("lab-blue", "kueue-system", "default"):
        allowed = [
            (verb, kind)
            for group, kinds in KINDS.items()
            for kind in kinds
            for verb in (*READ, *CHANGE)
            if may(kube, user, verb, group, kind, namespace)
        ]
        assert not allowed, namespace


@pytest.mark.parametrize("user", [OWNER, VIEWER], ids=["owner", "viewer"])
def test_people_read_their_own_and_change_nothing(labs: Lab, kube: Kube, user: tuple[str, tuple[str, ...]]):
    """Git is the way to change anything, so that all of it is reviewed."""
    mine = "lab-red"
    for group, kind in (
        ("", "pods"),
        ("", "pods/log"),
        ("batch", "jobs"),
        ("ray.io", "rayjobs"),
        ("jobset.x-k8s.io", "jobsets"),
        ("kueue.x-k8s.io", "workloads"),
    ):
        assert may(kube, user, "get", group, kind, mine), kind
    changes = {
        (verb, kind) for group, kinds in KINDS.items() for kind in kinds for verb in CHANGE if may(kube, user, verb, group, kind, mine)
    }
    assert changes == ({("create", "pods/exec")} if user is OWNER else set())
    assert not [verb for verb in READ if may(kube, user, verb, "", "secrets", mine)]


def test_a_real_client_is_refused(labs: Lab, kube: Kube, plane: Plane):
    item = labs.submit("private", "cpu", workspace="blue", seconds=600)
    runs.admitted(kube, item)
    with plane.kube("ruth", *VIEWER[:1], VIEWER[1]) as ruth:
        ruth.list("batch/v1/Job", "lab-red")
        for action in (lambda: ruth.list("batch/v1/Job", "lab-blue"), lambda: runs.live(ruth, item), lambda: ruth.list("batch/v1/Job")):
            with pytest.raises(Refused) as refused:
                action()
            assert refused.value.code == 403
        with pytest.raises(Refused) as refused:
            ruth.delete("batch/v1/Job", item["metadata"]["name"], "lab-blue")
        assert refused.value.code == 403
        with pytest.raises(Refused) as refused:
            ruth.create({**item, "metadata": {**item["metadata"], "name": "mine", "namespace": "lab-red"}})
        assert refused.value.code == 403
    labs.clear()


def test_the_account_that_applies_runs_may_do_so_in_its_namespace_only(labs: Lab, kube: Kube):
    account = ("system:serviceaccount:flux-system:taugen-runs-red", ("system:serviceaccounts", "system:authenticated"))
    needed = {("", "configmaps"), ("", "services"), ("batch", "jobs"), ("jobset.x-k8s.io", "jobsets"), ("ray.io", "rayjobs")}
    for group, kinds in KINDS.items():
        for kind in kinds:
            for verb in CHANGE[:-1]:
                assert may(kube, account, verb, group, kind, "lab-red") == ((group, kind) in needed), (verb, kind)
                assert not may(kube, account, verb, group, kind, "lab-blue"), (verb, kind)


def test_a_run_in_another_workspaces_queue_is_not_admitted(labs: Lab, kube: Kube):
    """LocalQueues are namespaced: a name that only another workspace has leads nowhere."""
    item = labs.submit("stray", "cpu", workspace="red")
    stray = {**item, "metadata": {**item["metadata"], "name": "stray-elsewhere", "namespace": "default"}}
    kube.apply(stray)
    labs.applied.append(stray)
    assert "doesn't exist" in runs.waiting(kube, stray)
    labs.clear()


def test_network_policies_select_what_they_claim_to(labs: Lab, kube: Kube):
    item = labs.submit("net", "t4", kind="rayjob")
    pods = runs.running(kube, item, 3)
    policies = {policy["metadata"]["name"]: policy["spec"] for policy in kube.list("networking.k8s.io/v1/NetworkPolicy", "lab-red")}
    heads = [pod for pod in pods if selects(policies["taugen-ray-operator"]["podSelector"], pod["metadata"]["labels"])]
    assert [pod["metadata"]["labels"]["ray.io/node-type"] for pod in heads] == ["head"]
    for name in ("taugen-default-deny", "taugen-same-workspace"):
        assert all(selects(policies[name]["podSelector"], pod["metadata"]["labels"]) for pod in pods), name
    (source,) = policies["taugen-ray-operator"]["ingress"][0]["from"]
    system = {
        space["metadata"]["name"]
        for space in kube.list("v1/Namespace")
        if selects(source["namespaceSelector"], space["metadata"].get("labels", {}))
    }
    assert {"ray-system", "kueue-system"} <= system
    assert not {"lab-red", "lab-blue"} & system
    ports = {port["containerPort"] for pod in heads for container in pod["spec"]["containers"] for port in container.get("ports", ())}
    assert {entry["port"] for entry in policies["taugen-ray-operator"]["ingress"][0]["ports"]} <= ports
    labs.clear()


def selects(selector: Object, labels: dict[str, str]) -> bool:
    """Kubernetes' label selector, as far as rendered policies use it."""
    equal = all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())
    return equal and all(_holds(term, labels) for term in selector.get("matchExpressions", ()))


def _holds(term: Object, labels: dict[str, str]) -> bool:
    there = term["key"] in labels
    wants = {"Exists": there, "DoesNotExist": not there, "In": labels.get(term["key"]) in term.get("values", ())}
    return bool(wants[term["operator"]])


def test_the_rendered_roles_are_the_same_for_both_reconcilers(tmp_path):
    made = Fleet(tmp_path / "repo", LAB)
    roles = [
        {
            item["metadata"]["name"]: item
            for item in fleet.of_kinds(made.render(cluster), "Role")
            if item["metadata"]["namespace"] == "lab-red"
        }
        for cluster in (lab.FLUX, lab.ARGO)
    ]
    assert roles[1].items() <= roles[0].items()
