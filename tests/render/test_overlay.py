"""Overlays: where they come from, what they match, what they may not do."""

import re
from pathlib import Path

import pytest

from taugen.diag import Severity, Span
from taugen.policy.load import load_policy
from taugen.render import overlay, patches
from taugen.render.findings import FINDINGS
from taugen.render.overlay import Overlays
from taugen.render.types import Rendered
from tests.policykit import MemoryTree

PROJECT = "apiVersion: taugen.dev/v1alpha1\nkind: Project\nmetadata: {name: acme}\nspec: {}\n"
POLICY = """\
apiVersion: taugen.dev/v1alpha1
kind: Cluster
metadata: {name: west}
spec:
  overlays: [OVERLAYS]
  gitops: {engine: flux, url: https://git.example/fleet.git}
"""
ON_JOB = "target: {kind: Job}\npatch: "
JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "train-1", "namespace": "team", "labels": {"taugen.dev/workspace": "vision", "kueue.x-k8s.io/queue-name": "gpu"}},
    "spec": {"template": {"metadata": {"labels": {"a": "1"}}, "spec": {"containers": [{"name": "main", "image": "x"}]}}},
}
RAY = {
    "apiVersion": "ray.io/v1",
    "kind": "RayJob",
    "metadata": {"name": "ray-1", "namespace": "team", "labels": {"taugen.dev/workspace": "vision"}},
    "spec": {
        "submitterPodTemplate": {"spec": {"containers": [{"name": "submit"}]}},
        "rayClusterSpec": {
            "headGroupSpec": {"template": {"spec": {"containers": [{"name": "head"}]}}},
            "workerGroupSpecs": [{"groupName": "workers", "template": {"spec": {"containers": [{"name": "ray"}]}}}],
        },
    },
}
JOBSET = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "set-1", "namespace": "team"},
    "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": {"containers": [{"name": "main"}]}}}}}]},
}
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "taugen", "namespace": "team"},
    "spec": {"hard": {"configmaps": "10k"}},
}


def rendered(*objects):
    return [
        Rendered(f"west/x/{o['kind'].lower()}.yaml", o, "policy/x.yaml", Span("policy/x.yaml", 3, 9))
        for o in (objects or (JOB, RAY, JOBSET, QUOTA))
    ]


def load(files, *names):
    tree = MemoryTree({"taugen.yaml": PROJECT, "policy/c.yaml": POLICY.replace("OVERLAYS", ", ".join(names or ["site"])), **files})
    policy, _ = load_policy(tree)
    assert policy is not None
    return overlay.load_overlays(tree, policy)


def site(text):
    """The overlay `site` of one file that must be in order."""
    overlays, found = load({"overlays/site/a.yaml": text})
    assert not found
    return overlays


def applied(text, *objects):
    out, found = overlay.apply(site(text), "west", rendered(*objects))
    assert not found, found
    return [item.obj for item in out]


def refused(text):
    _, found = load({"overlays/site/a.yaml": text})
    return found


# --------------------------------------------------------------------------------------------------------------------- matching


def test_a_target_and_a_strategic_merge():
    job, ray, *_ = applied(
        "target: {kind: Job, name: train-.*, labelSelector: taugen.dev/workspace=vision}\npatch:\n  spec: {backoffLimit: 1}\n"
    )
    assert job["spec"] == {**JOB["spec"], "backoffLimit": 1}
    assert ray is RAY


def test_a_partial_object():
    *_, quota = applied("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: taugen}\nspec: {hard: {secrets: '5'}}\n")
    assert quota["spec"]["hard"] == {"configmaps": "10k", "secrets": "5"}
    assert applied("apiVersion: v2\nkind: ResourceQuota\nmetadata: {name: taugen}\nspec: {hard: {secrets: '5'}}\n")[3] is QUOTA
    assert applied("kind: ResourceQuota\nmetadata: {name: taugen, namespace: other}\nspec: {hard: {secrets: '5'}}\n")[3] is QUOTA


def test_a_json_patch_and_a_patch_as_text():
    operations = "[{op: replace, path: /spec/hard/configmaps, value: '5'}]"
    for text in (
        f"target: {{kind: ResourceQuota}}\npatch: {operations}\n",
        f"target: {{kind: ResourceQuota}}\npatch: |\n  - {operations[1:-1]}\n",
    ):
        assert applied(text)[3]["spec"]["hard"] == {"configmaps": "5"}
    assert applied("target: {kind: ResourceQuota}\npatch: |-\n  spec:\n    hard: {configmaps: '5'}\n")[3]["spec"]["hard"] == {
        "configmaps": "5"
    }


def test_pod_templates_of_all_kinds():
    job, ray, jobset, quota = applied(
        "target: {kind: PodTemplate}\npatch: {metadata: {annotations: {k: v}}, spec: {containers: [{name: extra}]}}\n"
    )
    pods = [
        job["spec"]["template"],
        ray["spec"]["submitterPodTemplate"],
        ray["spec"]["rayClusterSpec"]["headGroupSpec"]["template"],
        ray["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]["template"],
        jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"],
    ]
    for pod in pods:
        assert pod["metadata"]["annotations"] == {"k": "v"}
        assert [c["name"] for c in pod["spec"]["containers"]][1:] == ["extra"]
    assert "annotations" not in job["metadata"]
    assert quota is QUOTA
    assert "annotations" not in JOB["spec"]["template"]["metadata"]


def test_pod_templates_by_json_patch_and_by_labels_of_their_owner():
    job, ray, *_ = applied(
        "target: {kind: PodTemplate, labelSelector: kueue.x-k8s.io/queue-name=gpu}\npatch: [{op: add, path: /spec/priority, value: 1}]\n"
    )
    assert job["spec"]["template"]["spec"]["priority"] == 1
    assert ray is RAY


def test_several_kinds_and_order():
    text = "target: {kind: Job|JobSet}\npatch: {spec: {order: [b]}}\n---\ntarget: {kind: Job}\npatch: {spec: {order: [c]}}\n"
    overlays, found = load({"overlays/site/b.yaml": text, "overlays/site/a.yaml": ON_JOB + "{spec: {order: [a], first: 1}}\n"})
    assert not found
    out = {i.kind: i.obj for i in overlay.apply(overlays, "west", rendered())[0]}
    assert out["Job"]["spec"]["order"] == ["c"]
    assert out["Job"]["spec"]["first"] == 1
    assert out["JobSet"]["spec"]["order"] == ["b"]


def test_nothing_is_copied_without_a_patch():
    objects = rendered()
    out, found = overlay.apply(Overlays(), "west", objects)
    assert not found
    assert all(a is b for a, b in zip(out, objects, strict=True))
    out, _ = overlay.apply(site(ON_JOB + "{spec: {a: 1}}\n"), "west", objects)
    assert [a is b for a, b in zip(out, objects, strict=True)] == [False, True, True, True]
    assert overlay.apply(site(ON_JOB + "{spec: {a: 1}}\n"), "east", objects)[0] == objects


def test_unused_patches():
    overlays = site("target: {kind: Job, name: nope}\npatch: {spec: {a: 1}}\n---\ntarget: {kind: Job}\npatch: {spec: {a: 1}}\n")
    used: set[int] = set()
    overlay.apply(overlays, "west", rendered(), used)
    (finding,) = overlay.unused(overlays, used)
    assert (finding.rule, finding.severity, finding.span.line) == ("overlay-unused", Severity.WARNING, 2)
    shipped, _ = load({}, "kind")
    assert overlay.unused(shipped, set()) == []


# -------------------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("text", "rule", "path", "line", "words"),
    [
        ("spec: {a: 1}\n", "overlay-patch", "", 1, "kind is missing"),
        ("kind: Job\nspec: {a: 1}\n", "overlay-patch", "", 1, "metadata.name is missing"),
        ("kind: Kustomization\nresources: [a.yaml]\n", "overlay-patch", "kind", 1, "not a kustomization"),
        ("target: {kind: Job}\n", "overlay-patch", "patch", 1, "says nothing"),
        (ON_JOB + "{}\n", "overlay-patch", "patch", 2, "says nothing"),
        (ON_JOB + "3\n", "overlay-patch", "patch", 2, "says nothing"),
        ("patch: {spec: {a: 1}}\n", "overlay-target", "target", 1, "has no target"),
        ("target: {}\npatch: {spec: {a: 1}}\n", "overlay-target", "target", 1, "has no target"),
        (ON_JOB + "{spec: {a: 1}}\noptions: {allowNameChange: true}\n", "overlay-patch", "options", 3, "unknown field options"),
        ("target: {kind: Job}\npath: patch.yaml\npatch: {spec: {a: 1}}\n", "overlay-patch", "path", 2, "unknown field path"),
        ("target: {kind: Job, label: a}\npatch: {spec: {a: 1}}\n", "overlay-target", "target.label", 1, "unknown field label"),
        ("target: {kind: Job, name: 3}\npatch: {spec: {a: 1}}\n", "overlay-target", "target.name", 1, "name is not text"),
        ("target: {kind: Job, name: '(a+)+'}\npatch: {spec: {a: 1}}\n", "overlay-target", "target.name", 1, "at most 4"),
        (
            "target: {kind: Job, labelSelector: 'a b'}\npatch: {spec: {a: 1}}\n",
            "overlay-target",
            "target.labelSelector",
            1,
            "comma is missing",
        ),
        ("target: {kind: Deployment}\npatch: {spec: {a: 1}}\n", "overlay-target", "target.kind", 1, "no object of kind Deployment"),
        ("kind: RayJobs\nmetadata: {name: a}\n", "overlay-target", "kind", 1, "no object of kind RayJobs"),
        ("target: {kind: Job}\npatch:\n  - {op: put, path: /a}\n", "overlay-patch", "patch[0].op", 3, "unknown"),
        (
            "target: {kind: Job}\npatch:\n  - {op: remove, path: /metadata}\n",
            "overlay-identity",
            "patch[0].path",
            3,
            "would change what the object is",
        ),
        (
            "target: {kind: Job}\npatch:\n  - {op: replace, path: /metadata/name, value: b}\n",
            "overlay-identity",
            "patch[0].path",
            3,
            "what the object is",
        ),
        (
            "target: {kind: Job}\npatch:\n  - {op: move, from: /kind, path: /a}\n",
            "overlay-identity",
            "patch[0].path",
            3,
            "what the object is",
        ),
        (
            "target: {kind: PodTemplate}\npatch:\n  - {op: replace, path: '', value: {}}\n",
            "overlay-identity",
            "patch[0].path",
            3,
            "what the object is",
        ),
        (
            "target: {kind: Job}\npatch:\n  metadata:\n    annotations: {a: true}\n",
            "overlay-text",
            "patch.metadata.annotations.a",
            4,
            "is not text",
        ),
        (
            ON_JOB + "{spec: {template: {metadata: {labels: {a: 1}}}}}\n",
            "overlay-text",
            "patch.spec.template.metadata.labels.a",
            2,
            "is not text",
        ),
        ("target: {kind: Job}\npatch:\n  spec: {a: no}\n", "yaml-trap", "patch.spec.a", 3, "without quotes"),
        (ON_JOB + "|\n  spec: [\n", "yaml-syntax", "patch", 2, "in the text of patch"),
        ("a: ]\n", "yaml-syntax", "", 1, "not YAML"),
    ],
)
def test_patches_that_can_not_be_read(text, rule, path, line, words):
    found = refused(text)
    assert [(f.rule, f.path, f.span.line) for f in found] == [(rule, path, line)], found
    assert words in found[0].message
    assert found[0].span.file == "overlays/site/a.yaml"


@pytest.mark.parametrize(
    ("kind", "body", "path"),
    [
        ("LocalQueue", {"spec": {"clusterQueue": "research"}}, "spec.clusterQueue"),
        ("RoleBinding", {"roleRef": {"kind": "Role", "name": "reader"}, "subjects": []}, "roleRef.name"),
    ],
)
def test_what_an_object_is_for_is_not_patched(kind, body, path):
    """The API server would refuse it once the object stands, and `explain` tells people of the queue that policy names."""
    obj = {"apiVersion": "x/v1", "kind": kind, "metadata": {"name": "a", "namespace": "b"}, **body}
    top, last = path.split(".")
    out, found = overlay.apply(site(f"kind: {kind}\nmetadata: {{name: a}}\n{top}: {{{last}: other}}\n"), "west", rendered(obj))
    assert [(f.rule, f.path) for f in found] == [("overlay-identity", path if kind == "LocalQueue" else "roleRef")]
    assert out[0].obj == obj


@pytest.mark.parametrize(
    ("text", "rule", "path", "words"),
    [
        (ON_JOB + "{kind: CronJob}\n", "overlay-identity", "patch.kind", "would change kind of a Job"),
        (ON_JOB + "{metadata: {name: other}}\n", "overlay-identity", "patch.metadata.name", "would change name"),
        (ON_JOB + "{metadata: {namespace: other}}\n", "overlay-identity", "patch.metadata.namespace", "would change namespace"),
        (
            ON_JOB + "{metadata: {labels: {taugen.dev/workspace: nlp}}}\n",
            "overlay-identity",
            "patch.metadata.labels.taugen.dev/workspace",
            "would change",
        ),
        (
            ON_JOB + "{metadata: {labels: {kueue.x-k8s.io/queue-name: null}}}\n",
            "overlay-identity",
            "patch.metadata.labels.kueue.x-k8s.io/queue-name",
            "change",
        ),
        (ON_JOB + "{metadata: null}\n", "overlay-identity", "patch.metadata", "would change name"),
        (ON_JOB + "[{op: remove, path: /metadata/labels}]\n", "overlay-identity", "patch[0].path", "would change"),
        (ON_JOB + "{$patch: delete}\n", "overlay-patch", "patch.$patch", "can't delete the object"),
        (
            ON_JOB + "{spec: {template: {spec: {containers: [{image: z}]}}}}\n",
            "overlay-patch",
            "patch.spec.template.spec.containers[0]",
            "name, which is missing",
        ),
        (ON_JOB + "[{op: remove, path: /spec/nope}]\n", "overlay-patch", "patch[0].path", "there is no /spec/nope (in a Job)"),
        (
            "target: {kind: PodTemplate, name: train-1}\npatch: [{op: remove, path: /spec/nope}]\n",
            "overlay-patch",
            "patch[0].path",
            "there is no /spec/nope",
        ),
        (ON_JOB + "|\n  - {op: remove, path: /spec/nope}\n", "overlay-patch", "patch[0].path", "there is no /spec/nope"),
    ],
)
def test_patches_that_do_not_fit(text, rule, path, words):
    objects = rendered()
    out, found = overlay.apply(site(text), "west", objects)
    assert [(f.rule, f.path) for f in found] == [(rule, path)]
    assert words in found[0].message
    assert found[0].span.line == 2
    assert out == objects, "the object stays as it was"


def test_every_fault_of_a_file_is_told():
    found = refused("target: {kind: Deployment, nam: x}\npatch: {}\n---\nkind: Job\n")
    assert [(f.rule, f.span.line) for f in found] == [
        ("overlay-target", 1),
        ("overlay-target", 1),
        ("overlay-patch", 2),
        ("overlay-patch", 4),
    ]


# ------------------------------------------------------------------------------------------------------------------- where from


def test_an_overlay_that_is_nowhere():
    _, found = load({}, "site", "akss")
    assert [(f.rule, f.path, f.span.line) for f in found] == [
        ("overlay-unknown", "spec.overlays[1]", 5),
        ("overlay-unknown", "spec.overlays[0]", 5),
    ]
    assert found[0].hint == "did you mean aks?"
    assert "overlays/site/" in found[1].hint


def test_the_repository_comes_before_what_ships():
    overlays, found = load({"overlays/aks/x.yaml": ON_JOB + "{spec: {a: 1}}\n"}, "aks")
    assert not found
    assert [(p.shipped, p.document.file) for p in overlays.by_cluster["west"]] == [(False, "overlays/aks/x.yaml")]


def test_a_folder_without_patches_is_an_overlay():
    overlays, found = load({"overlays/site/README.md": "nothing differs\n"})
    assert (overlays.by_cluster["west"], found) == ((), [])


def test_files_of_other_overlays_are_not_read():
    _, found = load(
        {"overlays/site/a.yaml": ON_JOB + "{spec: {a: 1}}\n", "overlays/other/b.yaml": ": : :\n", "overlays/siteb/c.yaml": "[\n"}
    )
    assert not found


def test_a_file_that_is_too_large():
    _, found = load({"overlays/site/a.yaml": "# x\n" * 70_000})
    assert [f.rule for f in found] == ["overlay-file"]
    assert "bytes" in found[0].message


def test_the_digest_follows_content_and_names():
    one = {"overlays/site/a.yaml": ON_JOB + "{spec: {a: 1}}\n"}
    base = load(one)[0].digest
    assert base == load({**one, "overlays/other/b.yaml": "x: y\n"})[0].digest
    assert base != load({"overlays/site/a.yaml": one["overlays/site/a.yaml"].replace("1", "2")})[0].digest
    assert base != load({"overlays/site/b.yaml": one["overlays/site/a.yaml"]})[0].digest


def test_what_ships_is_in_order():
    assert overlay.shipped_names() == ["aks", "eks", "gke", "kind", "onprem"]
    overlays, found = load({}, *overlay.shipped_names())
    assert not found
    assert {p.overlay for p in overlays.by_cluster["west"]} == {"aks", "eks", "gke", "kind"}
    pods = rendered(JOB, RAY, JOBSET)
    out, found = overlay.apply(overlays, "west", pods)
    assert not found
    assert out[0].obj["spec"]["template"]["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"] == "true"


def test_every_finding_is_documented():
    sources = (Path(patches.__file__).parent / f"{name}.py" for name in ("overlay", "patches"))
    made = {word for source in sources for word in re.findall(r'"(overlay-[a-z]+)"', source.read_text())}
    assert made == set(FINDINGS)
