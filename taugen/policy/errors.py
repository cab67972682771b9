"""What pydantic found -> findings in the project's words.

In: a document, the model it was read with and pydantic's error list. Out: one finding for each error, at the place of the value (of the
key, for a key that should not be there), and the paths to leave out so that the rest can be read. Pydantic's own sentences are never
shown.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from taugen.diag import Diagnostic
from taugen.load.nodes import Document
from taugen.words import Path, confusables, dotted, suggest
from taugen.words.errors import shown
from taugen.words.kinds import BOUNDS, MOST_DIGITS, WANTED

Words = tuple[str, str, str]
"""Rule, message, hint."""
Guide = Callable[[Path, str, object], "Words | None"]
"""(path, pydantic's kind of error, value) -> better words for a mistake that is known; None: an ordinary one."""


def findings(
    document: Document, prefix: Path, model: type[BaseModel], errors: Sequence[ErrorDetails], *, guide: Guide = lambda *_: None
) -> list[Diagnostic]:
    """Translate the errors of `model` on the value at `prefix` of `document`."""
    found = []
    unknown: dict[Path, list[str]] = {}
    for error in sorted(errors, key=lambda e: e["type"] == "missing"):
        below = place(error)
        rule, message, hint = _words(document, model, (*prefix, *below), below, error, guide=guide)
        if error["type"] == "extra_forbidden":
            unknown.setdefault(below[:-1], []).append(hint)
        elif error["type"] == "missing" and any(re.search(rf"\b{below[-1]}\b", told) for told in unknown.get(below[:-1], ())):
            continue  # its misspelling is reported
        path = (*prefix, *below)
        if any(path[: len(lost)] == lost for lost in document.lost):
            continue  # reading the text has said why
        on_key = "[key]" in error["loc"] or error["type"] == "extra_forbidden"
        found.append(Diagnostic(rule, message, document.span(path, key=on_key), path=dotted(path), hint=hint))
    return found


def dropped(errors: Sequence[ErrorDetails]) -> set[Path]:
    """The fields to leave out. An item of a list takes its whole list along: the others would move."""
    found = set()
    for error in errors:
        path = place(error)[:-1] if error["type"] == "missing" else place(error)
        at = next((i for i, part in enumerate(path) if isinstance(part, int)), len(path))
        found.add(path if error["type"] == "extra_forbidden" else path[:at])
    return found


def place(error: ErrorDetails) -> Path:
    """The path of an error, from where validation began."""
    return tuple(part for part in error["loc"] if part != "[key]")


def _words(document: Document, model: type[BaseModel], path: Path, below: Path, error: ErrorDetails, *, guide: Guide) -> Words:
    kind, context = error["type"], error.get("ctx", {})
    field = dotted(below[max((at for at, part in enumerate(below) if isinstance(part, str)), default=0) :]) if below else "the document"
    if (known := guide(below, kind, error["input"])) is not None:
        return known
    if kind == "extra_forbidden":
        return _unknown(model, below[:-1], field)
    if kind == "missing":
        return "field-missing", f"{dotted(path[:-1])} has no {field}", _describe(model, below)
    if kind in WANTED:
        return "value-type", *_type(document, path, field, error["input"], WANTED[kind])
    if kind == "literal_error":
        return "value-choice", *_literal(model, below, field, error["input"])
    if kind in BOUNDS:
        name, word = BOUNDS[kind]
        return (
            "value-range",
            f"{field} is {error['input']}, but {word} {_number(context[name])} is wanted",
            f"write {word} {_number(context[name])}",
        )
    if "why" in context:
        return "value-form", f"{field}: {context['why']}{_odd(error['input'])}", str(context.get("hint", ""))
    return "value-form", *_limit(field, error["input"], kind, context)


def _unknown(model: type[BaseModel], below: Path, key: str) -> Words:
    known = fields(model, below)
    near = suggest.closest(key, known)
    hint = f"did you mean {near}?" if near else f"the fields here are {', '.join(known)}"
    return "unknown-key", f"unknown field {shown(key)}{_odd(key)}", hint


def _type(document: Document, path: Path, field: str, value: object, wanted: str) -> tuple[str, str]:
    if value is None:
        return f"{field} is empty, but {wanted} is wanted", f"write {wanted}, or remove the line"
    typed = document.text(path)
    message = f"{field} is {_named(value)}, but {wanted} is wanted"
    if wanted == "text" and typed is not None:
        return message, f'quote it: "{typed}"'
    number = isinstance(value, str) and value.isascii() and value.strip("0").isdecimal() and len(value) <= MOST_DIGITS
    if isinstance(value, str) and number and wanted == "a whole number":
        return message, f"write {value.lstrip('0')} without quotes"
    if wanted == "a list" and isinstance(value, str):
        return message, f"write [{shown(value)}]"
    return message, f"write {wanted}"


def _named(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return f"the number {value}" if isinstance(value, int | float) else f"the text {shown(str(value))}"


def _literal(model: type[BaseModel], below: Path, field: str, value: object) -> tuple[str, str]:
    choices = [str(choice) for choice in literals(model, below)]
    near = suggest.closest(value, choices) if isinstance(value, str) else None
    written = shown(value) + _odd(value) if isinstance(value, str) else _named(value)
    message = f"{field} is {written}, but can only be {' or '.join(filter(None, (', '.join(choices[:-1]), choices[-1])))}"
    return message, f"did you mean {near}?" if near else f"write {choices[0]}"


def _limit(field: str, value: Any, kind: str, context: Mapping[str, Any]) -> tuple[str, str]:
    if kind in {"too_long", "string_too_long"}:
        unit = "characters" if kind.startswith("string") else "entries"
        return (
            f"{field} has {len(value)} {unit}, but at most {context['max_length']} are allowed",
            f"keep it to {context['max_length']} {unit}",
        )
    if kind in {"too_short", "string_too_short"}:
        return f"{field} is empty", "write at least one" if kind == "too_short" else "write a value, or remove the line"
    if kind == "finite_number":
        return f"{field} is not a finite number", "write a number"
    return f"{field} can't be {_named(value)}{_odd(value)}", f"it must match {context['pattern']}" if "pattern" in context else ""


def _number(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _odd(value: object) -> str:
    found = confusables.confusable(value) if isinstance(value, str) else None
    return f" ({found})" if found else ""


def _describe(model: type[BaseModel], below: Path) -> str:
    owner = at(model, below[:-1])
    info = owner.model_fields.get(str(below[-1])) if owner is not None else None
    text = info.description if info is not None else None
    return f"add {below[-1]}: {text[0].lower()}{text[1:].rstrip('.')}" if text else f"add {below[-1]}"


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
