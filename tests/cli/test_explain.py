"""`taugen explain`: which document and line decided each value; what a finding means."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def fields(taugen, *args):
    (run,) = json.loads(taugen("explain", *args, "--format", "json", cwd=EXAMPLES).out)
    return {field["field"]: field for field in run["fields"]}


@pytest.mark.parametrize("name", ["protein/fold-large", "workspaces/protein/fold-large", "workspaces/protein/fold-large/tau.yaml"])
def test_a_run_is_named_as_people_name_it(taugen, name):
    ran = taugen("explain", name, cwd=EXAMPLES)
    assert ran.code == 0
    assert ran.out.startswith("protein/fold-large/")


def test_names_of_the_run_itself(taugen):
    (run,) = json.loads(taugen("explain", "protein/fold-large", "--format", "json", cwd=EXAMPLES).out)
    digest = run["run"].rpartition("/")[2]
    for name in (run["run"], f"fold-large-{digest}", f"fold-large-{digest}-1"):
        assert json.loads(taugen("explain", name, "--format", "json", cwd=EXAMPLES).out)[0]["run"] == run["run"]


def test_each_layer_is_named_with_its_line(taugen):
    found = fields(taugen, "protein/fold-large")
    for field, layer, file in [
        ("execution.nodes", "document", "workspaces/protein/fold-large/tau.yaml"),
        ("compute.gpus", "profile", "policy/profiles.yaml"),
        ("namespace", "workspace", "policy/workspaces/protein.yaml"),
        ("runtime.image", "platform", "policy/platform.yaml"),
    ]:
        assert (found[field]["layer"], found[field]["place"]["file"]) == (layer, file)
        line = (EXAMPLES / file).read_text().splitlines()[found[field]["place"]["line"] - 1]
        assert field.rpartition(".")[2] in line or field == "runtime.image"


def test_what_was_overrode_is_told(taugen):
    found = fields(taugen, "protein/fold-large", "policy.priority")["policy.priority"]
    assert found["value"] == "deadline"
    assert [(o["layer"], o["value"]) for o in found["overrode"]] == [("profile", "standard")]
    text = taugen("explain", "protein/fold-large", "policy.priority", cwd=EXAMPLES).out
    assert "instead of" in text


def test_a_section_and_a_field(taugen):
    assert set(fields(taugen, "protein/fold-large", "checkpoint")) == {f"checkpoint.{name}" for name in ("path", "every", "keep", "resume")}
    assert set(fields(taugen, "protein/fold-large", "checkpoint.keep")) == {"checkpoint.keep"}


def test_misspellings(taugen):
    for args, meant in [
        (("protein/fold-larg",), "protein/fold-large"),
        (("fold-large",), "protein/fold-large"),
        (("image-tga",), "image-tag"),
        (("protein/fold-large", "compute.gpu"), "compute.gpus"),
    ]:
        ran = taugen("explain", *args, cwd=EXAMPLES)
        assert ran.code == 2
        assert f"did you mean {meant}?" in ran.err


def test_a_finding_anywhere(taugen, tmp_path):
    ran = taugen("explain", "image-tag", cwd=tmp_path)
    assert ran.code == 0
    assert ran.out.startswith("image-tag (")
    assert "Mends:" in ran.out
    assert "did you mean image-tag?" in taugen("explain", "image-tagg", cwd=tmp_path).err


def test_a_run_with_errors_is_explained_as_far_as_it_goes(taugen, tmp_path):
    taugen("init", "acme", cwd=tmp_path)
    document = tmp_path / "acme/workspaces/research/first-run/tau.yaml"
    document.write_text(document.read_text().replace("memory: 1Gi", "memory: 900Gi"))
    ran = taugen("explain", "research/first-run", cwd=tmp_path / "acme")
    assert ran.code == 1
    assert "the run has errors" in ran.err
