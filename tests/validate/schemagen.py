"""Objects from schemas, good and broken on purpose: what the two backends are compared on.

A full object has every field that a bundle names. A part of a schema that has been filled once is filled with its required fields alone
when it is met again, or pods would multiply; the second meeting differs in nothing but its place.
"""

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any

WORDS = (
    "a", "1", "1Gi", "1s", "aa", "a/b", "https://a", "http://a", "oci://a", "ssh://a", "abort", "sha256:ab", "1MB", "2026-01-01T00:00:00Z",
    "YWE=", "Memory", "readiness.k8s.io/a",
)  # fmt: skip


def resolve(node: dict[str, Any], bundle: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        node = bundle["$defs"][node["$ref"].removeprefix("#/$defs/")]
    return node


def kinds(node: dict[str, Any]) -> list[str]:
    found = node.get("type", [])
    return found if isinstance(found, list) else [found]


class Builder:
    def __init__(self, bundle: dict[str, Any]) -> None:
        self.bundle = bundle
        self.seen: set[int] = set()

    def make(self, node: dict[str, Any], *, full: bool) -> Any:
        node = resolve(node, self.bundle)
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return node["enum"][0]
        kind = next(iter(kinds(node)), "object")
        if kind == "object":
            return self.mapping(node, full=full)
        if kind == "array":
            return [self.make(node.get("items", {"type": "string"}), full=full)] * max(1, node.get("minItems", 1))
        if kind in ("integer", "number"):
            return max(node.get("minimum", 1), 1)
        return self.text(node) if kind == "string" else True

    def mapping(self, node: dict[str, Any], *, full: bool) -> dict[str, Any]:
        full = full and id(node) not in self.seen
        self.seen.add(id(node))
        properties = node.get("properties", {})
        out = {key: self.make(child, full=full) for key, child in properties.items() if full or key in node.get("required", ())}
        if not properties:
            rest = node.get("additionalProperties")
            out = {"k": self.make(rest, full=full)} if isinstance(rest, dict) else {}
        return out

    def text(self, node: dict[str, Any]) -> str:
        low, high = node.get("minLength", 0), node.get("maxLength", 10**6)
        for word in WORDS:
            if low <= len(word) <= high and re.search(node.get("pattern", ""), word):
                return word
        raise AssertionError(f"no word for {node}")


def minimal(bundle: dict[str, Any]) -> dict[str, Any]:
    return Builder(bundle).make(bundle, full=False)


def full(bundle: dict[str, Any]) -> dict[str, Any]:
    return copy.deepcopy(Builder(bundle).make(bundle, full=True))


Visit = tuple[tuple[str | int, ...], dict[str, Any], Any]


def walk(value: Any, node: dict[str, Any], bundle: dict[str, Any], path: tuple[str | int, ...] = ()) -> Iterator[Visit]:
    """(place, schema, value) of every part of an object, children after their parents."""
    node = resolve(node, bundle)
    yield path, node, value
    if isinstance(value, dict):
        for key, child in value.items():
            below = node.get("properties", {}).get(key, node.get("additionalProperties"))
            if isinstance(below, dict):
                yield from walk(child, below, bundle, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            if "items" in node:
                yield from walk(child, node["items"], bundle, (*path, index))


Paths = set[tuple[str | int, ...]]
Breaker = Callable[[dict[str, Any], Any], Any]
"""From a schema and a good value to a broken one, or `KEEP`."""

KEEP = object()


def wrong_type(node: dict[str, Any], value: Any) -> Any:
    if "type" not in node or isinstance(value, (dict, list)):
        return KEEP
    return {"a": 1} if "string" in kinds(node) or "boolean" in kinds(node) else "not a number"


def null(node: dict[str, Any], value: Any) -> Any:
    return KEEP if "null" in kinds(node) or "type" not in node or isinstance(value, (dict, list)) else None


def number_as_text(node: dict[str, Any], value: Any) -> Any:
    return str(value) if kinds(node) == ["integer"] else KEEP


def text_as_number(node: dict[str, Any], value: Any) -> Any:
    return 7 if kinds(node) == ["string"] else KEEP


def outside(node: dict[str, Any], value: Any) -> Any:
    if "enum" in node and isinstance(value, str):
        return value + "x"
    return "\n" if "pattern" in node and "string" in kinds(node) and not re.search(node["pattern"], "\n") else KEEP


def newline(node: dict[str, Any], value: Any) -> Any:
    """Python's ``$`` would let a last newline through."""
    if not isinstance(value, str) or not node.get("pattern", "").endswith("$"):
        return KEEP
    return KEEP if re.search(node["pattern"][:-1] + r"\Z", value + "\n") else value + "\n"


def too_low(node: dict[str, Any], value: Any) -> Any:
    return node["minimum"] - 1 if "minimum" in node else KEEP


def too_high(node: dict[str, Any], value: Any) -> Any:
    return node["maximum"] + 1 if "maximum" in node else KEEP


def too_long(node: dict[str, Any], value: Any) -> Any:
    if "maxLength" in node and "pattern" not in node and isinstance(value, str):
        return "a" * (node["maxLength"] + 1)
    return KEEP


def too_short(node: dict[str, Any], value: Any) -> Any:
    return "" if node.get("minLength", 0) > 0 and "pattern" not in node else KEEP


BREAKERS: tuple[Breaker, ...] = (wrong_type, null, number_as_text, text_as_number, outside, newline, too_low, too_high, too_long, too_short)


def broken(good: dict[str, Any], bundle: dict[str, Any], breaker: Breaker) -> tuple[dict[str, Any], Paths]:
    """A copy with every part broken that the breaker can break, and their places."""
    bad, places = copy.deepcopy(good), set()
    for path, node, value in walk(good, bundle, bundle):
        changed = breaker(node, value) if path and path[0] not in ("apiVersion", "kind") else KEEP
        if changed is not KEEP:
            put(bad, path, changed)
            places.add(path)
    return bad, places


def misspelt(good: dict[str, Any], bundle: dict[str, Any]) -> tuple[dict[str, Any], Paths]:
    """A field too many in every strict mapping."""
    bad, places = copy.deepcopy(good), set()
    for path, node, _value in walk(good, bundle, bundle):
        if node.get("additionalProperties") is False:
            at(bad, path)["zzNotAField"] = 1
            places.add((*path, "zzNotAField"))
    return bad, places


def incomplete(good: dict[str, Any], bundle: dict[str, Any]) -> tuple[dict[str, Any], Paths]:
    """A required leaf less in every mapping that has one."""
    bad, places = copy.deepcopy(good), set()
    for path, node, value in walk(good, bundle, bundle):
        leaves = [key for key in node.get("required", ()) if not isinstance(value[key], (dict, list)) and key not in ("apiVersion", "kind")]
        if path and leaves:
            del at(bad, path)[leaves[0]]
            places.add(path)
    return bad, places


def doubled(good: dict[str, Any], bundle: dict[str, Any]) -> tuple[dict[str, Any], Paths]:
    """The first item twice in every list that is a map or a set."""
    bad, places = copy.deepcopy(good), set()
    for path, node, value in walk(good, bundle, bundle):
        keyed, unique = node.get("x-keys"), node.get("uniqueItems")
        if (keyed or unique) and len(value) < node.get("maxItems", 2):
            at(bad, path).append(copy.deepcopy(value[0]))
            places.add((*path, len(value)) if keyed else path)
    return bad, places


def at(obj: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        obj = obj[step]
    return obj


def put(obj: Any, path: tuple[str | int, ...], value: Any) -> None:
    at(obj, path[:-1])[path[-1]] = value
