"""Every leaf of the schema: a wrong type, a value out of its limit and a misspelling are one finding each, at their line."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jsonschema
import pytest

from taugen.diag import Diagnostic, Severity
from taugen.load.nodes import parse
from taugen.spec.read import read_file
from taugen.spec.schema import run_schema

SCHEMA = run_schema()
Steps = tuple[str | int, ...]


@dataclass(frozen=True)
class Leaf:
    """A place in the schema: the way to it (`#` for a map's key, 0 for a list's item), what it may be, a document that has it."""

    path: Steps
    kind: dict[str, Any]
    siblings: tuple[tuple[Steps, Any], ...]

    def __str__(self) -> str:
        return ".".join(map(str, self.path))


VALUES: dict[str, Any] = {
    "storage.volumes.0": "vol=pvc:claim",
    "policy.shape": "8xa100-80gb",
    "compute.gpu_resource_mode": "device-plugin",
    "runtime.env_secret.KEY": "wandb:api-key",
    "code.git.secret": "wandb:api-key",
}


def value_of(kind: dict[str, Any], path: Steps = ()) -> Any:
    """Some value that the schema allows."""
    name = ".".join(map(str, path))
    if name in VALUES:
        return VALUES[name]
    for option in kind.get("anyOf", ())[:1]:
        return value_of(option, path)
    if "number" in kind.get("type", ()) and "boolean" not in kind["type"]:
        return "16"
    if "examples" in kind:
        return kind["examples"][0]
    if "enum" in kind:
        return kind["enum"][0]
    if "const" in kind:
        return kind["const"]
    match kind.get("type"):
        case "object" if "properties" in kind:
            return {k: value_of(kind["properties"][k], (*path, k)) for k in kind.get("required", [])} or first_of(kind, path)
        case "object":
            return {"KEY": value_of(kind["additionalProperties"], (*path, "KEY"))} if kind.get("additionalProperties") else {}
        case "array":
            return [value_of(kind["items"], (*path, 0))]
        case "integer":
            return max(kind.get("minimum", 1), 1)
        case "boolean":
            return True
        case _:
            return "abc"


def first_of(kind: dict[str, Any], path: Steps) -> dict[str, Any]:
    name, sub = next(iter(kind["properties"].items()))
    return {name: value_of(sub, (*path, name))}


def leaves(kind: dict[str, Any], path: Steps = (), around: tuple[tuple[Steps, Any], ...] = ()) -> Iterator[Leaf]:
    """Every property, item and map value, sections included."""
    if path:
        yield Leaf(path, kind, around)
    for option in kind.get("anyOf", [kind]):
        if "properties" in option:
            for name, sub in option["properties"].items():
                need = tuple(((*path, k), value_of(option["properties"][k], (*path, k))) for k in option.get("required", ()) if k != name)
                yield from leaves(sub, (*path, name), (*around, *need))
        elif option.get("type") == "object" and isinstance(option.get("additionalProperties"), dict):
            yield from leaves(option["additionalProperties"], (*path, "KEY"), around)
        elif "array" in option.get("type", "") and isinstance(option.get("items"), dict):
            yield from leaves(option["items"], (*path, 0), around)


def options(kind: dict[str, Any]) -> list[dict[str, Any]]:
    return list(kind.get("anyOf", [kind]))


def types(kind: dict[str, Any]) -> set[str]:
    found: set[str] = set()
    for option in options(kind):
        if "enum" in option or "const" in option:
            values = option.get("enum", [option.get("const")])
            found |= {{"str": "string", "bool": "boolean", "int": "integer"}[type(v).__name__] for v in values}
        kinds = option.get("type", [])
        found |= {kinds} if isinstance(kinds, str) else set(kinds)
    return found


def wrong_type(kind: dict[str, Any]) -> Any:
    """A value of a type that the schema does not allow; None where all are."""
    allowed = types(kind)
    if not allowed:
        return None
    for name, value in (("integer", 7), ("string", "abc"), ("array", [1]), ("object", {"x": 1})):
        if name not in allowed and not (name == "integer" and "number" in allowed):
            return value
    return None


def beyond(kind: dict[str, Any]) -> Iterator[Any]:
    """Values just out of the limits."""
    several = len(options(kind)) > 1
    for option in options(kind):
        if "enum" in option and not (several and "pattern" in str(kind)):
            yield "zzz" if isinstance(option["enum"][0], str) else 99
        if "const" in option:
            yield "zzz" if isinstance(option["const"], str) else 1 + option["const"] if option["const"] else True
        if "minimum" in option:
            yield option["minimum"] - 1
        if "maximum" in option:
            yield option["maximum"] + 1
        if "pattern" in option and not several:
            yield "!!"
        if option.get("minLength"):
            yield ""
        if "maxLength" in option:
            yield "x" * (option["maxLength"] + 1)
        if option.get("minItems") and not option.get("minLength"):
            yield []
        if "maxItems" in option:
            yield [value_of(option["items"], ("storage", "image_assets", 0))] * (option["maxItems"] + 1)
        if option.get("maxProperties") == 0:
            yield {"harness": "x"}


def build(leaf: Leaf, value: Any, key: str | None = None) -> str:
    """A document with `value` at the leaf (under another `key`), all on lines of their own."""
    root: dict[str, Any] = {"name": "quick"}
    if leaf.path[:2] == ("storage", "volumes"):
        root["storage"] = {"mounts": ["vol:/data"]}
    for path, needed in leaf.siblings:
        put(root, path, needed)
    put(root, leaf.path[:-1] + ((key,) if key is not None else (leaf.path[-1],)), value)
    return emit(root)


def put(root: Any, path: Steps, value: Any) -> None:
    for step, after in pairwise(path):
        empty: Any = [] if isinstance(after, int) else {}
        if isinstance(step, int):
            if not root:
                root.append(empty)
            root = root[step]
        else:
            root = root.setdefault(step, empty)
    if isinstance(path[-1], int):
        root.append(value)
    else:
        root[path[-1]] = value


def emit(node: dict[str, Any], indent: int = 0, depth: int = 0) -> str:
    out = []
    for key, value in node.items():
        head = " " * indent + json.dumps(key) + ":"
        if isinstance(value, dict) and value and depth < 3:
            out.append(head + "\n" + emit(value, indent + 2, depth + 1))
        elif isinstance(value, list) and value and isinstance(value[0], dict) and value[0] and depth < 3:
            items = [emit(item, indent + 4, depth + 1) for item in value]
            out.append(head + "\n" + "\n".join(" " * (indent + 2) + "- " + item[indent + 4 :] for item in items))
        else:
            out.append(f"{head} {json.dumps(value)}")
    return "\n".join(out)


def line_of(text: str, path: Steps) -> int:
    return parse("f", text.encode())[0][0].span(path, key=True).line


def errors(text: str) -> list[Diagnostic]:
    docs, found = read_file("f", text.encode(), "w")
    found = [*found, *(d for doc in docs for d in doc.findings)]
    return [d for d in found if d.severity is Severity.ERROR]


ALL = [leaf for leaf in leaves(SCHEMA) if leaf.path not in {("name",), ("eval", "KEY")}]
TYPED = [leaf for leaf in ALL if wrong_type(leaf.kind) is not None]
LIMITED = [(leaf, value) for leaf in ALL if leaf.path != ("eval",) for value in beyond(leaf.kind)]
NAMED = [leaf for leaf in ALL if isinstance(leaf.path[-1], str) and leaf.path[-1] != "KEY"]


def shown(leaf: Leaf) -> str:
    return str(leaf)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert len(ALL) > 200


def test_everything_is_described() -> None:
    assert [str(leaf) for leaf in NAMED if not leaf.kind.get("description") and "valueFrom" not in leaf.path and 0 not in leaf.path] == []


def test_canonical_fields_have_defaults_or_say_them() -> None:
    assert SCHEMA["properties"]["generation"]["default"] == 1
    assert SCHEMA["properties"]["execution"]["properties"]["nodes"]["default"] == 1


@pytest.mark.parametrize("leaf", ALL, ids=shown)
def test_a_value_that_the_schema_allows_is_read(leaf: Leaf) -> None:
    value = value_of(leaf.kind, leaf.path)
    text = build(leaf, value)
    document = parse("f", text.encode())[0][0]
    jsonschema.validate(document.data, SCHEMA)
    if leaf.path[-1] == "gpu_resource_mode" or leaf.path == ("compute",):
        pass
    assert errors(text) == []


@pytest.mark.parametrize("leaf", TYPED, ids=shown)
def test_a_wrong_type_is_one_finding_at_its_line(leaf: Leaf) -> None:
    text = build(leaf, wrong_type(leaf.kind))
    found = errors(text)
    assert [d.span.line for d in found] == [line_of(text, leaf.path)], found
    assert found[0].hint


@pytest.mark.parametrize(("leaf", "value"), LIMITED, ids=[f"{leaf}={json.dumps(value)[:20]}" for leaf, value in LIMITED])
def test_a_value_out_of_its_limit_is_one_finding_at_its_line(leaf: Leaf, value: Any) -> None:
    text = build(leaf, value)
    found = errors(text)
    assert [d.span.line for d in found] == [line_of(text, leaf.path)], found
    assert found[0].hint


@pytest.mark.parametrize("leaf", NAMED, ids=shown)
def test_a_misspelling_is_one_finding_at_its_line(leaf: Leaf) -> None:
    name = str(leaf.path[-1])
    typo = f"{name}x"
    text = build(leaf, value_of(leaf.kind, leaf.path), typo)
    found = errors(text)
    path = (*leaf.path[:-1], typo)
    assert [(d.rule, d.span.line) for d in found] == [("unknown-key", line_of(text, path))], found
    assert name.casefold() in found[0].hint.replace("_", "").casefold() or name in found[0].hint
