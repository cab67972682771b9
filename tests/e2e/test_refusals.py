"""What the compiler calls an error is one: the real API server, Kueue, KubeRay or Pod Security refuses the same object, or never runs it.

Each case is a patch over the objects of the tests' fleet. The compiler must name its rule, and the cluster must say the words.
"""

import copy
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import fleet, nodes, runs
from tests.e2e.fleet import ACME, Fleet
from tests.e2e.kube import Kube, Object, Refused, condition
from tests.validate.rules.objects import runs as patches
from tests.validate.rules.objects import test_platform_rules as platform

WITH = ("jobset", "kuberay", "kueue")
SHARES = "objects"
JOB = "kind: Job, name: 'downscale-.*'"
ALIGN = "kind: Job, name: 'align-.*'"
JOBSET = "kind: JobSet"
RAY = "kind: RayJob, name: 'dedup-.*'"
PODS = "kind: PodTemplate"
GROUP = "/spec/rayClusterSpec/workerGroupSpecs/0"
HEAD_ENV = "/spec/rayClusterSpec/headGroupSpec/template/spec/containers/0/env/-"
SLICE = "kueue.x-k8s.io/podset-slice"


def main(text: str) -> str:
    """A patch of the program's container."""
    return f"{{spec: {{template: {{spec: {{containers: [{{name: main, {text}}}]}}}}}}}}"


def annotated(key: str, value: str) -> str:
    """A patch that adds an annotation to a Job's pods."""
    return f"{{spec: {{template: {{metadata: {{annotations: {{{key}: {value}}}}}}}}}}}"


# (target, patch, rule of the compiler, words of the cluster)
REFUSED = [
    (JOB, annotated("kueue.x-k8s.io/podset-unconstrained-topology", "'true'"), "topology-annotation", "more than one topology annotation"),
    (JOB, annotated("kueue.x-k8s.io/podset-required-topology", "a b"), "topology-annotation", "name part must consist of"),
    (JOB, annotated(f"{SLICE}-size", "'1'"), "topology-annotation", "may not be set when"),
    (
        JOB,
        f"{{spec: {{template: {{metadata: {{annotations: {{{SLICE}-size: '3', {SLICE}-required-topology: tern.example/block}}}}}}}}}}",
        "topology-annotation",
        "must not be greater than pod set count 2",
    ),
    (JOB, "{spec: {template: {metadata: {labels: {a: speech team}}}}}", "label-form", "a valid label must be"),
    (JOB, "{spec: {manualSelector: true}}", "managed-field", "spec.selector: Required value"),
    (ALIGN, main("resources: {requests: {pods: '1'}}"), "container-resources", "must be a standard resource"),
    (ALIGN, main("resources: {requests: {memory: 9Ti}}"), "container-resources", "must be less than or equal to memory limit"),
    (ALIGN, main("resources: {requests: {cpu: '-1'}}"), "container-resources", "must be greater than or equal to 0"),
    (JOB, main("resources: {requests: {nvidia.com/gpu: '2'}}"), "container-resources", "must be equal to nvidia.com/gpu limit"),
    (JOB, main("volumeMounts: [{name: scratch, mountPath: /scratch}]"), "volume-mounts", "Not found"),
    (RAY, "{spec: {shutdownAfterJobFinishes: false}}", "ray-job", "should delete the cluster after finishing"),
    (RAY, "{spec: {clusterSelector: {a: b}}}", "managed-field", "should not use an existing cluster"),
    (RAY, "{spec: {deletionStrategy: {deletionRules: []}}}", "run-once", "should have at least 1 items"),
    (RAY, "{spec: {rayClusterSpec: {enableInTreeAutoscaling: true}}}", "ray-job", "only use autoscaling when"),
    (RAY, f"[{{op: replace, path: {GROUP}/groupName, value: head}}]", "ray-groups", "is reserved for the head group"),
    (
        RAY,
        "[{op: add, path: /spec/rayClusterSpec/headGroupSpec/template/metadata/annotations, "
        "value: {kueue.x-k8s.io/podset-unconstrained-topology: maybe}}]",
        "topology-annotation",
        "must be a boolean value",
    ),
]
# KubeRay judges when it reconciles: the object is accepted, its status says the words.
INVALID = [
    (RAY, "{spec: {rayClusterSpec: {headGroupSpec: {rayStartParams: {labels: a}}}}}", "ray-job", "labels"),
    (
        RAY,
        f"[{{op: add, path: {GROUP}/rayStartParams/num-gpus, value: '1'}}, {{op: add, path: {GROUP}/resources, value: {{GPU: '1'}}}}]",
        "ray-job",
        "resource",
    ),
    (RAY, f"[{{op: add, path: {HEAD_ENV}, value: {{name: RAY_REDIS_ADDRESS, value: r}}}}]", "ray-job", "RAY_REDIS_ADDRESS"),
    (RAY, "{spec: {runtimeEnvYAML: '{a: ['}}", "ray-runtime", "yaml"),
]
# Accepted, and then Kueue never admits it.
NEVER = [
    (
        ALIGN,
        main("resources: {requests: {example.com/fpga: '1'}, limits: {example.com/fpga: '1'}}"),
        "resource-covered",
        "example.com/fpga",
    ),
    (JOB, annotated("kueue.x-k8s.io/podset-required-topology", "null"), "topology-missing", "TopologyAwareScheduling"),
]
# Accepted and admitted, and then Pod Security lets no pod be made: baseline in one namespace, restricted in the other.
NO_PODS = [
    ("kind: Job, name: 'fold-report-.*'", "{spec: {template: {spec: {hostNetwork: true}}}}", "pod-security", "hostNetwork"),
    ("kind: Job, name: 'fold-report-.*'", main("securityContext: {runAsUser: 0}"), "pod-security", "runAsUser=0"),
    (
        "kind: Job, name: 'fold-report-.*'",
        main("securityContext: {capabilities: {drop: null}}"),
        "pod-security",
        "unrestricted capabilities",
    ),
    (
        "kind: Job, name: 'fold-report-.*'",
        "{spec: {template: {spec: {volumes: [{name: x, hostPath: {path: /}}]}}}}",
        "pod-security",
        "hostPath",
    ),
    (
        "kind: Job, name: 'fold-report-.*'",
        "{spec: {template: {spec: {serviceAccountName: other}}}}",
        "own-references",
        "error looking up service account",
    ),
]
PLATFORM = [
    ("queue_groups", "flavors must have the same number of resources"),
    ("queue_limits", "must be nil when cohort is empty"),
]
ids = [f"{rule}-{number}" for number, (_, _, rule, _) in enumerate(REFUSED)]


@pytest.fixture(scope="module", autouse=True)
def _mesa(kube: Kube, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The cluster that most of the patched runs go to."""
    nodes.create(kube, nodes.of_pools(fleet.pools(ACME / "policy", "mesa"), "mesa-"))
    objects = Fleet(tmp_path_factory.mktemp("acme") / "repo", ACME).render("mesa")
    for item in objects:
        if item["metadata"].get("namespace") != "flux-system" and item["kind"] not in {"Job", "JobSet", "RayJob"}:
            kube.apply(item)


@pytest.fixture
def applied(kube: Kube) -> Iterator[list[Object]]:
    """Objects that go when the test ends."""
    found: list[Object] = []
    yield found
    for item in found:
        kube.delete(runs.kind(item), item["metadata"]["name"], item["metadata"]["namespace"])
    for item in found:
        kube.until(runs.kind(item), item["metadata"]["name"], item["metadata"]["namespace"], lambda it: it is None, "deleted")


def broken(target: str, patch: str, rule: str) -> Object:
    """The one object that a patch changes, after the compiler has named its rule."""
    text = f"target: {{{target}}}\npatch: {patch}\n"
    assert rule in {found.rule for found in patches.findings(text)}
    whole = {(item.path, item.name): item.obj for item in patches.patched("")[1]}
    changed = [item.obj for item in patches.patched(text)[1] if whole.get((item.path, item.name)) != item.obj]
    assert len(changed) == 1, [item["metadata"]["name"] for item in changed]  # type: ignore[index, call-overload]
    return copy.deepcopy(changed[0])


@pytest.mark.parametrize(("target", "patch", "rule", "words"), REFUSED, ids=ids)
def test_the_cluster_refuses_what_the_compiler_refuses(kube: Kube, target: str, patch: str, rule: str, words: str):
    with pytest.raises(Refused) as refused:
        kube.apply(broken(target, patch, rule), dry=True)
    assert words in refused.value.message


def test_the_cluster_refuses_a_run_that_may_take_no_time(kube: Kube):
    """No overlay can break this rule; a policy document can."""
    text = (Path(patches.__file__).parent / "max_exec_label" / "breaks.yaml").read_text()
    assert "max-exec-label" in {found.rule for found in patches.findings(text)}
    label = "kueue.x-k8s.io/max-exec-time-seconds"
    job = next(item.obj for item in patches.patched(text)[1] if item.kind == "Job" and item.obj["metadata"]["labels"][label] == "0")
    with pytest.raises(Refused) as refused:
        kube.apply(copy.deepcopy(job), dry=True)
    assert "should be greater than 0" in refused.value.message


def test_the_same_objects_are_accepted_without_the_patch(kube: Kube):
    from tests.e2e import install

    for namespace in ("lab-speech", "lab-climate", "lab-protein"):
        install.ensure_namespace(kube, namespace)
    for item in patches.patched("")[1]:
        kube.apply(copy.deepcopy(item.obj), dry=True)


@pytest.mark.parametrize(("target", "patch", "rule", "words"), INVALID, ids=[words for *_, words in INVALID])
def test_kuberay_calls_invalid_what_the_compiler_refuses(kube: Kube, applied: list[Object], target: str, patch: str, rule: str, words: str):
    item = broken(target, patch, rule)
    item["metadata"]["labels"].pop(
        "kueue.x-k8s.io/queue-name"
    )  # KubeRay judges before Kueue comes in; without a queue nothing suspends the job
    applied.append(item)
    kube.apply(item)

    def told(found: Object | None) -> bool:
        return (found or {}).get("status", {}).get("jobDeploymentStatus") == "ValidationFailed"

    found = kube.until(runs.kind(item), item["metadata"]["name"], item["metadata"]["namespace"], told, "ValidationFailed")
    assert words.lower() in found["status"]["message"].lower()  # type: ignore[index]


@pytest.mark.parametrize(("target", "patch", "rule", "words"), NEVER, ids=[rule for _, _, rule, _ in NEVER])
def test_kueue_never_admits_what_the_compiler_refuses(kube: Kube, applied: list[Object], target: str, patch: str, rule: str, words: str):
    item = broken(target, patch, rule)
    applied.append(item)
    kube.apply(item)
    assert words in runs.waiting(kube, item)


@pytest.mark.parametrize(("target", "patch", "rule", "words"), NO_PODS, ids=[words for *_, words in NO_PODS])
def test_no_pod_is_made_of_what_the_compiler_refuses(kube: Kube, applied: list[Object], target: str, patch: str, rule: str, words: str):
    item = broken(target, patch, rule)
    applied.append(item)
    kube.apply(item)
    runs.admitted(kube, item)
    assert words in runs.complaint(kube, item, "FailedCreate")


@pytest.mark.parametrize(("name", "words"), PLATFORM, ids=[name for name, _ in PLATFORM])
def test_the_cluster_refuses_platform_objects_that_the_compiler_refuses(kube: Kube, name: str, words: str):
    text = (Path(platform.__file__).parent / name / "breaks.yaml").read_text()
    assert {found.rule for found in platform.findings(text)} == {name.replace("_", "-")}
    whole = {(item.path, item.name): item.obj for item in platform.rendered("")}
    said = []
    for item in platform.rendered(text):
        if whole.get((item.path, item.name)) != item.obj:
            with pytest.raises(Refused) as refused:
                kube.apply(copy.deepcopy(item.obj), dry=True)
            said.append(refused.value.message)
    assert said
    assert any(words in message for message in said), said


def test_a_topology_that_is_missing_makes_its_queue_inactive(kube: Kube):
    """What `unknown-name` says of a Flavor's topology."""
    spec = {"nodeLabels": {"e2e": "1"}, "topologyName": "nowhere"}
    kube.apply({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "lost"}, "spec": spec})
    quota = {"name": "cpu", "nominalQuota": "1"}
    groups = [{"coveredResources": ["cpu"], "flavors": [{"name": "lost", "resources": [quota]}]}]
    queue = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "lost"},
        "spec": {"resourceGroups": groups},
    }
    kube.apply(queue)
    kind = "kueue.x-k8s.io/v1beta2/ClusterQueue"
    found = kube.until(kind, "lost", "", lambda item: condition(item, "Active").get("status") == "False", "inactive")
    assert condition(found, "Active")["reason"] == "TopologyNotFound"
