"""The words for what an object breaks.

In: breaches of a schema and the object. Out: `SchemaFault` values that say what is there, what is allowed and, for a misspelt field, what
was probably meant. Never: an engine's own text, which differs between the two and between releases.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct

from taugen.validate.backends import Breach
from taugen.validate.bundles import QUANTITY, Schema
from taugen.words import Json, Path
from taugen.words.suggest import closest

_KINDS = {
    "object": "a mapping",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_LENGTHS = {
    "minLength": ("at least", "character", "characters"),
    "maxLength": ("at most", "character", "characters"),
    "minItems": ("at least", "item", "items"),
    "maxItems": ("at most", "item", "items"),
    "minProperties": ("at least", "field", "fields"),
    "maxProperties": ("at most", "field", "fields"),
}
_BOUNDS = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than", "exclusiveMaximum": "less than"}


class SchemaFault(Struct, frozen=True):
    """One thing that the API server would refuse. `path` leads to the value; to the mapping around it where a field is missing."""

    path: Path
    message: str
    unknown: str = ""
    """The field's name where the fault is a field that the schema doesn't have."""


def describe(breach: Breach, obj: Json) -> Iterator[SchemaFault]:
    """The faults of one breach: one for each unknown or missing field, else one."""
    value: Any = obj
    for step in breach.path:
        value = value[step]
    if breach.keyword == "additionalProperties":
        known = breach.part.get("properties", {})
        for name in value:
            if name not in known:
                yield SchemaFault((*breach.path, name), _unknown(name, known, top=not breach.path), name)
    elif breach.keyword == "required":
        for name in breach.part.get("required", ()):
            if name not in value:
                yield SchemaFault(breach.path, f"`{name}` is missing")
    else:
        words = _WORDS.get(breach.keyword, _other)
        yield SchemaFault(breach.path, words(breach, value))


def place_order(fault: SchemaFault) -> tuple[tuple[tuple[bool, int, str], ...], str]:
    """A sort key: by place, list positions as numbers, then by text."""
    return tuple((isinstance(p, str), p if isinstance(p, int) else 0, str(p)) for p in fault.path), fault.message


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The word that a misspelt one was probably meant to be; ``backoff_limit`` is `backoffLimit`."""
    return closest(re.sub("[_-]", "", name), sorted(known))


def show(value: Any) -> str:
    """A value as a manifest would hold it, shortened."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _unknown(name: str, known: Schema, *, top: bool) -> str:
    if top and name == "status":
        return "`status` is written by the cluster; a manifest leaves it out"
    meant = nearest(name, known)
    if meant:
        return f"there is no field `{name}`; did you mean `{meant}`?"
    listed = ", ".join(f"`{key}`" for key in sorted(known)[:8])
    more = f" and {len(known) - 8} more" if len(known) > 8 else ""
    return f"there is no field `{name}`; there are {listed}{more}" if known else f"there is no field `{name}`, nor any other here"


def _type(breach: Breach, value: Any) -> str:
    wanted = breach.part["type"]
    kinds = wanted if isinstance(wanted, list) else [wanted]
    text = f"must be {' or '.join(_KINDS[kind] for kind in kinds)}, but is {_kind(value)}"
    if "string" in kinds and isinstance(value, (bool, int, float)):
        return f'{text}: write "{show(value)}" in quotes'
    if isinstance(value, str) and "string" not in kinds and _reads_as(value, kinds):
        return f"{text}: write {value} without quotes"
    return f"{text} ({show(value)})" if not isinstance(value, (dict, list)) and value is not None else text


def _kind(value: Any) -> str:
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (dict, "object"), (list, "array")):
        if isinstance(value, kind):
            return _KINDS[name]
    return _KINDS["null"]


def _reads_as(text: str, kinds: list[str]) -> bool:
    if text in ("true", "false"):
        return "boolean" in kinds
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and ("integer" in kinds or "number" in kinds)


def _enum(breach: Breach, value: Any) -> str:
    allowed = [option for option in breach.part["enum"] if option is not None]
    meant = nearest(value, [o for o in allowed if isinstance(o, str)]) if isinstance(value, str) else None
    hint = f"; did you mean {show(meant)}?" if meant else ""
    return f"{show(value)} isn't one of {', '.join(map(show, allowed))}{hint}"


def _pattern(breach: Breach, value: Any) -> str:
    if breach.part["pattern"] == QUANTITY:
        return f"{show(value)} isn't a quantity such as 500m, 2 or 4Gi"
    return f"{show(value)} doesn't match {breach.part['pattern']}"


def _bound(breach: Breach, value: Any) -> str:
    return f"{show(value)} is out of range: {_BOUNDS[breach.keyword]} {breach.part[breach.keyword]} is allowed"


def _length(breach: Breach, value: Any) -> str:
    how, one, many = _LENGTHS[breach.keyword]
    limit = breach.part[breach.keyword]
    return f"has {len(value)} {one if len(value) == 1 else many}; {how} {limit} {'is' if limit == 1 else 'are'} allowed"


def _branches(breach: Breach, _value: Any) -> str:
    options = breach.part[breach.keyword]
    how = "exactly one" if breach.keyword == "oneOf" else "one"
    if all(set(option) == {"required"} for option in options):
        return f"{how} of these is needed: {', '.join(' with '.join(f'`{name}`' for name in option['required']) for option in options)}"
    return f"must fit {how} of {len(options)} alternatives: {' | '.join(map(show, options))}"


def _other(breach: Breach, value: Any) -> str:
    return f"{show(value)} breaks `{breach.keyword}: {show(breach.part.get(breach.keyword))}`"


_WORDS: dict[str, Callable[[Breach, Any], str]] = {
    "type": _type,
    "enum": _enum,
    "pattern": _pattern,
    "uniqueItems": lambda _breach, _value: "holds the same item twice",
    "anyOf": _branches,
    "oneOf": _branches,
    **dict.fromkeys(_LENGTHS, _length),
    **dict.fromkeys(_BOUNDS, _bound),
}
