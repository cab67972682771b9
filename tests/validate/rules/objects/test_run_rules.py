"""Rules on a run's objects: the overlay that breaks each, the one edit that mends it, the limits that Kubernetes and its operators have."""

import importlib
import textwrap
from pathlib import Path
from typing import Any

import pytest

from taugen.diag import Span
from taugen.render.types import Rendered
from taugen.validate.rules import objects as stage
from taugen.validate.rules.objects import _pods, object_size
from tests.validate.rules.objects.runs import compiled, findings, patched

HERE = Path(__file__).parent
RUNS = (
    "configmap_items", "container_resources", "gang_names", "jobset_notation", "label_form", "managed_field", "max_exec_label",
    "own_references", "pod_priority", "pod_security", "podset_count", "ray_groups", "ray_job",
    "ray_runtime", "ray_submitter", "reconciler_annotations",
    "resource_covered", "retry_inside", "run_once", "topology_annotation", "topology_missing", "volume_mounts",
)  # fmt: skip


def test_the_runs_are_clean() -> None:
    assert findings("") == []
    assert {item.kind for item in compiled()[1]} == {"ConfigMap", "Job", "JobSet", "RayJob", "Service"}


def test_registered() -> None:
    registered = [m.__name__.rpartition(".")[2] for m in stage.RULES]
    assert registered == sorted(registered)
    assert set(RUNS) | {"object_size"} <= set(registered)


@pytest.mark.parametrize("name", RUNS)
def test_breaks_and_mends(name: str) -> None:
    rule = importlib.import_module(f"{stage.__name__}.{name}")
    assert name.replace("_", "-") == rule.ID
    found = findings((HERE / name / "breaks.yaml").read_text())
    assert {d.rule for d in found} == {rule.ID}, found
    for d in found:
        assert not d.message.endswith(".")
        assert d.hint
        assert d.path
        assert d.span.file.startswith("workspaces/")
    assert findings((HERE / name / "mends.yaml").read_text()) == []


@pytest.mark.parametrize("name", RUNS)
def test_its_documentation_shows_both(name: str) -> None:
    text = importlib.import_module(f"{stage.__name__}.{name}").__doc__ or ""
    title, _, rest = text.partition("\n\n")
    assert title.endswith(".")
    assert "\nSource: " in rest
    for which, word in (("breaks", "Breaks:\n\n"), ("mends", "Mends:\n\n")):
        shown = textwrap.dedent(rest.partition(word)[2].partition("\n\n")[0])
        assert shown == (HERE / name / f"{which}.yaml").read_text().rstrip("\n")


JOB = "kind: Job, name: 'downscale-.*'"
CODE = "kind: ConfigMap"
JOBSET = "kind: JobSet"
RAY = "kind: RayJob, name: 'whisper-.*'"
PODS = "kind: PodTemplate"
PROTEIN = "kind: PodTemplate, labelSelector: taugen.dev/workspace=protein"
TEMPLATE = "/spec/rayClusterSpec/workerGroupSpecs/0/template"
MOUNTS = "/spec/template/spec/containers/0/volumeMounts"
GROUP = "/spec/rayClusterSpec/workerGroupSpecs/0"


def container(text: str) -> str:
    return f"{{spec: {{containers: [{{name: main, {text}}}]}}}}"


@pytest.mark.parametrize(
    ("target", "body", "rule", "words"),
    [
        (JOB, "{spec: {manualSelector: true}}", "managed-field", "manualSelector is set by"),
        (JOB, "{spec: {managedBy: lab.example/other}}", "managed-field", "lab.example/other, which keeps"),
        (JOB, "{spec: {managedBy: kueue.x-k8s.io/multikueue}}", "managed-field", "multikueue, which keeps"),
        (RAY, "{spec: {rayClusterSpec: {managedBy: kueue.x-k8s.io/multikueue}}}", "managed-field", "controller of the RayJob"),
        (
            JOBSET,
            "[{op: add, path: /spec/replicatedJobs/0/template/spec/suspend, value: false}]",
            "managed-field",
            "suspend inside is set by the controller of the JobSet",
        ),
        (JOB, "{status: {active: 1}}", "managed-field", "status is"),
        (JOB, "{metadata: {annotations: {kueue.x-k8s.io/workload: w}}}", "managed-field", "written by Kueue alone"),
        (PODS, "{spec: {nodeSelector: {a: b}}}", "managed-field", "nodeSelector of a pod template"),
        (PODS, "{spec: {schedulingGates: [{name: g}]}}", "managed-field", "schedulingGates of"),
        (RAY, "{spec: {clusterSelector: {a: b}}}", "managed-field", "clusterSelector is set"),
        (RAY, "{spec: {ttlSecondsAfterFinished: 15}}", "run-once", "would run again"),
        (RAY, "{spec: {deletionStrategy: {deletionRules: []}}}", "run-once", "deletionStrategy removes"),
        (
            JOBSET,
            "[{op: add, path: /spec/replicatedJobs/0/template/spec/ttlSecondsAfterFinished, value: 1}]",
            "run-once",
            "JobSet makes again",
        ),
        (JOB, "{spec: {backoffLimit: 6}}", "retry-inside", "backoffLimit is 6, not 0"),
        (JOB, "{spec: {backoffLimit: null}}", "retry-inside", "backoffLimit is None"),
        (JOB, "{spec: {podFailurePolicy: {rules: []}}}", "retry-inside", "podFailurePolicy decides"),
        (JOBSET, "{spec: {failurePolicy: {maxRestarts: 2}}}", "retry-inside", "maxRestarts is 2"),
        (PODS, "{spec: {restartPolicy: OnFailure}}", "retry-inside", "restartPolicy is OnFailure"),
        (JOB, "{metadata: {annotations: {kustomize.toolkit.fluxcd.io/ssa: null}}}", "reconciler-annotations", "ssa is None"),
        (JOB, "{metadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}}}", "reconciler-annotations", "orphan"),
        (CODE, "{metadata: {annotations: {kustomize.toolkit.fluxcd.io/substitute: null}}}", "reconciler-annotations", "substitute is None"),
        (
            JOB,
            "{metadata: {annotations: {argocd.argoproj.io/sync-options: 'Replace=true, Force=true'}}}",
            "reconciler-annotations",
            "replace=true",
        ),
        (JOB, "{metadata: {annotations: {argocd.argoproj.io/sync-options: SkipDryRunOnMissingResource=true}}}", "", ""),
        (PODS, "{spec: {priority: 5}}", "pod-priority", "priority would preempt"),
        (
            JOB,
            "[{op: add, path: /spec/template/metadata/annotations/kueue.x-k8s.io~1podset-required-topology, value: 'a b'}]",
            "topology-annotation",
            "no node label",
        ),
        (PODS, "{metadata: {annotations: {kueue.x-k8s.io/podset-slice-size: '1'}}}", "topology-annotation", "or neither"),
        (
            JOB,
            "{spec: {template: {metadata: {annotations: {kueue.x-k8s.io/podset-slice-size: '3', "
            "kueue.x-k8s.io/podset-slice-required-topology: tern.example/block}}}}}",
            "topology-annotation",
            "3 is not a number of pods from 1 to 2",
        ),
        (
            RAY,
            "[{op: add, path: /spec/rayClusterSpec/headGroupSpec/template/metadata/annotations, "
            "value: {kueue.x-k8s.io/podset-unconstrained-topology: maybe}}]",
            "topology-annotation",
            "the head would be kept off",
        ),
        (PODS, container("resources: {requests: {pods: '1'}}"), "container-resources", "pods is no resource"),
        (PODS, container("resources: {requests: {memory: 9Ti}}"), "container-resources", "above its limit"),
        (PODS, container("resources: {requests: {cpu: '-1'}}"), "container-resources", "-1 is below 0"),
        (PODS, container("resources: {requests: null, limits: null}"), "container-resources", "asks for no cpu"),
        (
            PODS,
            "{spec: {containers: [{name: side, image: a, securityContext: {allowPrivilegeEscalation: false, "
            "runAsNonRoot: true, capabilities: {drop: [ALL]}}}]}}",
            "container-resources",
            "asks for no memory",
        ),
        (RAY, f"[{{op: remove, path: {TEMPLATE}/spec/tolerations}}]", "resource-covered", "tolerated by them"),
        (PODS, "{spec: {serviceAccountName: cluster-admin}}", "own-references", "cluster-admin is not that of"),
        (PODS, container("envFrom: [{secretRef: {name: root}}]"), "own-references", "the secret root is none of"),
        (PODS, container("env: [{name: A, valueFrom: {configMapKeyRef: {name: other, key: a}}}]"), "own-references", "the ConfigMap other"),
        (
            PODS,
            "{spec: {volumes: [{name: x, persistentVolumeClaim: {claimName: climate-other}}]}}",
            "own-references",
            "the claim climate-other",
        ),
        (PODS, "{spec: {volumes: [{name: x, projected: {sources: [{secret: {name: root}}]}}]}}", "own-references", "the secret root"),
        (PODS, "{spec: {volumes: [{name: x, hostPath: {path: /}}]}}", "pod-security", "a path of the host"),
        (PODS, "{spec: {hostNetwork: true}}", "pod-security", "hostNetwork, which Pod Security baseline forbids"),
        (PODS, container("securityContext: {privileged: true}"), "pod-security", "privileged"),
        (PROTEIN, container("securityContext: {runAsUser: 0}"), "pod-security", "runs as root"),
        (PROTEIN, container("securityContext: {capabilities: {drop: null}}"), "pod-security", "does not drop all"),
        (PROTEIN, "{spec: {securityContext: {seccompProfile: null}}}", "pod-security", "no seccomp profile"),
        (RAY, f"[{{op: replace, path: {GROUP}/groupName, value: head}}]", "ray-groups", "the name head"),
        (RAY, f"[{{op: remove, path: {GROUP}/numOfHosts}}]", "ray-groups", "numOfHosts is not written"),
        (RAY, f"[{{op: remove, path: {GROUP}/replicas}}]", "ray-groups", "replicas is None"),
        (
            RAY,
            f"[{', '.join([f'{{op: copy, from: {GROUP}, path: /spec/rayClusterSpec/workerGroupSpecs/-}}'] * 16)}]",
            "ray-groups",
            "17 worker groups",
        ),
        (RAY, "{spec: {submissionMode: HTTPMode}}", "ray-job", "HTTPMode, not K8sJobMode"),
        (RAY, "{spec: {entrypoint: python x.py}}", "ray-job", "not the launch script"),
        (RAY, "{spec: {rayClusterSpec: {enableInTreeAutoscaling: true}}}", "ray-job", "autoscaler"),
        (RAY, "{spec: {rayClusterSpec: {headGroupSpec: {rayStartParams: {num-cpus: '4'}}}}}", "ray-job", "is 4, not 0"),
        (RAY, "{spec: {rayClusterSpec: {headGroupSpec: {rayStartParams: {labels: a}}}}}", "ray-job", "labels of the head"),
        (
            RAY,
            f"[{{op: add, path: {GROUP}/rayStartParams/num-gpus, value: '1'}}, {{op: add, path: {GROUP}/resources, value: {{GPU: '1'}}}}]",
            "ray-job",
            "both resources",
        ),
        (
            RAY,
            "[{op: add, path: /spec/rayClusterSpec/headGroupSpec/template/spec/containers/0/env/-, "
            "value: {name: RAY_REDIS_ADDRESS, value: r}}]",
            "ray-job",
            "KubeRay refuses",
        ),
        (RAY, "{spec: {rayClusterSpec: {rayVersion: nightly}}}", "ray-runtime", "no version of Ray"),
        (RAY, "{spec: {runtimeEnvYAML: '{a: ['}}", "ray-runtime", "can't be read"),
        (RAY, "{spec: {runtimeEnvYAML: 'env_vars: {A: \"`id`\"}'}}", "ray-runtime", "would be expanded"),
        (
            RAY,
            "{spec: {submitterPodTemplate: {spec: {containers: [{name: ray-job-submitter, command: [a]}]}}}}",
            "ray-submitter",
            "replaces the submission",
        ),
        (
            RAY,
            "{spec: {submitterPodTemplate: {spec: {containers: [{name: ray-job-submitter, image: null}]}}}}",
            "ray-submitter",
            "no container with an image",
        ),
        (
            JOBSET,
            f"[{', '.join(['{op: copy, from: /spec/replicatedJobs/0, path: /spec/replicatedJobs/-}'] * 18)}]",
            "podset-count",
            "19 groups",
        ),
        (
            JOBSET,
            "[{op: replace, path: /spec/replicatedJobs/0/name, value: a-group-with-a-name-of-more-than-forty-characters}]",
            "gang-names",
            "more than 63",
        ),
        (JOB, "{metadata: {labels: {'-x': a}}}", "label-form", "no name of a label"),
        (JOB, "{metadata: {annotations: {'a b': c}}}", "label-form", "the annotation a b"),
        (PODS, "{spec: {volumes: [{name: A_b, emptyDir: {}}]}}", "volume-mounts", "A_b is no name"),
        (JOB, "[{op: copy, from: /spec/template/spec/volumes/0, path: /spec/template/spec/volumes/-}]", "volume-mounts", "two volumes are"),
        (JOB, f"[{{op: replace, path: {MOUNTS}/0/mountPath, value: /mnt}}]", "volume-mounts", "mounted at /mnt"),
        (JOB, "{spec: {template: {spec: {subdomain: other}}}}", "gang-names", "the run has no Service other"),
        (
            JOB,
            "[{op: replace, path: /spec/template/spec/volumes/0/configMap/items/0/path, value: ../x}]",
            "configmap-items",
            "../x is no path",
        ),
        (
            JOB,
            "[{op: copy, from: /spec/template/spec/volumes/0/configMap/items/0, path: /spec/template/spec/volumes/0/configMap/items/-}]",
            "configmap-items",
            "stands twice",
        ),
    ],
)  # fmt: skip
def test_what_overlays_may_not_do(target: str, body: str, rule: str, words: str) -> None:
    found = findings(f"target: {{{target}}}\npatch: {body}\n")
    if not rule:
        assert found == []
    else:
        assert any(d.rule == rule and words in d.message for d in found), [(d.rule, d.message) for d in found]


@pytest.mark.parametrize("value", [None, 3, "text", [], {}, [None], [3], {"spec": 3}, {"template": [1]}])
def test_no_shape_breaks_a_rule(value: Any) -> None:
    policy, objects, _ = patched("")
    for item in objects:
        for field in [k for k in item.obj if k not in {"apiVersion", "kind", "metadata"}]:
            odd = Rendered(item.path, {**item.obj, field: value}, item.source, item.span)
            for rule in stage.RULES:
                list(rule.check([odd], policy))
        spec: Any = item.obj.get("spec")
        for field in spec or ():
            odd = Rendered(item.path, {**item.obj, "spec": {**spec, field: value}}, item.source, item.span)
            for rule in stage.RULES:
                list(rule.check([odd], policy))


def sized(files: int, size: int) -> list[Any]:
    policy, objects, _ = patched("")
    run = [r for r in objects if r.name.startswith("whisper")]
    data = {f"{'k' * 100}{n}": "x" * size for n in range(files)}
    items: list[Any] = [{"key": key, "path": key} for key in data]
    out = []
    for item in run:
        obj: Any = dict(item.obj)
        if item.kind == "ConfigMap":
            obj["data"] = data
        else:
            group = dict(obj["spec"]["rayClusterSpec"]["headGroupSpec"])
            obj["spec"] = {**obj["spec"], "x": [{"items": items}] * 2, "g": group}
        out.append(Rendered(item.path, obj, item.source, item.span))
    return [d.message for d in object_size.check(out, policy)]


def test_sizes() -> None:
    assert sized(10, 1000) == []
    assert "data has 1100000 bytes" in sized(11, 100_000)[0]
    assert sized(1000, 1) == []
    assert [m for m in sized(4000, 1) if "the object has" in m]
    policy, objects, _ = patched("")
    obj: Any = dict(objects[0].obj)
    obj["metadata"] = {**obj["metadata"], "annotations": {"a": "x" * 300_000}}
    big = Rendered(objects[0].path, obj, "f", Span("f"))
    assert ["annotations have 300001" in d.message for d in object_size.check([big], policy)] == [True]


def test_the_pods_of_one_call_are_found_once() -> None:
    objects = list(compiled()[1])
    assert _pods.pods(objects) is _pods.pods(objects)
    assert _pods.pods(objects[:4]) is not _pods.pods(objects[:4])
