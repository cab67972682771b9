"""Value types of tau.yaml and policy: what may be typed, and the one canonical form that comes out.

Each type is strict: a string is not a number. An error carries `why` (what is wrong) and `hint` (what to write instead) in its context;
`spec.errors` makes findings of them. A type never shows what was typed where that could be a secret.
"""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, GetCoreSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import (
    int_schema,
    no_info_after_validator_function,
    no_info_before_validator_function,
    str_schema,
)

from taugen.words import durations, quantity
from taugen.words.errors import TextError, shown
from taugen.words.regex import regex

_SECRET = regex(r"([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?):([-._a-zA-Z0-9]+)")
_ENV = regex(r"[A-Za-z_][A-Za-z0-9_]*")


class Form:
    """How a type is checked, said outright. From ``Field(min_length=1)`` or ``BeforeValidator(read)`` pydantic would find it out again at
    each of 300 fields, and look at the signature of `read` each time."""

    __slots__ = ("schema",)

    def __init__(self, schema: Callable[[], CoreSchema]) -> None:
        self.schema = schema

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return self.schema()


def read_by(read: Callable[[Any], str]) -> Form:
    """A text that `read` makes of what was typed."""
    return Form(lambda: no_info_before_validator_function(read, str_schema()))


def judged_by(judge: Callable[[str], str]) -> Form:
    """A text that `judge` lets pass."""
    return Form(lambda: no_info_after_validator_function(judge, str_schema()))


def text(longest: int, pattern: str | None = None) -> Form:
    """A text of 1 to `longest` characters."""
    return Form(lambda: str_schema(min_length=1, max_length=longest, pattern=pattern))


def whole(least: int, most: int) -> Form:
    """A whole number."""
    return Form(lambda: int_schema(ge=least, le=most))


def fault(kind: str, why: str, hint: str) -> PydanticCustomError:
    """An error of a value: `why` what is wrong, `hint` what to write instead."""
    return PydanticCustomError(kind, "{why}", {"why": why, "hint": hint})


def _quantity(unit: quantity.Unit, example: str) -> Any:
    def read(value: Any) -> str:
        if value.__class__ is not str and value.__class__ is not int and value.__class__ is not float:
            raise fault(
                "quantity", f"a quantity is wanted, not {kind_of(value)}", f"write a number with an optional unit, such as {example}"
            )
        try:
            return quantity.canonical(value, unit=unit)
        except TextError as error:
            raise fault("quantity", error.message, error.hint or f"write {example}") from None

    return read


def _duration(value: Any) -> str:
    if value.__class__ is not str:
        typed = f"{value} has no unit" if value.__class__ is int else f"a duration is wanted, not {kind_of(value)}"
        raise fault("duration", typed, f"write {value}s, {value}m or {value}h" if value.__class__ is int else "write 90s, 30m or 12h")
    try:
        return durations.canonical(value)
    except TextError as error:
        raise fault("duration", error.message, error.hint) from None


def _secret(value: Any) -> str:
    if value.__class__ is not str or not _SECRET.fullmatch(value):
        raise fault(
            "secret_ref",
            "a secret reference is SECRET:KEY",
            "write the Secret's name and the key in it, such as wandb:api-key; never the value",
        )
    return str(value)


def _env_name(value: Any) -> str:
    if not isinstance(value, str) or not _ENV.fullmatch(value):
        why = "the name of an environment variable is letters, digits and _, with no digit first"
        raise fault("env_name", why, "rename it, such as MY_VARIABLE")
    return value


def _scalar_text(value: Any) -> str:
    if value.__class__ is not str:
        raise fault("scalar_text", f"one value is wanted here, not {kind_of(value)}", 'write one value; "" is the empty text')
    return str(value)


def _entrypoint(value: Any) -> str | list[str]:
    if isinstance(value, str) and value:
        return value
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value) and value[0].strip():
        return value
    what = (
        "empty"
        if value in ("", []) or (isinstance(value, list) and isinstance(value[0], str) and not value[0].strip())
        else f"not {kind_of(value)}"
        if not isinstance(value, list)
        else "a list with something else than single values"
    )
    raise fault("entrypoint", f"an entrypoint is a file or a command as a list, {what}", "write train.py, or [python, -m, package.train]")


def _as_set(value: list[Any]) -> list[Any]:
    """A list whose order and repetitions mean nothing."""
    return sorted(set(value))


def _sorted(value: Any) -> Any:
    """Free-form data with its keys in order: what is made of it never depends on the order in which they were typed."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def kind_of(value: object) -> str:
    """The kind of a YAML value in words, with the value where it is a number."""
    match value:
        case None:
            return "nothing"
        case bool():
            return f"the yes-or-no value {str(value).lower()}"
        case int() | float():
            return f"the number {value}"
        case str():
            return f"the text {shown(value)}"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return type(value).__name__


def secret_parts(reference: str) -> tuple[str, str]:
    """(name of the Secret, key) of a valid `SecretRef`."""
    name, _, key = reference.partition(":")
    return name, key


_QUANTITY_SCHEMA: dict[str, Any] = {
    "type": ["string", "number"],
    "minimum": 0,
    "pattern": "^ *[0-9]*\\.?[0-9]*([eE][-+]?[0-9]+| *(m|k|K|M|G|T|P|E|[KMGTPE]i)?[bB]?) *$",
    "minLength": 1,
}
Text = Annotated[str, text(65536)]
ScalarText = Annotated[str, read_by(_scalar_text), WithJsonSchema({"type": ["string", "number", "boolean"]})]
"""A scalar whose typed text is kept: `spec.read` puts the text of the node in before this type sees it."""
Entrypoint = Annotated[
    str | list[str],
    BeforeValidator(_entrypoint),
    WithJsonSchema({"type": ["string", "array"], "minLength": 1, "minItems": 1, "items": {"type": ["string", "number", "boolean"]}}),
]
Name = Annotated[str, text(50, r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
Count = Annotated[int, whole(0, 100_000)]
PositiveCount = Annotated[int, whole(1, 100_000)]
CpuQuantity = Annotated[str, read_by(_quantity("cpu", "16 or 500m")), WithJsonSchema(_QUANTITY_SCHEMA | {"examples": ["16", "500m"]})]
MemoryQuantity = Annotated[str, read_by(_quantity("memory", "64Gi")), WithJsonSchema(_QUANTITY_SCHEMA | {"examples": ["64Gi"]})]
CountQuantity = Annotated[str, read_by(_quantity("count", "8")), WithJsonSchema(_QUANTITY_SCHEMA | {"examples": ["8"]})]
Duration = Annotated[
    str,
    read_by(_duration),
    WithJsonSchema({"type": "string", "pattern": "^([0-9]*\\.?[0-9]*(d|h|m|s|ms|us|ns))+$", "examples": ["30m", "72h"]}),
]
"""Canonical duration (hours, minutes, seconds); `durations.parse` gives seconds."""
SecretRef = Annotated[
    str,
    read_by(_secret),
    WithJsonSchema({"type": "string", "pattern": f"^{_SECRET.pattern}$", "maxLength": 300, "examples": ["wandb:api-key"]}),
]
EnvName = Annotated[str, read_by(_env_name), WithJsonSchema({"type": "string", "pattern": f"^{_ENV.pattern}$"})]
Sorted = AfterValidator(_sorted)
Tree = Annotated[dict[Text, object], Sorted]
"""Free-form data, keys sorted at every level."""
AsSet = AfterValidator(_as_set)
"""For a list whose order and repetitions mean nothing: it is kept sorted."""
ImageRef = Annotated[str, text(512)]
