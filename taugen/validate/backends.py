"""The two JSON Schema engines behind one shape.

In: a bundle. Out: a function that lists what an object breaks, as `Breach` values: the place in the object, the keyword, and the part of
the schema that holds it. Words are made elsewhere, so that both engines say the same. Never: a reference followed out of the bundle.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from taugen.validate import loading
from taugen.validate.bundles import Schema
from taugen.words import Json, Path


class Breach(NamedTuple):
    """An object breaks `keyword` of the schema `part` at `path`."""

    path: Path
    keyword: str
    part: Schema


Check: TypeAlias = Callable[[Json], list[Breach]]


def compile_fast(bundle: Schema) -> Check:
    """The engine of the hot path (jsonschema-rs). Raises ValueError for a schema it can't use, ImportError where it isn't installed.

    The check raises ValueError for what JSON can't hold.
    """
    jsonschema_rs = loading.load()
    try:
        # Go's regexp has no look-around either; the plain engine is linear in the text, so that no pattern can stall a compile.
        validator = jsonschema_rs.Draft202012Validator(bundle, retriever=_refuse, pattern_options=jsonschema_rs.RegexOptions())
    except jsonschema_rs.ValidationError as error:
        raise ValueError(error.message) from error

    def check(value: Json) -> list[Breach]:
        errors = list(validator.iter_errors(value))
        if errors and (_hides_places(value) or _hides_places(bundle)):
            return compile_reference(bundle)(value)
        return [Breach(tuple(e.instance_path), str(e.schema_path[-1]), _follow(bundle, e.schema_path[:-1])) for e in errors]

    return check


def compile_reference(bundle: Schema) -> Check:
    """The engine that the fast one is compared with (jsonschema). Raises ValueError for a schema it can't use."""
    import referencing
    from jsonschema.exceptions import SchemaError

    kind = _reference_class()
    try:
        kind.check_schema(bundle)
        # A pattern is compiled at its first use; a bad one must show now.
        for pattern in _patterns(bundle):
            _regex(pattern)
    except (SchemaError, re.error) as error:
        raise ValueError(str(error).splitlines()[0]) from error
    validator = kind(bundle, registry=referencing.Registry())

    def check(value: Json) -> list[Breach]:
        return [
            Breach(tuple(error.absolute_path), str(error.validator), error.schema if isinstance(error.schema, dict) else {})
            for error in validator.iter_errors(value)
        ]

    return check


def _hides_places(value: Json) -> bool:
    """Whether the fast engine's paths would lead elsewhere: it leaves out an empty key and takes digits for a list's position."""
    if isinstance(value, dict):
        return any(not key or key.removeprefix("+").isdigit() or _hides_places(below) for key, below in value.items())
    return isinstance(value, list) and any(map(_hides_places, value))


def _refuse(uri: str) -> Any:
    raise ValueError(f"refers to {uri}")


def _follow(bundle: Schema, way: Sequence[str | int]) -> Schema:
    part: Any = bundle
    for step in way:
        part = part[str(step) if isinstance(part, dict) else step]
    found: Schema = part
    return found


@cache
def _reference_class() -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    return extend(Draft202012Validator, {"pattern": _go_pattern})  # type: ignore[no-untyped-call]


def _go_pattern(_validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and not _regex(pattern).search(value):
        yield ValidationError(f"does not match {pattern}")


@cache
def _regex(pattern: str) -> "re.Pattern[str]":
    """Python's reading of a Go pattern: ``$`` is the end of the text there, and never before a last newline."""
    strict = re.sub(r"(\\.)|(\[\^?\]?(?:\\.|[^\]\\])*\])|\$", lambda found: found[0] if found[1] or found[2] else r"\Z", pattern)
    return re.compile(strict, re.ASCII)


def _patterns(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "pattern" and isinstance(value, str):
                yield value
            else:
                yield from _patterns(value)
    elif isinstance(node, list):
        for value in node:
            yield from _patterns(value)
