"""Scalars that count as text keep the text that was typed.

In: a `Draft` with canonical names. Out: `7e-2`, `3.10` and `true` in env, args, labels, a command, node affinity and (for a program's
flags) configs as written, and a finding for each plain scalar that YAML 1.1 tools read as something else (`no`, `22:22`, `0755`,
`2026-01-01`).
"""

from typing import Any

from taugen.spec import fields
from taugen.spec.draft import MISSING, Draft
from taugen.words import Json, Path, dotted, suggest

_MAPS: tuple[Path, ...] = (("labels",), ("runtime", "env"))
_LISTS: tuple[Path, ...] = (("run", "args"), ("run", "entrypoint"))
_CONFIGS: Path = ("execution", "configs")


def restore(draft: Draft) -> None:
    """Put typed texts in place of resolved scalars."""
    for path in _MAPS:
        _restore(draft, path)
    for path in _LISTS:
        _restore(draft, path)
    terms = draft.get(("policy", "node_affinity"))
    if terms.__class__ is list:
        _affinity(draft, terms)
    if draft.get(_CONFIGS) is not MISSING and _are_flags(draft):
        _restore(draft, _CONFIGS)


def _restore(draft: Draft, path: Path) -> None:
    value = draft.get(path)
    if value.__class__ is dict:
        wrong = [key for key, item in value.items() if item.__class__ is not str]
    elif value.__class__ is list:
        wrong = [at for at, item in enumerate(value) if item.__class__ is not str]
    else:
        return
    if not wrong:
        return
    out: Any = dict(value) if isinstance(value, dict) else list(value)
    for key in wrong:
        out[key] = _text(draft, (*path, key), out[key])
    parent = draft.own(path[:-1])
    if parent is not None:
        parent[str(path[-1])] = out


def _text(draft: Draft, path: Path, value: Json) -> Json:
    """The typed text of a resolved scalar; nothing, lists and mappings stay for the model to refuse."""
    if value is None or isinstance(value, list | dict):
        return value
    text = draft.document.text(draft.as_typed(path))
    return value if text is None else text


def _affinity(draft: Draft, terms: Any) -> None:
    out = []
    for at, term in enumerate(terms):
        values = term.get("values") if isinstance(term, dict) else None
        if isinstance(values, list) and any(v.__class__ is not str for v in values):
            path: Path = ("policy", "node_affinity", at, "values")
            term = {**term, "values": [_text(draft, (*path, i), v) for i, v in enumerate(values)]}  # noqa: PLW2901
        out.append(term)
    parent = draft.own(("policy",))
    if parent is not None:
        parent["node_affinity"] = out


def _are_flags(draft: Draft) -> bool:
    """Whether configs are flags (python, torchrun) and not ray-train sections or a search space."""
    launcher = draft.get(("execution", "launcher"))
    if launcher in (MISSING, None):
        return draft.get(("run", "workload_kind")) != "rayjob"
    return launcher not in ("ray-train", "ray-tune")


def traps(draft: Draft) -> frozenset[Path]:
    """A finding for each ambiguous scalar of a known field; returns the canonical paths: what is there is left out, not found wrong
    twice."""
    back = {typed: path for path, typed in draft.typed.items()}
    found = set()
    for typed, text, kind in draft.document.traps:
        path = next(((*back[typed[:n]], *typed[n:]) for n in range(len(typed), 0, -1) if typed[:n] in back), typed)
        known = fields.field(path)
        if known is None:
            continue
        draft.add("yaml-ambiguous", typed, f"{dotted(typed)}: {text} is {kind} to other YAML readers", _hint(known, text))
        found.add(path)
    return frozenset(found)


def _hint(known: fields.Field, text: str) -> str:
    shape = known.shape
    if shape == "yes-or-no":
        return "write true or false"
    if shape in ("whole", "number", "quantity") and text.lstrip("+-0_").isdecimal():
        return f"write {text.lstrip('+0_')} without the leading zero, or quote this"
    if shape == "whole":
        return "write a whole number, such as 1"
    if shape == "quantity":
        return "write a number and a unit, such as 64Gi, 500m or 8"
    if shape == "duration":
        return "write a number with a unit, such as 90m"
    if shape == "choice":
        return f"write {suggest.one_of(known.choices)}"
    return f'quote this: "{text}"'
