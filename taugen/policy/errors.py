"""What pydantic found -> findings in the project's words.

In: a document, the model it was read with and pydantic's error list. Out: one finding for each error, at the place of the value (of the key, for a key
that should not be there). Pydantic's own sentences are never shown.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from taugen.diag import Diagnostic
from taugen.load.nodes import Document
from taugen.words import Path, confusables, dotted, suggest
from taugen.words.errors import shown

Guide = Callable[[Path, str], "tuple[str, str, str] | None"]
"""(path of the mapping, unknown key) -> (rule, message, hint) for a key that is known to mean something else; None: an ordinary unknown key."""

_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def findings(
    document: Document, prefix: Path, model: type[BaseModel], errors: Sequence[ErrorDetails], guide: Guide = lambda _path, _key: None
) -> list[Diagnostic]:
    """Translate the errors of `model` on the value at `prefix` of `document`."""
    found = []
    unknown: dict[Path, list[str]] = {}
    for error in sorted(errors, key=lambda e: e["type"] == "missing"):
        below = tuple(part for part in error["loc"] if part != "[key]")
        on_key = "[key]" in error["loc"] or error["type"] == "extra_forbidden"
        rule, message, hint = _words(document, model, below, (*prefix, *below), error, guide)
        path = (*prefix, *below)
        if error["type"] == "extra_forbidden":
            unknown.setdefault(below[:-1], []).append(hint)
        elif error["type"] == "missing" and any(re.search(rf"\b{below[-1]}\b", told) for told in unknown.get(below[:-1], ())):
            continue  # its misspelling is reported
        found.append(Diagnostic(rule, message, document.span(path, key=on_key), path=dotted(path), hint=hint))
    return found


def _words(document: Document, model: type[BaseModel], below: Path, path: Path, error: ErrorDetails, guide: Guide) -> tuple[str, str, str]:
    kind, context = error["type"], error.get("ctx", {})
    field = str(below[-1]) if below else "the document"
    if kind == "extra_forbidden":
        return guide(below[:-1], field) or _unknown(model, below[:-1], field)
    if kind == "missing":
        return "field-missing", f"{field} is missing", _describe(model, below)
    if kind in _WANTED:
        return "field-type", *_type(document, path, field, error, _WANTED[kind])
    if kind == "literal_error":
        return "field-value", *_literal(model, below, field, error)
    if "why" in context:
        return "field-value", f"{field}: {context['why']}" + _odd(error["input"]), str(context.get("hint", ""))
    return "field-value", *_limit(field, error, context)


def _unknown(model: type[BaseModel], below: Path, key: str) -> tuple[str, str, str]:
    known = fields(model, below)
    near = suggest.closest(key, known)
    message = f"unknown field {shown(key)}{_odd(key)}"
    return "field-unknown", message, f"did you mean {near}?" if near else f"the fields here are {', '.join(known)}"


def _type(document: Document, path: Path, field: str, error: ErrorDetails, wanted: str) -> tuple[str, str]:
    value = error["input"]
    typed = document.text(path)
    if value is None:
        return f"{field} is empty, but {wanted} is wanted", f"write {wanted}, or remove the line"
    if wanted == "text" and typed is not None:
        return f"{field} is {_named(value)}, but text is wanted", f'quote it: "{typed}"'
    if typed is not None and isinstance(value, str):
        plain = "true or false" if wanted == "true or false" else "digits" if "number" in wanted else wanted
        return f"{field} is the text {shown(value)}, but {wanted} is wanted", f"write {plain} without quotes" if plain != wanted else f"write {wanted}"
    return f"{field} is {_named(value)}, but {wanted} is wanted", f"write {wanted}"


def _named(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return f"the number {value}" if isinstance(value, int | float) else shown(str(value))


def _literal(model: type[BaseModel], below: Path, field: str, error: ErrorDetails) -> tuple[str, str]:
    choices = [str(c) for c in literals(model, below)]
    value = error["input"]
    near = suggest.closest(value, choices) if isinstance(value, str) else None
    hint = f"write {choices[0]}" if len(choices) == 1 else f"write one of {', '.join(choices)}"
    written = shown(value) + _odd(value) if isinstance(value, str) else _named(value)
    return f"{field} can't be {written}", f"did you mean {near}? {hint}" if near else hint


def _limit(field: str, error: ErrorDetails, context: Mapping[str, Any]) -> tuple[str, str]:
    value, kind = error["input"], error["type"]
    if kind in {"greater_than_equal", "greater_than"}:
        return f"{field} is {value}, but must be {'at least' if kind.endswith('equal') else 'more than'} {_number(next(iter(context.values())))}", ""
    if kind in {"less_than_equal", "less_than"}:
        return f"{field} is {value}, but may be {'at most' if kind.endswith('equal') else 'less than'} {_number(next(iter(context.values())))}", ""
    if kind in {"too_long", "string_too_long"}:
        unit = "characters" if kind.startswith("string") else "entries"
        return f"{field} has {len(value)} {unit}, but at most {context['max_length']} are allowed", ""
    if kind in {"too_short", "string_too_short"}:
        return f"{field} is empty", "write at least one" if kind == "too_short" else "write a value, or remove the line"
    if kind == "string_pattern_mismatch":
        return f"{field} can't be {shown(value)}{_odd(value)}", f"it must match {context['pattern']}"
    if kind == "finite_number":
        return f"{field} is not a finite number", "write a number"
    return f"{field} can't be {_named(value)}", ""


def _number(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _odd(value: object) -> str:
    found = confusables.confusable(value) if isinstance(value, str) else None
    return f" ({found})" if found else ""


def _describe(model: type[BaseModel], below: Path) -> str:
    owner = at(model, below[:-1])
    info = owner.model_fields.get(str(below[-1])) if owner is not None and below else None
    return f"add {below[-1]}: {info.description[0].lower()}{info.description[1:].rstrip('.')}" if info is not None and info.description else f"add {below[-1]}"


# ------------------------------------------------------------------------------------------------------------------ models


def fields(model: type[BaseModel], path: Path) -> list[str]:
    """The field names of the mapping at `path` of a model, in their order; none where a key can be anything."""
    owner = at(model, path)
    return [] if owner is None else list(owner.model_fields)


def at(model: type[BaseModel], path: Path) -> type[BaseModel] | None:
    """The model of the mapping at `path`, None where there is no such mapping or its keys are free."""
    return next((kind for kind in _kinds(model, path) if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def literals(model: type[BaseModel], path: Path) -> list[object]:
    """The values that the field at `path` may have, where they are listed."""
    from typing import Literal

    return [choice for kind in _kinds(model, path) if get_origin(kind) is Literal for choice in get_args(kind)]


def _kinds(model: type[BaseModel], path: Path) -> list[Any]:
    kinds: list[Any] = [model]
    for part in path:
        kinds = [plain for kind in kinds for below in _below(kind, part) for plain in _plain(below)]
    return kinds


def _below(kind: Any, part: str | int) -> Iterable[Any]:
    origin = get_origin(kind)
    if origin is list and isinstance(part, int):
        return get_args(kind)
    if origin is dict:
        return get_args(kind)[1:]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        info = kind.model_fields.get(str(part))
        return () if info is None else (info.annotation,)
    return ()


def _plain(kind: Any) -> Iterable[Any]:
    """A type without its annotations, the members of a union apart."""
    origin = get_origin(kind)
    if origin is Annotated:
        return _plain(get_args(kind)[0])
    if origin in {Union, UnionType}:
        return [plain for member in get_args(kind) for plain in _plain(member)]
    return [kind]
