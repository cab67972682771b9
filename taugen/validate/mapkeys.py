"""Lists that Kubernetes keeps as maps.

In: a bundle and an object. Out: the items that repeat the key of an earlier one. Server-side apply, which Argo CD and Flux use, refuses the
whole object for one of them ("duplicate entries for key"); the rule is structured-merge-diff's for ``x-kubernetes-list-type: map``.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec import Struct, field

from taugen.validate.bundles import Schema
from taugen.words import Path


class Repeat(NamedTuple):
    """The item at `path` has the same `key` as the item `first` of the same list."""

    path: Path
    first: int
    key: dict[str, Any]


class Plan(Struct):
    """Where in an object such lists can be: only these ways are walked."""

    keys: dict[str, Any] | None = None
    children: dict[str, "Plan"] = field(default_factory=dict)
    rest: "Plan | None" = None
    items: "Plan | None" = None
    wanted: bool = True


def plan(bundle: Schema) -> Plan:
    """Make the plan of a bundle."""
    return _plan(bundle, bundle.get("$defs", {}), {})


def _plan(node: Any, defs: Schema, memo: dict[int, Plan]) -> Plan:
    while isinstance(node, dict) and "$ref" in node:
        node = defs.get(node["$ref"].removeprefix("#/$defs/"))
    if not isinstance(node, dict):
        return Plan(wanted=False)
    known = memo.get(id(node))
    if known is not None:
        return known
    made = memo[id(node)] = Plan(keys=node.get("x-keys"))
    for key, child in node.get("properties", {}).items():
        below = _plan(child, defs, memo)
        if below.wanted:
            made.children[key] = below
    made.rest = _wanted(node.get("additionalProperties"), defs, memo)
    made.items = _wanted(node.get("items"), defs, memo)
    made.wanted = bool(made.keys or made.children or made.rest or made.items)
    return made


def _wanted(node: Any, defs: Schema, memo: dict[int, Plan]) -> Plan | None:
    below = _plan(node, defs, memo)
    return below if below.wanted else None


def distinct(value: Any, node: Plan) -> bool:
    """Whether nothing is repeated below `value`: all that a good object pays for. Values of a wrong type are passed over."""
    if isinstance(value, dict):
        children, rest = node.children, node.rest
        for key, child in value.items():
            below = children.get(key, rest)
            if below is not None and not distinct(child, below):
                return False
    elif isinstance(value, list):
        if node.keys and len(value) > 1 and not _unlike(value, node.keys):
            return False
        if node.items is not None:
            for item in value:
                if not distinct(item, node.items):
                    return False
    return True


def _unlike(items: list[Any], keys: dict[str, Any]) -> bool:
    columns = [[item.get(key, default) for item in items if isinstance(item, dict)] for key, default in keys.items()]
    found: list[Any] = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
    try:
        return len(set(found)) == len(found)
    except TypeError:  # a key that is a list or a mapping: the schema says so
        return True


def repeats(value: Any, node: Plan, path: Path = ()) -> Iterator[Repeat]:
    """Each item that repeats a key, with its place."""
    if isinstance(value, dict):
        for key, child in value.items():
            below = node.children.get(key, node.rest)
            if below is not None:
                yield from repeats(child, below, (*path, key))
    elif isinstance(value, list):
        if node.keys:
            yield from _twice(value, node.keys, path)
        if node.items is not None:
            for position, item in enumerate(value):
                yield from repeats(item, node.items, (*path, position))


def _twice(items: list[Any], keys: dict[str, Any], path: Path) -> Iterator[Repeat]:
    seen: dict[str, int] = {}
    for position, item in enumerate(items):
        if not isinstance(item, dict):
            continue
        found = {key: item.get(key, default) for key, default in keys.items()}
        first = seen.setdefault(repr(list(found.values())), position)
        if first != position:
            yield Repeat((*path, position), first, found)
