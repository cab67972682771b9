"""What the model says about a draft -> findings in the project's words, one for each mistake.

In: pydantic's errors on canonical data. Out: findings at the place and under the name that the user typed, and the canonical paths that
must be left out so that the rest can be read. Pydantic's own sentences are never shown; a text that could be a secret is never repeated.
"""

from typing import Any

from pydantic_core import ErrorDetails

from taugen.diag import Diagnostic
from taugen.spec import fields, unknown
from taugen.spec.draft import Draft
from taugen.spec.types import kind_of
from taugen.words import Json, Path, dotted, suggest
from taugen.words.errors import as_list, shown
from taugen.words.kinds import BOUNDS, MOST_DIGITS, WANTED

MOST_EXPLAINED = 200
"""Findings of one document; further ones are counted."""
_EXAMPLES = {
    "text": "write one text",
    "whole": "write a whole number, such as 1",
    "number": "write a number, such as 0.5",
    "yes-or-no": "write true or false",
    "list": "write a list: [a, b], or one `- item` a line",
    "map": "write NAME: value lines below it",
}


_MEANT = {
    "run": "entrypoint: …",
    "code": "path: …",
    "runtime": "image: …",
    "compute": "gpus: …, gpu_class: …",
    "policy": "profile: …",
    "storage": "data: …",
    "checkpoint": "path: …",
    "execution": "launcher: …",
    "resilience": "max_retries: …",
    "experiment": "name: …",
    "model": "name: …",
}
"""What a section is meant to say where other systems (SkyPilot's run, Azure ML's code and compute) have one value."""


def translate(draft: Draft, errors: list[ErrorDetails]) -> set[Path]:
    """Add a finding for each error; returns what to leave out."""
    drop: set[Path] = set()
    ordinary = []
    for error in errors:
        path = tuple(part for part in error["loc"] if part != "[key]")
        if error["type"] == "extra_forbidden":
            draft.gone |= _unknown(draft, path) if _room(draft) else set()
            drop.add(field_of(path))
            continue
        ordinary.append((path, error))
    for path, error in ordinary:
        field = field_of(path[:-1] if error["type"] == "missing" else path)
        drop.add(field)
        if not (error["type"] == "missing" and path in draft.gone) and draft.as_typed(path) not in draft.lost and _room(draft):
            draft.findings.append(_finding(draft, path, error))
        draft.gone.add(field)
    return drop


def _room(draft: Draft) -> bool:
    """Whether one more finding is worth its price: thousands of them would take minutes, and nobody reads them."""
    draft.untold += len(draft.findings) >= MOST_EXPLAINED
    return len(draft.findings) < MOST_EXPLAINED


def field_of(path: Path) -> Path:
    """What has to go: the field, or the item of its outermost list."""
    at = next((i for i, part in enumerate(path) if isinstance(part, int)), len(path))
    return path[: at + 1]


def _unknown(draft: Draft, path: Path) -> set[Path]:
    typed = draft.as_typed(path)
    message, hint, meant = unknown.explain(path[:-1], str(path[-1]))
    draft.add("unknown-key", typed, message, hint, key=True)
    return {meant} if meant is not None else set()


def _finding(draft: Draft, path: Path, error: ErrorDetails) -> Diagnostic:
    typed = draft.as_typed(path)
    kind, context = error["type"], error.get("ctx", {})
    if kind == "missing":
        parent = draft.as_typed(path[:-1])
        known = fields.field(path)
        about = known.description if known is not None else ""
        hint = f"write {path[-1]}: {about[:1].lower()}{about[1:].rstrip('.')}"
        return Diagnostic(
            "field-missing", f"{dotted(parent)} has no {path[-1]}", draft.document.span(parent), dotted((*parent, path[-1])), hint
        )
    on_key = "[key]" in error["loc"] or kind in {"too_long", "too_short"}
    if kind in WANTED:
        rule, (message, hint) = "value-type", _type(draft, path, typed, error["input"], WANTED[kind])
    elif kind == "literal_error":
        rule, (message, hint) = "value-choice", _choice(path, typed, error["input"])
    elif kind in BOUNDS:
        name, word = BOUNDS[kind]
        rule, message, hint = (
            "value-range",
            f"{dotted(typed)} is {_cut(error['input'])}, but {word} {context[name]} is wanted",
            f"write {word} {context[name]}",
        )
    elif "why" in context:
        rule, message, hint = "value-form", f"{dotted(typed)}: {context['why']}", str(context.get("hint", ""))
    else:
        rule, (message, hint) = "value-form", _length(typed, kind, context)
    return Diagnostic(rule, message, draft.document.span(typed, key=on_key), dotted(typed), hint)


def _type(draft: Draft, path: Path, typed: Path, value: Any, wanted: str) -> tuple[str, str]:
    known = fields.field(path)
    message = f"{dotted(typed)} is {kind_of(value)}, but {wanted} is wanted"
    if value is None:
        return f"{dotted(typed)} is empty, but {wanted} is wanted", f"write {wanted}, or remove the line"
    text = draft.document.text(typed)
    if wanted == "text" and text is not None:
        return message, f'quote it: "{text}"'
    if wanted == "a mapping" and known is not None and known.model is not None:
        keys = f"its keys are {', '.join(fields.keys(path))}"
        meant = _MEANT.get(dotted(path)) if not isinstance(value, dict | list) else None
        return message, f"write {dotted(path)}: {{{meant}}}; {keys}" if meant else keys
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= MOST_DIGITS and wanted == "a whole number":
        return message, f"write {value} without quotes"
    if known is not None and known.shape == "list" and isinstance(value, str):
        return message, f"write {as_list(value)}" if path == ("run", "args") else f"write [{shown(value)}]"
    return message, _EXAMPLES.get(known.shape if known is not None else "", f"write {wanted}")


def _choice(path: Path, typed: Path, value: Any) -> tuple[str, str]:
    known = fields.field(path)
    choices = known.choices if known is not None else ()
    if not choices:
        return f"{dotted(typed)} is {kind_of(value)}, but 1 is the only version", "write schema_version: 1, or leave it out"
    near = suggest.closest(value, choices) if isinstance(value, str) else None
    words = suggest.one_of(choices)
    return f"{dotted(typed)} is {kind_of(value)}, but it can only be {words}", f"did you mean {near}?" if near else f"write {words}"


def _length(typed: Path, kind: str, context: dict[str, Any]) -> tuple[str, str]:
    name = dotted(typed)
    if kind == "string_too_short":
        return f"{name} is empty", "write a value, or remove the line"
    if kind == "string_too_long":
        return f"{name} is longer than {context['max_length']} characters", f"shorten it to {context['max_length']} characters"
    if kind == "too_long":
        return f"{name} has {context['actual_length']} items, but at most {context['max_length']} are allowed", "remove some"
    if kind == "too_short":
        return f"{name} has {context['actual_length']} items, but at least {context['min_length']} are wanted", "add some"
    if kind == "string_pattern_mismatch":
        return f"{name} is not a lower-case name", "write lower-case letters, digits and -, such as scratch-1"
    return f"{name} can't be read", "check its value against `taugen schema`"


def _cut(value: Json) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"{text[:20]}…"
