"""Manifests of ten shapes, byte for byte, and what holds for all of them."""

from typing import Any

import pytest

from taugen.render.attempt import next_attempt
from taugen.render.expand import escape
from taugen.render.run import render_attempt
from taugen.validate.schemas import Validator
from taugen.words import names
from tests.render import build, golden
from tests.render.kubelet import pod_spec

ORDER = ["name", "image", "command", "args", "workingDir", "ports", "env", "resources", "volumeMounts", "securityContext"]
FORBIDDEN = {
    "suspend",
    "selector",
    "schedulingGates",
    "status",
    "nodeSelector",
    "ttlSecondsAfterFinished",
    "clusterSelector",
    "deletionStrategy",
}
SHAPES = sorted(golden.SHAPES)


@pytest.mark.parametrize("shape", SHAPES)
def test_bytes(shape: str) -> None:
    assert golden.texts(shape) == {path.name: path.read_text() for path in (golden.FOLDER / shape).iterdir()}


def test_no_golden_is_left_over() -> None:
    assert sorted(path.name for path in golden.FOLDER.iterdir()) == SHAPES


@pytest.mark.parametrize("kubernetes", ["1.35", "1.36"])
@pytest.mark.parametrize("shape", SHAPES)
def test_schemas(shape: str, kubernetes: str) -> None:
    validator = Validator({"kubernetes": kubernetes})
    for item in golden.rendered(shape):
        assert validator.knows(str(item.obj["apiVersion"]), item.kind)
        assert validator.faults(item.obj) == []


def walk(value: Any, path: str = "") -> Any:
    yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from walk(item, f"{path}.{key}")
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from walk(item, f"{path}[{at}]")


@pytest.mark.parametrize("shape", SHAPES)
def test_what_holds_for_every_object(shape: str) -> None:
    for item in golden.rendered(shape):
        obj: dict[str, Any] = item.obj
        assert list(obj)[:3] == ["apiVersion", "kind", "metadata"]
        annotations = obj["metadata"]["annotations"]
        assert annotations["kustomize.toolkit.fluxcd.io/substitute"] == "disabled"
        assert annotations["kustomize.toolkit.fluxcd.io/ssa"] == "IfNotPresent"
        assert len(obj["metadata"]["name"]) <= 47
        keys = {path.rpartition(".")[2] for path, _ in walk(obj)} if obj["kind"] not in {"Service", "ConfigMap"} else set()
        assert not keys & FORBIDDEN
        for path, value in walk(obj):
            if isinstance(value, dict) and "containerPort" in value:
                assert "protocol" in value, f"{path}: Argo CD would call the object OutOfSync for ever"
            if isinstance(value, dict) and "image" in value and "name" in value:
                assert list(value) == [key for key in ORDER if key in value], path
                env = [entry["name"] for entry in value.get("env", [])]
                if value["name"] in {"main", "ray-head", "ray-worker"}:
                    assert env == sorted(env)
                assert len(set(env)) == len(env)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_later_attempt_is_the_one_before_with_another_number(shape: str) -> None:
    changes = dict(golden.SHAPES[shape])
    files = changes.pop("files", build.TRAIN)
    run = build.run(shape, code=changes.pop("code", build.code(files)), **changes)
    read = build.reader(files)

    def at(attempt: int, resume_from: str = "", reason: str = "") -> list[Any]:
        return [item.obj for item in render_attempt(run, read, attempt, resume_from=resume_from, reason=reason)]

    first = at(1)
    before = repr(first)
    for attempt, resume, reason in ((2, "/ckpt/$(A)/9", "OOMKilled"), (10, "", ""), (999, "/x", "Evicted")):
        assert next_attempt(first, attempt, resume, reason) == at(attempt, resume, reason)
        assert next_attempt(at(attempt, resume, reason), 1, "") == first
    assert repr(first) == before


def test_names_of_attempts_share_their_run() -> None:
    run = build.run("protein-folding-ablation-with-extended-context-window-v12b", kind="rayjob", program={"launcher": "ray"})
    found = [str(render_attempt(run, build.reader(build.TRAIN), n)[-1].name) for n in (1, 9, 10, 99, 100, 999)]
    assert all(len(name) <= 47 and names.is_dns1035(name) for name in found)
    assert {name.rpartition("-")[0] for name in found} == {run.doc.run}


def test_an_attempt_that_no_name_holds() -> None:
    with pytest.raises(ValueError, match="no attempt 1000"):
        next_attempt([item.obj for item in golden.rendered("job-gpu")], 1000, "")
    with pytest.raises(ValueError, match="0 objects"):
        next_attempt([], 2, "")


def test_what_an_overlay_added_stays() -> None:
    objects: list[Any] = [item.obj for item in golden.rendered("job-gang-restricted")]
    job = objects[-1]
    name = job["metadata"]["name"]
    pod = pod_spec(job)
    pod["affinity"] = {
        "podAntiAffinity": {"x": [{"labelSelector": {"matchLabels": {"batch.kubernetes.io/job-name": name, "taugen.dev/attempt": "1"}}}]}
    }
    pod["containers"].append({"name": "side", "env": [{"name": "Z", "value": "$(A)"}, {"name": "A", "value": name}]})
    pod["containers"][0]["env"].append({"name": "AA_OWN", "value": "x"})
    moved: Any = next_attempt(objects, 2, "/ckpt/1")[-1]
    labels = pod_spec(moved)["affinity"]["podAntiAffinity"]["x"][0]["labelSelector"]["matchLabels"]
    assert labels == {"batch.kubernetes.io/job-name": name[:-1] + "2", "taugen.dev/attempt": "2"}
    assert pod_spec(moved)["containers"][1] == pod["containers"][1]
    env = {e["name"]: e.get("value") for e in pod_spec(moved)["containers"][0]["env"]}
    assert env["AA_OWN"] == "x"
    assert env["TAU_RESUME_FROM"] == "/ckpt/1"


def test_only_what_kubernetes_would_expand_is_doubled() -> None:
    assert [escape(text) for text in ("$5", "${A:-b}", "$$", "$(A)", "a$", "$$$(", "")] == [
        "$5",
        "${A:-b}",
        "$$$",
        "$$(A)",
        "a$",
        "$$$$$$(",
        "",
    ]
