import copy
import json
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from taugen.diag import Refused
from taugen.validate import importing
from taugen.validate.importing import import_crds
from taugen.validate.schemas import UnknownVersion, Validator
from tests.validate import schemagen

SPEC = {
    "type": "object",
    "required": ["size"],
    "properties": {
        "size": {"type": "integer", "format": "int32", "minimum": 1},
        "mode": {"type": "string", "enum": ["fast", "safe"]},
        "parts": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
        },
        "from": {
            "type": "object",
            "properties": {"git": {"type": "string"}, "image": {"type": "string"}},
            "oneOf": [{"required": ["git"]}, {"required": ["image"]}],
        },
    },
}


def schema(**spec):
    return {
        "type": "object",
        "description": "A widget.",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": {**SPEC, **spec},
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }


def crd(*versions, **over):
    rows = versions or ({"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema()}},)
    spec = {"group": "acme.dev", "names": {"kind": "Widget", "plural": "widgets"}, "scope": "Namespaced", "versions": list(rows), **over}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.acme.dev"},
        "spec": spec,
    }


def write(folder, *documents, name="crd.yaml"):
    path = folder / name
    path.write_text(yaml.safe_dump_all(documents))
    return path


def widget(**spec):
    return {"apiVersion": "acme.dev/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 1, **spec}}


def test_an_imported_kind_is_validated(tmp_path):
    into = tmp_path / ".taugen" / "schemas"
    assert import_crds([write(tmp_path, crd())], into) == [("acme.dev/v1", "Widget")]
    assert [path.name for path in into.iterdir()] == ["acme.dev_v1_Widget.json"]
    subject = Validator({}, [into])
    assert subject.knows("acme.dev/v1", "Widget")
    assert subject.faults(widget(mode="fast", parts=[{"name": "a"}, {"name": "b"}])) == []
    bad = widget(size=0, mode="slow", sise=2, parts=[{"name": "a"}, {"name": "a"}], **{"from": {}})
    found = [(fault.path, fault.message) for fault in subject.faults(bad)]
    assert found == [
        (("spec", "from"), "exactly one of these is needed: `git`, `image`"),
        (("spec", "mode"), '"slow" isn\'t one of "fast", "safe"'),
        (("spec", "parts", 1), 'repeats name "a" of `spec.parts[0]`: server-side apply refuses a list that holds the same key twice'),
        (("spec", "sise"), "there is no field `sise`; did you mean `size`?"),
        (("spec", "size"), "0 is out of range: at least 1 is allowed"),
    ]
    assert subject.reference_faults(bad) == subject.faults(bad)


def test_metadata_is_the_real_one_with_what_the_kind_says_about_names(tmp_path):
    root = schema()
    root["properties"]["metadata"] = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}}}
    import_crds([write(tmp_path, crd({"name": "v1", "served": True, "schema": {"openAPIV3Schema": root}}))], tmp_path / "out")
    subject = Validator({}, [tmp_path / "out"])
    obj = widget()
    obj["metadata"] = {"name": "too-long", "lables": {}}
    assert [fault.message for fault in subject.faults(obj)] == [
        "there is no field `lables`; did you mean `labels`?",
        "has 8 characters; at most 5 are allowed",
    ]


def test_only_served_versions_are_imported_and_lists_are_taken_apart(tmp_path):
    old = {"name": "v1alpha1", "served": False, "schema": {"openAPIV3Schema": schema()}}
    new = [{"name": name, "served": True, "schema": {"openAPIV3Schema": schema()}} for name in ("v1", "v2")]
    path = write(tmp_path, None, {"kind": "List", "items": [crd(old, *new), crd(group="other.dev")]})
    assert import_crds([path], tmp_path / "out") == [("acme.dev/v1", "Widget"), ("acme.dev/v2", "Widget"), ("other.dev/v1", "Widget")]


def test_json_files_are_files_too(tmp_path):
    path = tmp_path / "crd.json"
    path.write_text(json.dumps(crd()))
    assert import_crds([path], tmp_path / "out") == [("acme.dev/v1", "Widget")]


def test_equal_input_gives_equal_bytes_and_import_again_replaces(tmp_path):
    import_crds([write(tmp_path, crd())], tmp_path / "a")
    import_crds([write(tmp_path, crd(group="b.dev"), name="b.yaml")], tmp_path / "a")
    turned = json.loads(json.dumps(crd(), sort_keys=True))
    import_crds([write(tmp_path, turned)], tmp_path / "b")
    name = "acme.dev_v1_Widget.json"
    one, two = json.loads((tmp_path / "a" / name).read_bytes()), json.loads((tmp_path / "b" / name).read_bytes())
    assert one.pop("x-source").keys() == two.pop("x-source").keys() == {"product", "file", "sha256"}
    assert one == two
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [name, "b.dev_v1_Widget.json"]


def test_an_import_wins_over_what_ships_and_lets_a_newer_version_in(tmp_path):
    names = {"kind": "RayJob", "plural": "rayjobs"}
    import_crds([write(tmp_path, crd(group="ray.io", names=names))], tmp_path / "out")
    with pytest.raises(UnknownVersion):
        Validator({"kuberay": "1.9"})
    subject = Validator({"kuberay": "1.9"}, [tmp_path / "out"])
    obj = {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "a"}, "spec": {"size": 1}}
    assert subject.faults(obj) == []
    (fault,) = subject.faults({**obj, "spec": {"size": 1, "rayClusterSpec": {}}})
    assert fault.message.startswith("there is no field `rayClusterSpec`; there are"), "nothing is said about versions: the import has none"
    (fault,) = subject.faults({**obj, "kind": "RayCluster"})
    assert (
        fault.message == "there is no ray.io/v1 RayCluster for KubeRay 1.9, only for 1.6 and 1.7: run `taugen schema import` with its CRD"
    )


def refusal(files, into):
    with pytest.raises(Refused) as caught:
        import_crds(files, into)
    assert not into.exists(), "nothing is half written"
    return caught.value


BAD = {
    "tabs": (b"a:\n\tb: 1\n", 2, "isn't YAML"),
    "utf8": (b"kind: \xff\xfe", 1, "isn't YAML"),
    "nesting": (b"[" * 100_000, 1, "isn't YAML"),
    "text": (b"hello\n", 1, "a document must be a mapping"),
    "other-kind": (b"\n\nkind: Job\napiVersion: batch/v1\n", 3, "batch/v1 Job isn't a CustomResourceDefinition"),
    "old-api": (b"kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1beta1\n", 1, "apiextensions.k8s.io/v1beta1"),
    "no-spec": (b"kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\n", 1, "`group`, `names` and `versions` are needed"),
    "tag": (b"a: !!python/object:os.system {}\n", 1, "isn't YAML"),
    "date": (b"2026-99-99: x\n", 1, "isn't YAML"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_finding_with_its_place(tmp_path, name):
    content, line, message = BAD[name]
    path = tmp_path / "crd.yaml"
    path.write_bytes(content)
    (finding,) = refusal([path], tmp_path / "out").findings
    assert (finding.span.file, finding.span.line, finding.rule) == (str(path), line, "schema-import")
    assert message in finding.message
    assert finding.hint


def version(root, **more):
    return {"name": "v1", "served": True, "schema": {"openAPIV3Schema": root}, **more}


@pytest.mark.parametrize(
    ("document", "where", "message"),
    [
        (crd(group="batch"), "spec.group", "'batch' isn't a name"),
        (crd(group="../../etc"), "spec.group", "isn't a name"),
        (crd(names={"kind": "../x"}), "spec.names.kind", "isn't a name"),
        (crd(versions=["v1"]), "spec.versions[0]", "must be a mapping"),
        (crd(version(schema(), name="v/1")), "spec.versions[0].name", "isn't a name"),
        (crd({"name": "v1", "served": True}), "spec.versions[0].schema", "`openAPIV3Schema` is missing"),
        (crd(version(schema(patternProperties={}))), "spec.versions[0].schema.openAPIV3Schema.spec", "`patternProperties` has no place"),
        (crd(version(schema(properties={"a": {"$ref": "#/x"}}))), "spec.versions[0].schema.openAPIV3Schema.spec.a", "`$ref` has no place"),
        (crd(version(schema(properties={"a": {"type": "string", "pattern": "("}}))), "", "can't be used as a schema"),
        (crd(version(schema(properties={"a": {"type": "strin"}}))), "", "can't be used as a schema"),
        (crd(version(schema(required="size"))), "spec.versions[0].schema.openAPIV3Schema.spec", "`required` can't be 'size'"),
        (crd(version(schema(properties=["a"]))), "spec.versions[0].schema.openAPIV3Schema.spec", "`properties` can't be ['a']"),
        (crd(version(schema(properties={1: {}}))), "spec.versions[0].schema.openAPIV3Schema.spec", "must be texts"),
    ],
)
def test_a_bad_definition_is_one_finding_with_its_field(tmp_path, document, where, message):
    (finding,) = refusal([write(tmp_path, document)], tmp_path / "out").findings
    assert message in finding.message
    assert finding.path == where or not where


def places(value, path=()):
    yield path
    for key, child in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(child, (*path, key))


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(["object", "array", "("]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "items", "properties", "required", "a"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_whatever_stands_in_a_definition_it_is_imported_or_refused(data):
    document = copy.deepcopy(crd())
    *way, last = data.draw(st.sampled_from([path for path in places(document) if path]))
    schemagen.at(document, way)[last] = data.draw(junk)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crd.yaml"
        path.write_text(json.dumps(document))
        try:
            made = import_crds([path], Path(folder) / "out")
        except Refused:
            made = []
        else:
            subject = Validator({}, [Path(folder) / "out"])
            for api_version, kind in made:
                obj = {**widget(), "apiVersion": api_version, "kind": kind}
                assert subject.faults(obj) == subject.reference_faults(obj)


def test_all_findings_of_all_files_at_once_and_good_files_wait(tmp_path):
    files = [
        write(tmp_path, crd(), crd(group="x"), name="a.yaml"),
        write(tmp_path, crd(group="y"), {"kind": "Job"}, name="b.yaml"),
        tmp_path / "gone.yaml",
        tmp_path,
    ]
    found = [(finding.span.file.rsplit("/", 1)[-1], finding.span.line) for finding in refusal(files, tmp_path / "out").findings]
    assert [name for name, _ in found] == ["a.yaml", "b.yaml", "b.yaml", "gone.yaml", tmp_path.name]
    assert found[0][1] > 1


def test_an_alias_bomb_ends(tmp_path):
    levels = "\n".join(
        f"  l{i}: &l{i} {{type: object, properties: {{{', '.join(f'p{j}: *l{i - 1}' for j in range(9))}}}}}" for i in range(1, 12)
    )
    head = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nx:\n  l0: &l0 {type: string}\n"
    tail = "\nspec: {group: acme.dev, names: {kind: Widget}, versions: [{name: v1, served: true, schema: {openAPIV3Schema: *l11}}]}\n"
    path = tmp_path / "bomb.yaml"
    path.write_text(head + levels + tail)
    (finding,) = refusal([path], tmp_path / "out").findings
    assert "too many parts" in finding.message or "too deeply" in finding.message or "too large" in finding.message


def test_files_without_definitions_are_refused(tmp_path):
    empty = tmp_path / "empty.yaml"
    empty.write_text("---\n---\n")
    assert refusal([empty], tmp_path / "out").code == 2
    assert refusal([], tmp_path / "out").code == 2


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(importing, "MAX_FILE", 10)
    (finding,) = refusal([write(tmp_path, crd())], tmp_path / "out").findings
    assert "larger than" in finding.message


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(Refused, match="out"):
        import_crds([write(tmp_path, crd())], tmp_path / "out")
