"""Value types of policy documents, beside those that tau.yaml shares (`spec.types`).

In: values as YAML read them. Out: the same values, quantities in canonical text. A wrong value raises a pydantic error whose words
`policy.errors` turns into a finding; nothing is converted between types: a label value that reads as a number has to be quoted, as
Kubernetes itself demands.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from taugen.spec.types import judged_by, read_by
from taugen.words import names, quantity
from taugen.words.errors import shown


class Spec(BaseModel):
    """A mapping of a policy document: unknown keys are errors, values keep their types, nothing changes after reading."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)


def no_items() -> list[Any]:
    """An empty list, as a default. Not `list` itself: to see that a builtin takes no argument, pydantic has its text signature parsed, for
    which the tokenizer of Python is made ready."""
    return []


def no_entries() -> dict[str, Any]:
    """An empty mapping, as a default."""
    return {}


def _fault(what: str, why: str) -> PydanticCustomError:
    return PydanticCustomError("taugen", "{why}", {"why": what, "hint": why})


def _label_key(text: str) -> str:
    if not names.is_label_key(text):
        raise _fault(
            f"{shown(text)} is no label key",
            "write name or domain/name: letters, digits, -, _ and ., at most 63 in the name and 253 in the domain",
        )
    return text


def _label_value(text: str) -> str:
    if not names.is_label_value(text):
        raise _fault(
            f"{shown(text)} is no label value", "write at most 63 letters, digits, -, _ and ., with a letter or digit at both ends"
        )
    return text


def _dns_name(text: str) -> str:
    if not names.is_dns1123_label(text):
        long = f"{shown(text)} has {len(text)} characters" if len(text) > 63 else f"{shown(text)} is no name"
        raise _fault(long, "write at most 63 lower-case letters, digits and -, with a letter or digit at both ends")
    return text


def _object_name(text: str) -> str:
    if not names.is_dns1123_subdomain(text):
        raise _fault(
            f"{shown(text)} is no name of a Kubernetes object",
            "write lower-case letters, digits, - and ., with a letter or digit at both ends",
        )
    return text


def _quantity(value: Any) -> str:
    """Cores, bytes or things: which of them the resource's name tells, so that the rule `resource-quantity` looks at the unit."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _fault("a quantity is a number with an optional unit", "write for example 8, 500m or 64Gi")
    try:
        return quantity.canonical(value, unit="cpu")
    except quantity.QuantityError as first:
        try:
            return quantity.canonical(value, unit="memory")
        except quantity.QuantityError as error:
            worst = error if "bytes" in first.message else first
            raise _fault(worst.message, worst.hint) from None


def _bound(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        raise _fault("a single value is wanted here", "write for example 8, 64Gi or 12h")
    return str(value)


LabelKey = Annotated[str, judged_by(_label_key)]
"""A label key, a taint key, a resource name: apimachinery IsQualifiedName."""
LabelValue = Annotated[str, judged_by(_label_value)]
DnsName = Annotated[
    str, judged_by(_dns_name), Field(json_schema_extra={"pattern": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63})
]
"""A DNS-1123 label: it can stand in a label value (LocalQueues, priority tiers) and in a path."""
ObjectName = Annotated[str, judged_by(_object_name), Field(json_schema_extra={"maxLength": 253})]
"""A DNS-1123 subdomain: the name of an object that something else made."""
Amount = Annotated[str, read_by(_quantity), WithJsonSchema({"type": ["string", "number"], "examples": [8, "500m", "64Gi"]})]
"""A canonical quantity of a resource that its key names."""
Bound = Annotated[str, read_by(_bound), WithJsonSchema({"type": ["string", "number"], "examples": [8, "64Gi", "12h"]})]
"""A bound of an overridable field, as typed: the field's name tells what it counts."""
