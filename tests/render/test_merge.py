"""Strategic merge: by hand, by laws, and against kubectl."""

import copy
import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from taugen.render.merge import MergeError, merge, shape_of
from taugen.render.patches import KINDS, POD_TEMPLATE

JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "train", "annotations": {"a": "1", "b": "2"}, "finalizers": ["x.example/y"]},
    "spec": {
        "template": {
            "spec": {
                "tolerations": [{"key": "gpu", "operator": "Exists"}],
                "containers": [
                    {
                        "name": "main",
                        "image": "one",
                        "args": ["a", "b"],
                        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                        "volumeMounts": [{"mountPath": "/a", "name": "v"}],
                        "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}],
                        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
                    }
                ],
                "volumes": [{"name": "v", "emptyDir": {}}],
            }
        }
    },
}


def pod(**spec):
    return {"spec": {"template": {"spec": spec}}}


def patched(patch, obj=JOB, kind="Job"):
    before = copy.deepcopy((obj, patch))
    out = merge(obj, patch, shape_of(kind))
    assert (obj, patch) == before, "inputs stay as they were"
    return out


def main(out):
    return out["spec"]["template"]["spec"]["containers"][0]


def container(**fields):
    """The main container after a patch of these fields."""
    return main(patched(pod(containers=[{"name": "main", **fields}])))


def test_maps_merge_and_null_removes():
    out = patched({"metadata": {"annotations": {"a": None, "c": "3"}}})
    assert out["metadata"]["annotations"] == {"b": "2", "c": "3"}
    assert out["spec"] == JOB["spec"]


def test_lists_merge_by_their_key_and_new_elements_come_last():
    patch = pod(
        containers=[{"name": "side", "image": "two"}, {"name": "main", "env": [{"name": "C", "value": "3"}, {"name": "A", "value": "9"}]}]
    )
    out = patched(patch)
    assert [c["name"] for c in out["spec"]["template"]["spec"]["containers"]] == ["main", "side"]
    assert main(out)["env"] == [{"name": "A", "value": "9"}, {"name": "B", "value": "2"}, {"name": "C", "value": "3"}]
    assert main(out)["image"] == "one"


def test_mounts_are_told_by_their_path_and_ports_by_number_and_protocol():
    out = patched(
        pod(
            containers=[
                {
                    "name": "main",
                    "volumeMounts": [{"mountPath": "/a", "readOnly": True}],
                    "ports": [{"containerPort": 80, "protocol": "UDP", "name": "u"}],
                }
            ]
        )
    )
    assert main(out)["volumeMounts"] == [{"mountPath": "/a", "name": "v", "readOnly": True}]
    assert main(out)["ports"] == [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP", "name": "u"}]


def test_atomic_lists_are_replaced_and_sets_united():
    out = patched(
        {
            **pod(tolerations=[{"key": "b", "operator": "Exists"}], containers=[{"name": "main", "args": ["z"]}]),
            "metadata": {"finalizers": ["p/q", "x.example/y"]},
        }
    )
    assert out["spec"]["template"]["spec"]["tolerations"] == [{"key": "b", "operator": "Exists"}]
    assert main(out)["args"] == ["z"]
    assert out["metadata"]["finalizers"] == ["x.example/y", "p/q"]


def test_directives():
    assert container(env=[{"name": "A", "$patch": "delete"}])["env"] == [{"name": "B", "value": "2"}]
    assert container(env=[{"$patch": "replace"}, {"name": "Z"}])["env"] == [{"name": "Z"}]
    assert container(resources={"$patch": "replace", "limits": {"cpu": "2"}})["resources"] == {"limits": {"cpu": "2"}}
    assert "resources" not in container(resources={"$patch": "delete"})


def test_lists_of_custom_kinds_follow_their_crd():
    def ray(**fields):
        return {"spec": {"rayClusterSpec": {"workerGroupSpecs": [{"groupName": "workers", **fields}]}}}

    def ray_pod(**fields):
        return {"spec": {"containers": [{"name": "ray", **fields}]}}

    out = patched(ray(template=ray_pod(env=[{"name": "A"}])), ray(replicas=2, template=ray_pod(image="x")), "RayJob")
    assert out == ray(replicas=2, template=ray_pod(image="x", env=[{"name": "A"}]))
    queue = {"spec": {"resourceGroups": [{"coveredResources": ["cpu"]}]}}
    assert patched({"spec": {"resourceGroups": []}}, queue, "ClusterQueue")["spec"]["resourceGroups"] == []
    sets = [{"spec": {"replicatedJobs": [{"name": "node", "replicas": n}]}} for n in (1, 2)]
    assert patched(sets[1], sets[0], "JobSet") == sets[1]


@pytest.mark.parametrize(
    ("patch", "path", "words"),
    [
        ({"$patch": "delete"}, ("$patch",), "can't delete the object"),
        ({"$patch": "remove"}, ("$patch",), "can't be remove"),
        ({"spec": {"$retainKeys": ["a"]}}, ("spec", "$retainKeys"), "not supported"),
        (pod(containers=[{"image": "x"}]), ("spec", "template", "spec", "containers", 0), "name, which is missing"),
        (pod(containers=["x"]), ("spec", "template", "spec", "containers", 0), "name, which is missing"),
        (
            pod(tolerations=[{"$patch": "delete", "key": "gpu"}]),
            ("spec", "template", "spec", "tolerations", 0, "$patch"),
            "replaced as a whole",
        ),
    ],
)
def test_what_can_not_be_merged(patch, path, words):
    with pytest.raises(MergeError, match=words) as error:
        merge(JOB, patch, shape_of("Job"))
    assert error.value.path == path


def test_a_patch_that_changes_a_type_replaces():
    assert patched({"spec": {"template": "x"}})["spec"]["template"] == "x"
    assert patched({"metadata": {"annotations": {"a": {"b": "c"}}}})["metadata"]["annotations"]["a"] == {"b": "c"}


names = st.sampled_from("abc")
values = st.recursive(
    st.sampled_from(["x", 1, True]), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=8
)
objects = st.dictionaries(st.sampled_from(["metadata", "spec", "a"]), values, max_size=3)


@given(objects, objects)
@settings(max_examples=200, deadline=None)
def test_merging_twice_is_merging_once(obj, patch):
    """A patch without directives is idempotent; where it says nothing, nothing changes."""
    once = merge(obj, patch, None)
    assert merge(once, patch, None) == once
    assert merge(obj, {}, None) == obj
    assert list(once)[: len(obj)] == list(obj), "keys stay in their order"


# ----------------------------------------------------------------------------------------------------------------------- kubectl

kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed, so the merge is not compared with it")


def some(rng: random.Random, keys: str) -> list[str]:
    return rng.sample(keys.split(), rng.randint(1, len(keys.split())))


def random_container(rng: random.Random, name: str, old: bool) -> dict:
    out = {"name": name, "image": rng.choice("xyz")} if old or rng.random() < 0.5 else {"name": name}
    if rng.random() < 0.7:
        out["env"] = [{"name": n, "value": str(rng.randint(0, 9))} for n in some(rng, "A B C D")]
    if rng.random() < 0.5:
        out["volumeMounts"] = [{"mountPath": p, "name": rng.choice("vw")} for p in some(rng, "/a /b /c")]
    if rng.random() < 0.5:
        out["args"] = some(rng, "p q r")
    if rng.random() < 0.5:
        out["resources"] = {"limits": {k: str(rng.randint(1, 9)) for k in some(rng, "cpu memory nvidia.com/gpu")}}
    if rng.random() < 0.3:
        out["ports"] = [{"containerPort": int(p)} for p in some(rng, "80 81")]
    return out


def random_spec(rng: random.Random, old: bool) -> dict:
    spec: dict = {"containers": [random_container(rng, n, old) for n in (["main", "side"] if old else some(rng, "main side extra"))]}
    if rng.random() < 0.6:
        spec["volumes"] = [{"name": n, "emptyDir": {}} for n in some(rng, "v w u")]
    if rng.random() < 0.6:
        spec["tolerations"] = [{"key": k, "operator": "Exists"} for k in some(rng, "g h")]
    if rng.random() < 0.4:
        spec["imagePullSecrets"] = [{"name": n} for n in some(rng, "i j")]
    if rng.random() < 0.4:
        spec["nodeSelector"] = dict.fromkeys(some(rng, "n o"), "1")
    if not old:
        if rng.random() < 0.3:
            spec["securityContext"] = None
        if rng.random() < 0.4 and "env" in spec["containers"][0] and spec["containers"][0]["name"] != "extra":
            del_env = spec["containers"][0]["env"]
            del_env[0] = {"name": del_env[0]["name"], "$patch": "delete"}
    elif rng.random() < 0.5:
        spec["securityContext"] = {"runAsUser": 1000}
    return spec


def random_pair(seed: int) -> tuple[dict, dict]:
    rng = random.Random(seed)
    metadata = {"name": f"job-{seed}", "labels": dict.fromkeys(some(rng, "l m"), "1")}
    obj = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": {"spec": random_spec(rng, True)}}}
    patch = {"spec": {"template": {"spec": random_spec(rng, False)}}}
    if rng.random() < 0.5:
        patch["metadata"] = {"annotations": {"n": "1"}, "labels": {"l": rng.choice("xy")}}
    if rng.random() < 0.3:
        patch["spec"]["backoffLimit"] = 3
    return obj, patch


def unordered(value):
    """Merged lists by their key: order differs on purpose."""
    if isinstance(value, dict):
        return {k: unordered(v) for k, v in value.items()}
    if isinstance(value, list):
        items = [unordered(v) for v in value]
        for key in ("mountPath", "containerPort", "name"):
            if items and all(isinstance(i, dict) and key in i for i in items):
                return sorted(items, key=lambda i: str(i[key]))
        return items
    return value


@kubectl
def test_merges_like_kustomize(tmp_path: Path):
    pairs = [random_pair(seed) for seed in range(120)]
    (tmp_path / "jobs.yaml").write_text("---\n".join(yaml.safe_dump(obj) for obj, _ in pairs))
    patches = [
        {
            "target": {"kind": "Job", "name": obj["metadata"]["name"]},
            "patch": json.dumps({"apiVersion": "batch/v1", "kind": "Job", **p, "metadata": {**p.get("metadata", {}), "name": "any"}}),
        }
        for obj, p in pairs
    ]
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump({"resources": ["jobs.yaml"], "patches": patches}))
    done = subprocess.run(["kubectl", "kustomize", str(tmp_path)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    theirs = {obj["metadata"]["name"]: obj for obj in yaml.safe_load_all(done.stdout)}
    for obj, patch in pairs:
        ours = merge(obj, patch, shape_of("Job"))
        assert unordered(ours) == unordered(theirs[obj["metadata"]["name"]]), patch


@kubectl
@pytest.mark.parametrize("seed", [1000, 1001, 1002])
def test_merges_like_the_api_server(tmp_path: Path, seed: int):
    """`kubectl patch --local` runs the strategic merge of apimachinery."""
    obj, patch = random_pair(seed)
    file = tmp_path / "job.json"
    file.write_text(json.dumps(obj))
    args = ["kubectl", "patch", "-f", str(file), "--local", "--type=strategic", "-p", json.dumps(patch), "-o", "json"]
    done = subprocess.run(args, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert unordered(merge(obj, patch, shape_of("Job"))) == unordered(json.loads(done.stdout))


def test_every_rendered_kind_has_a_shape():
    for kind in (*KINDS, POD_TEMPLATE):
        shape = shape_of(kind)
        assert shape is not None, kind
        if kind != POD_TEMPLATE:
            finalizers = shape.field("metadata").field("finalizers")
            assert finalizers.keys == (), "a set"
    assert shape_of("Deployment") is None
