import re

import pytest

from taugen.validate.backends import compile_fast, compile_reference
from taugen.validate.dialect import Compactor, Unsupported, go_pattern


def crd(schema):
    return Compactor(crd=True).schema(schema)


def built_in(schema):
    return Compactor(crd=False).schema(schema)


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"type": "string", "description": "x", "default": "a", "example": 1, "x-kubernetes-patch-strategy": "merge"}, TEXT),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": True, "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"type": "integer", "format": "int32"}, {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}),
        ({"type": "integer", "format": "int64"}, {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}),
        ({"type": "integer", "format": "int32", "minimum": 0, "maximum": 2**40}, {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}),
        ({"type": "integer", "minimum": 0, "exclusiveMinimum": True}, {"type": "integer", "exclusiveMinimum": 0}),
        ({"type": "number", "maximum": 1, "exclusiveMaximum": False, "format": "double"}, {"type": "number", "maximum": 1}),
        ({"type": "object"}, {"type": "object", "additionalProperties": False}),
        ({"type": "object", "properties": {"a": TEXT}}, {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False}),
        ({"type": "object", "additionalProperties": TEXT}, {"type": "object", "additionalProperties": TEXT}),
        ({"type": "object", "additionalProperties": True}, {"type": "object"}),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"type": "object"}),
        ({"x-kubernetes-preserve-unknown-fields": True}, {}),
        (
            {"type": "object", "properties": {"a": TEXT}, "x-kubernetes-preserve-unknown-fields": True},
            {"type": "object", "properties": {"a": TEXT}},
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True, "pattern": "^a$"},
            {"type": ["integer", "string"], "pattern": "^a$"},
        ),
        ({"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}, {"type": "array", "items": TEXT, "uniqueItems": True}),
        ({"type": "array", "items": TEXT, "x-kubernetes-list-type": "atomic"}, {"type": "array", "items": TEXT}),
        ({"type": "string", "pattern": "^(?i)(abort|warn)?$"}, {"type": "string", "pattern": "^(?i:(abort|warn)?$)"}),
        ({"type": "string", "x-kubernetes-validations": [{"rule": "self != ''"}]}, TEXT),
    ],
)
def test_what_becomes_of_a_structural_schema(given, wanted):
    assert crd(given) == wanted


def test_required_fields_with_a_default_are_filled_in_by_the_server():
    given = {"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "string", "default": "x"}, "b": TEXT}}
    assert crd(given)["required"] == ["b"]
    assert built_in(given)["required"] == ["a", "b"], "OpenAPI's defaults are the zeros of Go, not the server's"
    assert "required" not in crd({**given, "required": ["a"]})


def test_a_bare_built_in_object_is_free():
    assert built_in({"type": "object"}) == {"type": "object"}


def test_the_keys_of_a_list_that_is_a_map_are_kept_with_their_defaults():
    item = {"type": "object", "properties": {"port": {"type": "integer", "default": 0}, "protocol": {"type": "string", "default": "TCP"}}}
    given = {"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"]}
    assert crd(given)["x-keys"] == {"port": None, "protocol": "TCP"}


def test_parts_under_a_junctor_narrow_and_are_never_strict():
    given = {
        "type": "object",
        "properties": {"a": TEXT, "b": {"type": "integer"}},
        "oneOf": [{"required": ["a"], "properties": {"a": {"pattern": "^x$"}}}, {"required": ["b"]}],
        "not": {"required": ["a", "b"]},
    }
    out = crd(given)
    assert out["oneOf"] == [{"required": ["a"], "properties": {"a": {"pattern": "^x$"}}}, {"required": ["b"]}]
    assert out["not"] == {"required": ["a", "b"]}
    for compile_with in (compile_fast, compile_reference):
        check = compile_with(out)
        assert check({"a": "x"}) == []
        assert [breach.keyword for breach in check({"a": "y"})] == ["oneOf"]


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"type": "object", "properties": {"a": {"type": "object", "patternProperties": {}}}}, "a"),
        ({"type": "object", "properties": {"a": {"items": {"$ref": "http://x"}}}}, "a[]"),
        ({"type": "object", "additionalProperties": {"definitions": {}}}, "*"),
        ({"allOf": [{"dependencies": {}}]}, ".allOf"),
        ({"type": "string", "pattern": "(?U)a"}, ""),
        ({"type": "object", "properties": {"a": []}}, "a"),
    ],
)
def test_what_the_dialect_cannot_hold_is_refused_with_its_place(given, where):
    with pytest.raises(Unsupported) as caught:
        crd(given)
    assert caught.value.where == where


def test_a_schema_that_multiplies_itself_ends():
    node = {"type": "string"}
    for _ in range(40):
        node = {"allOf": [node, node]}
    with pytest.raises(Unsupported, match="too many parts"):
        Compactor(crd=True, budget=10_000).schema(node)


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("^a$", ["a"], ["a\n", "b"]),
        ("^[$]$", ["$"], ["$\n"]),
        (r"^\$$", ["$"], ["$\n"]),
        (r"^[\]$]$", ["$", "]"], ["$\n"]),
        (r"^[]$]$", ["$", "]"], ["]\n"]),
        ("a$|b", ["a", "b\n"], ["a\n"]),
        ("^(?i)warn$", ["WARN"], ["warm"]),
        (r"^\d$", ["1"], ["١"]),
        (r"^.{2}$", ["éé"], ["é"]),
    ],
)
def test_both_backends_read_patterns_as_go_does(pattern, good, bad):
    schema = {"pattern": go_pattern(pattern)}
    for compile_with in (compile_fast, compile_reference):
        check = compile_with(schema)
        assert [value for value in good if check(value)] == []
        assert [value for value in bad if not check(value)] == []


@pytest.mark.parametrize("schema", [{"pattern": "("}, {"type": "nothing"}, {"minimum": "a"}, {"properties": 3}])
def test_schemas_that_cannot_be_used_are_a_value_error(schema):
    for compile_with in (compile_fast, compile_reference):
        with pytest.raises(ValueError, match=r"."):
            compile_with(schema)


@pytest.mark.parametrize("name", ["", "0", "01"])
def test_fields_whose_names_look_like_positions_are_found(name):
    schema = {"properties": {name: {"type": "string"}}, "additionalProperties": False}
    for compile_with in (compile_fast, compile_reference):
        assert [breach.path for breach in compile_with(schema)({name: 1})] == [(name,)]


def test_references_lead_nowhere():
    schema = {"$ref": "http://127.0.0.1:9/x"}
    with pytest.raises(ValueError, match=re.escape("127.0.0.1")):
        compile_fast(schema)
    with pytest.raises(Exception, match=re.escape("127.0.0.1")):
        compile_reference(schema)({})
