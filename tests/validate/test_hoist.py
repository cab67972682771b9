import json
import random

from hypothesis import example, given
from hypothesis import strategies as st

from taugen.validate.hoist import HOIST_FROM, dump, hoist

BIG = {"type": "object", "properties": {f"field{i}": {"type": "string"} for i in range(12)}, "additionalProperties": False}


def pod(**more):
    return {"type": "object", "properties": {"container": BIG, "initContainer": BIG, **more}, "additionalProperties": False}


def inline(node, defs):
    if isinstance(node, dict):
        if "$ref" in node:
            return inline(defs[node["$ref"].removeprefix("#/$defs/")], defs)
        return {key: inline(value, defs) for key, value in node.items() if key != "$defs"}
    return [inline(value, defs) for value in node] if isinstance(node, list) else node


def test_what_stands_twice_is_named_once():
    out = hoist(pod())
    assert out["properties"] == {"container": {"$ref": "#/$defs/container"}, "initContainer": {"$ref": "#/$defs/container"}}
    assert out["$defs"] == {"container": BIG}


def test_what_stands_twice_only_inside_something_that_does_is_not_named_apart():
    once = {"type": "object", "properties": {"inner": BIG}, "additionalProperties": False}
    out = hoist({"properties": {"a": once, "b": once}})
    assert list(out["$defs"]) == ["a"]
    assert out["$defs"]["a"] == once


def test_small_parts_stay_where_they_are():
    small = {"type": "string", "maxLength": 63}
    assert len(json.dumps(small)) < HOIST_FROM
    assert "$defs" not in hoist({"properties": {"a": small, "b": small}})


def test_two_parts_that_would_have_one_name_get_two():
    other = {**BIG, "maxProperties": 3}
    out = hoist({"properties": {"x": {"properties": {"env": BIG, "e": other}}, "y": {"properties": {"env": other, "f": BIG}}}})
    assert sorted(out["$defs"]) == ["e", "env"]
    third = {**BIG, "maxProperties": 4}
    root = {
        "properties": {
            k: {"properties": {"env": v}} for k, v in (("a", BIG), ("b", BIG), ("c", other), ("d", other), ("e", third), ("f", third))
        }
    }
    for value in root["properties"].values():
        value["minProperties"] = random.randrange(10**9)
    assert sorted(hoist(root)["$defs"]) == ["env", "env-2", "env-3"]


def test_names_are_safe_in_a_reference():
    out = hoist({"properties": {"a/b~c d": BIG, "z": BIG}})
    assert list(out["$defs"]) == ["a_b_c_d"]


leaves = st.sampled_from([{"type": "string"}, BIG, {**BIG, "maxProperties": 2}])
trees = st.recursive(
    leaves,
    lambda inner: (
        st.dictionaries(st.sampled_from("abcd"), inner, min_size=1, max_size=4).map(lambda found: {"properties": found})
        | inner.map(lambda found: {"items": found})
        | st.lists(inner, min_size=1, max_size=2).map(lambda found: {"allOf": found})
    ),
    max_leaves=12,
)


def nested(*steps, inner=BIG):
    for step in reversed(steps):
        inner = {step: [inner]} if step == "allOf" else {step: inner}
    return inner


@given(trees)
@example({"properties": {"a": nested("items", "items"), "b": nested("items", "allOf"), "c": {"items": {"type": "string"}}}})
def test_hoisting_changes_no_meaning_and_is_a_function_of_the_content(tree):
    out = hoist(tree)
    assert inline(out, out.get("$defs", {})) == tree
    turned = json.loads(json.dumps(tree, sort_keys=True))
    assert dump(hoist(turned)) == dump(out)
    assert json.loads(dump(out)) == out
