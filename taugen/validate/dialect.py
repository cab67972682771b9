"""From the schemas that Kubernetes publishes to the small JSON Schema dialect of the bundles.

In: structural schemas (OpenAPI v2 or v3 with references resolved, or `openAPIV3Schema` of a CRD). Out: JSON Schema 2020-12 that uses only
the keywords of `KEYWORDS` and is strict: a field that the schema doesn't name is an error.
Never: a constraint dropped without a word. What is left out on purpose is in `SILENT`; any other keyword is `Unsupported`.

Two things differ from what a plain converter would do. Defaults are gone, as nothing here fills them in; a field of a CRD that is required
and has a default isn't required of a manifest, since the API server fills defaults before it validates. ``x-keys`` keeps the key fields of
``x-kubernetes-list-type: map``, for server-side apply refuses a list that repeats a key and JSON Schema can't say so.
"""

import re

from msgspec import Struct, field

from taugen.validate.bundles import Schema

# Copied as they are. Kubernetes reads them as JSON Schema does.
_PLAIN = ("enum", "maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties", "multipleOf", "required")
JUNCTORS = ("allOf", "anyOf", "oneOf")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_SHAPE = ("type", "properties", "items", "additionalProperties", "not", "pattern", "format", "nullable", "uniqueItems", *JUNCTORS, *_BOUNDS)
KEYWORDS = frozenset((*_PLAIN, *_SHAPE)) - {"format", "nullable"} | {"const", "$ref", "$defs", "$schema", "title", "x-keys", "x-source"}
"""Every keyword that a bundle may hold."""
SILENT = frozenset(("description", "default", "example", "title", "externalDocs", "id", "$schema"))
"""Keywords that constrain nothing, beside those that start with ``x-kubernetes-``."""

_FORMATS: dict[str, Schema] = {
    "int32": {"minimum": -(2**31), "maximum": 2**31 - 1},
    "int64": {"minimum": -(2**63), "maximum": 2**63 - 1},
    "byte": {"pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"},
    "date": {"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
    "date-time": {"pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$"},
}
"""Formats that become a pattern or a range. The others (uri, ipv4, double, …) are hints, and stay unchecked."""


_NUMBER, _LIST, _MAPPING = (int, float), (list,), (dict,)
_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties", "multipleOf", *_BOUNDS), _NUMBER),
    **dict.fromkeys(("enum", "required", "x-kubernetes-list-map-keys", *JUNCTORS), _LIST),
    **dict.fromkeys(("properties", "items", "not"), _MAPPING),
    **dict.fromkeys(("pattern", "format", "x-kubernetes-list-type"), (str,)),
    "type": (str, list),
    "additionalProperties": (dict, bool),
}


class Unsupported(ValueError):  # noqa: N818 - said of a schema
    """A schema says something that the dialect can't hold. `where` is the dotted place in the schema."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{why} at `{where or '.'}`")
        self.where = where
        self.why = why


class Compactor(Struct):
    """Compacts schemas of one kind of source.

    `crd`: the rules of CRDs (a bare object holds nothing, defaults excuse from `required`) or those of the built-in types. `budget`: parts
    that may still come, one that is shared counted at each of its places; an alias bomb ends there.
    """

    crd: bool
    budget: int = 1_000_000
    memo: dict[int, tuple[Schema, Schema, int]] = field(default_factory=dict)

    def schema(self, node: Schema, where: str = "") -> Schema:
        """Compact a schema with all below it. Raises `Unsupported`."""
        known = self.memo.get(id(node))
        if known is not None:
            self._spend(known[2], where)
            return known[1]
        before = self.budget
        self._check(node, where)
        out = self._values(node, where)
        if node.get("x-kubernetes-int-or-string"):
            out["type"] = ["integer", "string"]
            out.pop("anyOf", None)
        elif "type" in node:
            out["type"] = node["type"]
        self._object(node, out, where)
        self._list(node, out, where)
        if node.get("nullable"):
            _allow_null(out)
        # The node is kept with its result, or its id could come back as another's.
        self.memo[id(node)] = (node, out, before - self.budget)
        return out

    def _spend(self, parts: int, where: str) -> None:
        self.budget -= parts
        if self.budget < 0:
            raise Unsupported(where, "too many parts")

    def _check(self, node: Schema, where: str) -> None:
        self._spend(1, where)
        if not isinstance(node, dict):
            raise Unsupported(where, "a schema must be a mapping")
        for key in node:
            if key not in _SHAPE and key not in _PLAIN and key not in SILENT and not str(key).startswith("x-kubernetes-"):
                raise Unsupported(where, f"`{key}` has no place in a structural schema")
            if key in _TYPES and not isinstance(node[key], _TYPES[key]):
                raise Unsupported(where, f"`{key}` can't be {node[key]!r:.40}")
        names = [*node.get("properties", ()), *node.get("required", ()), *node.get("x-kubernetes-list-map-keys", ())]
        if not all(isinstance(name, str) for name in names):
            raise Unsupported(where, "the names of fields must be texts")

    def _values(self, node: Schema, where: str) -> Schema:
        """What constrains values, shapes of children included; all that is allowed under `allOf`, `anyOf`, `oneOf` and `not`."""
        out: Schema = {key: node[key] for key in _PLAIN if key in node}
        out.update(_range(node))
        if node.get("uniqueItems"):
            out["uniqueItems"] = True
        if "pattern" in node:
            out["pattern"] = go_pattern(str(node["pattern"]), where)
        for key in JUNCTORS:
            if key in node:
                out[key] = [self._junction(sub, f"{where}.{key}") for sub in node[key]]
        if "not" in node:
            out["not"] = self._junction(node["not"], f"{where}.not")
        return out

    def _junction(self, node: Schema, where: str) -> Schema:
        """A part under a junctor: it only narrows what the schema around it allows, so it is never strict by itself."""
        self._check(node, where)
        out = self._values(node, where)
        if "type" in node:
            out["type"] = node["type"]
        if isinstance(node.get("properties"), dict):
            out["properties"] = {key: self._junction(sub, f"{where}.{key}") for key, sub in node["properties"].items()}
        for key in ("items", "additionalProperties"):
            if isinstance(node.get(key), dict):
                out[key] = self._junction(node[key], f"{where}.{key}")
        return out

    def _object(self, node: Schema, out: Schema, where: str) -> None:
        free = node.get("x-kubernetes-preserve-unknown-fields") or node.get("x-kubernetes-embedded-resource")
        properties, rest = node.get("properties"), node.get("additionalProperties")
        if properties:
            out["properties"] = {key: self.schema(sub, f"{where}.{key}".lstrip(".")) for key, sub in properties.items()}
            if self.crd and "required" in out:
                out["required"] = [key for key in out["required"] if "default" not in properties.get(key, {})]
        if not out.get("required", True):
            del out["required"]
        if isinstance(rest, dict) and rest:
            out["additionalProperties"] = self.schema(rest, f"{where}.*".lstrip("."))
        elif rest is None and not free and node.get("type") == "object" and (properties or self.crd):
            out["additionalProperties"] = False

    def _list(self, node: Schema, out: Schema, where: str) -> None:
        items = node.get("items")
        if items is None:
            return
        if items:
            out["items"] = self.schema(items, f"{where}[]")
        kind = node.get("x-kubernetes-list-type")
        if kind == "set":
            out["uniqueItems"] = True
        elif kind == "map":
            known = items.get("properties", {})
            # OpenAPI v3 gives required fields the zero of their Go type as a default; only a real one stands in for a key that is left out.
            out["x-keys"] = {key: known.get(key, {}).get("default") or None for key in node.get("x-kubernetes-list-map-keys", ())}


def _range(node: Schema) -> Schema:
    """Bounds, and what the format implies. OpenAPI 3.0 says "exclusive" by a flag, 2020-12 by the number."""
    out: Schema = dict(_FORMATS.get(node.get("format", ""), {}))
    for key, flag, narrower in (("minimum", "exclusiveMinimum", max), ("maximum", "exclusiveMaximum", min)):
        if key in node and node.get(flag) is True:
            out[flag] = node[key]
        elif key in node:
            out[key] = narrower(node[key], out.get(key, node[key]))
    return out


def _allow_null(out: Schema) -> None:
    if "type" in out:
        kinds = out["type"] if isinstance(out["type"], list) else [out["type"]]
        out["type"] = [*kinds, "null"]
    if "enum" in out and None not in out["enum"]:
        out["enum"] = [*out["enum"], None]


def go_pattern(pattern: str, where: str = "") -> str:
    """A pattern of Go's regexp as both backends read it: flags in the middle become a group. Raises `Unsupported`."""
    found = re.match(r"(\^?)\(\?([imsU]+)\)(.*)$", pattern, re.DOTALL)
    if found:
        anchor, flags, rest = found.groups()
        if "U" in flags:
            raise Unsupported(where, f"pattern {pattern!r} uses Go's flag U")
        pattern = f"{anchor}(?{flags}:{rest})"
    return pattern
