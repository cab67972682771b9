"""Value types of tau.yaml and policy: what may be typed, and the one canonical form that comes out.

Each type is strict: a string is not a number. Errors carry what to write instead; `spec.errors` turns them into findings.
"""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from taugen.words import durations, names, quantity

_SECRET = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?:[-._a-zA-Z0-9]+")


def _quantity(unit: str) -> Any:
    def read(value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise PydanticCustomError("quantity", "a quantity is a number with an optional unit, such as {example}", {"example": _example(unit)})
        try:
            return quantity.canonical(value, unit=unit)  # type: ignore[arg-type]
        except quantity.QuantityError as error:
            raise PydanticCustomError("quantity", "{why}", {"why": str(error), "example": _example(unit)}) from None

    return read


def _example(unit: str) -> str:
    return {"memory": "64Gi", "cpu": "16 or 500m"}.get(unit, "8")


def _duration(value: Any) -> str:
    if not isinstance(value, str):
        raise PydanticCustomError("duration", "a duration needs a unit: write 90s, 30m or 12h")
    try:
        return durations.canonical(value)
    except ValueError as error:
        raise PydanticCustomError("duration", "{why}", {"why": str(error)}) from None


def _secret(value: str) -> str:
    if not _SECRET.fullmatch(value):
        raise PydanticCustomError("secret_ref", "a secret reference is SECRET:KEY")
    return value


def _env_name(value: str) -> str:
    if not names.is_env_name(value):
        raise PydanticCustomError("env_name", "an environment variable is letters, digits and _, not starting with a digit")
    return value


def _scalar_text(value: Any) -> str:
    if not isinstance(value, str):
        raise PydanticCustomError("scalar_text", "a single value is wanted here, not a list, a mapping or nothing")
    return value


Text = Annotated[str, Field(min_length=1, max_length=65536)]
ScalarText = Annotated[str, BeforeValidator(_scalar_text), WithJsonSchema({"type": ["string", "number", "boolean"]})]
"""A scalar whose typed text is kept: `dialect` puts the text of the node in before this type sees it."""
Name = Annotated[str, Field(min_length=1, max_length=50, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
Count = Annotated[int, Field(ge=0, le=100_000)]
PositiveCount = Annotated[int, Field(ge=1, le=100_000)]
CpuQuantity = Annotated[str, BeforeValidator(_quantity("cpu")), WithJsonSchema({"type": ["string", "number"], "examples": ["16", "500m"]})]
MemoryQuantity = Annotated[str, BeforeValidator(_quantity("memory")), WithJsonSchema({"type": ["string", "number"], "examples": ["64Gi"]})]
CountQuantity = Annotated[str, BeforeValidator(_quantity("count")), WithJsonSchema({"type": ["string", "number"], "examples": ["8"]})]
Duration = Annotated[str, BeforeValidator(_duration), WithJsonSchema({"type": "string", "examples": ["30m", "72h"]})]
"""Canonical Go duration; `durations.parse` gives seconds."""
SecretRef = Annotated[str, Field(min_length=3, max_length=300), BeforeValidator(lambda v: _secret(v) if isinstance(v, str) else v)]
EnvName = Annotated[str, BeforeValidator(lambda v: _env_name(v) if isinstance(v, str) else v)]
ImageRef = Annotated[str, Field(min_length=1, max_length=512)]
