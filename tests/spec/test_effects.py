"""Every accepted field of tau.yaml has an effect: two documents that differ only there differ in an object, the environment or the
state."""

import pytest

from taugen.pipeline import schemas
from tools import effects


def leaves(node, defs, path=""):
    """The fields that hold a value, lists of mappings by their fields, free mappings as one."""
    node = {**defs[node["$ref"].removeprefix("#/$defs/")], **node} if "$ref" in node else node
    if "items" in node and node.get("type") == "array":
        item = node["items"]
        if "$ref" in item:
            yield from leaves(item, defs, f"{path}[]")
            return
    if node.get("properties"):
        for name, part in node["properties"].items():
            yield from leaves(part, defs, f"{path}.{name}" if path else name)
        return
    yield path


def every_leaf():
    schema = schemas.canonical_run()
    return set(leaves({k: v for k, v in schema.items() if k != "$defs"}, schema["$defs"]))


def test_the_table_has_every_field_and_no_other():
    assert every_leaf() == set(effects.PROBES) | set(effects.ELSEWHERE)
    assert not set(effects.PROBES) & set(effects.ELSEWHERE)


@pytest.mark.parametrize("field", effects.PROBES)
def test_a_field_changes_something(field):
    assert effects.effects(field)


def test_what_differs_nowhere_is_noticed(monkeypatch):
    monkeypatch.setitem(effects.PROBES, "run.args", effects.Probe("job", {}, ["1"], ["1"]))
    assert effects.effects("run.args") == []


def test_a_document_with_an_error_is_noticed(monkeypatch):
    monkeypatch.setitem(effects.PROBES, "run.args", effects.Probe("job", {}, ["1"], 7))
    with pytest.raises(ValueError, match=r"run\.args"):
        effects.effects("run.args")
