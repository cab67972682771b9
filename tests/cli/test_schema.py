"""`taugen schema`: what editors and other tools read."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from taugen.pipeline import schemas

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").rglob("*.yaml") if "overlays" not in path.parts)


def canonical(path):
    """TauGrid's dialects are accepted by `check`; the schema describes the canonical spelling only."""
    return "TauGrid" not in path.read_text().partition("\n\n")[0].splitlines()[0]


def test_it_lists_the_kinds(taugen, tmp_path):
    listed = taugen("schema", cwd=tmp_path).out.splitlines()
    assert [line.split()[0] for line in listed] == list(schemas.kinds())
    assert all(len(line.split(None, 1)) == 2 for line in listed)


@pytest.mark.parametrize("kind", list(schemas.kinds()))
def test_each_is_a_schema_that_stands_on_its_own(taugen, tmp_path, kind):
    schema = json.loads(taugen("schema", kind, cwd=tmp_path).out)
    jsonschema.Draft202012Validator.check_schema(schema)
    text = json.dumps(schema)
    assert all(ref.startswith("#/$defs/") for ref in _refs(schema))
    assert '"null"' not in text


def _refs(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref":
                yield value
            else:
                yield from _refs(value)
    elif isinstance(node, list):
        for value in node:
            yield from _refs(value)


@pytest.mark.parametrize("path", [p for p in EXAMPLES if canonical(p)], ids=lambda p: p.relative_to(ROOT / "examples").as_posix())
def test_the_examples_name_their_schema_and_it_takes_them(path):
    first = path.read_text().partition("\n")[0]
    assert first.startswith("# yaml-language-server: $schema=")
    schema = json.loads((path.parent / first.partition("=")[2]).read_text())
    for document in yaml.safe_load_all(path.read_text()):
        jsonschema.validate(document, schema)


def test_the_schema_of_all_policy_refuses_what_each_kind_refuses():
    schema = schemas.schema(schemas.ANY)
    queue = {
        "apiVersion": "taugen.dev/v1alpha1",
        "kind": "Queue",
        "metadata": {"name": "q"},
        "spec": {"quotas": [{"flavor": "cpu", "resources": {"cpu": {"nominal": 1}}}]},
    }
    jsonschema.validate(queue, schema)
    for broken in ({**queue, "kind": "Qeue"}, {**queue, "spec": {**queue["spec"], "cohrt": "x"}}, {**queue, "metadata": {"name": "Q"}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema)


def test_writing_twice_changes_nothing_and_check_notices_a_difference(taugen, tmp_path):
    assert f"{len(schemas.kinds())} schemas written" in taugen("schema", "--write", "out", cwd=tmp_path).err
    assert "0 schemas written" in taugen("schema", "--write", "out", cwd=tmp_path).err
    assert taugen("schema", "--write", "out", "--check", cwd=tmp_path).code == 0
    (tmp_path / "out" / "Run.json").write_text("{}")
    ran = taugen("schema", "--write", "out", "--check", cwd=tmp_path)
    assert (ran.code, ran.out) == (1, "out/Run.json\n")
    assert (tmp_path / "out" / "Run.json").read_text() == "{}"


def test_a_misspelt_kind_gets_the_right_one(taugen, tmp_path):
    ran = taugen("schema", "Queu", cwd=tmp_path)
    assert ran.code == 2
    assert "did you mean Queue?" in ran.err


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
"""


def test_crds_are_kept_in_the_repository(taugen, tmp_path):
    taugen("init", "acme", cwd=tmp_path)
    (tmp_path / "widget.yaml").write_text(CRD)
    ran = taugen("schema", "import", "../widget.yaml", cwd=tmp_path / "acme")
    assert (ran.code, ran.out) == (0, "example.org/v1 Widget\n")
    assert (tmp_path / "acme/.taugen/schemas/example.org_v1_Widget.json").is_file()
    assert taugen("check", "--strict", cwd=tmp_path / "acme").code == 0


def test_what_is_no_crd_is_refused_with_its_place(taugen, tmp_path):
    taugen("init", "acme", cwd=tmp_path)
    (tmp_path / "pod.yaml").write_text("apiVersion: v1\nkind: Pod\n")
    ran = taugen("schema", "import", "../pod.yaml", cwd=tmp_path / "acme")
    assert ran.code != 0
    assert "pod.yaml:1:1" in ran.err
    assert not (tmp_path / "acme/.taugen").exists()


def test_import_without_a_file_and_check_without_a_folder_are_usage(taugen, tmp_path):
    assert taugen("schema", "import", cwd=tmp_path).code == 2
    assert taugen("schema", "--check", cwd=tmp_path).code == 2
