"""runtime.env as the managed dialect writes it: a list of {name, value} or {name, valueFrom.secretKeyRef}.

In: a `Draft`. Out: `runtime.env` and `runtime.env_secret` as maps, with the way back to each entry. A map stays as it is.
"""

from typing import Any

from taugen.spec.draft import Draft
from taugen.spec.types import kind_of
from taugen.words import Json, Path, dotted, suggest
from taugen.words.names import printable

_ENV: Path = ("runtime", "env")


def read(draft: Draft) -> None:
    """Turn a list into maps."""
    runtime = draft.data.get("runtime")
    if runtime.__class__ is not dict or runtime.get("env").__class__ is not list:
        return
    section = draft.own(("runtime",))
    if section is None:
        return
    entries: Any = section.pop("env")
    literals: dict[str, Json] = {}
    secrets: dict[str, Json] = {}
    seen: dict[str, Path] = {}
    if entries:
        draft.older(_ENV, "runtime.env as a map of NAME: value, and runtime.env_secret of NAME: SECRET:KEY", "runtime.env as a list")
    for at, entry in enumerate(entries):
        name = _entry(draft, at, entry, literals, secrets)
        if name is None:
            continue
        if name in seen:
            draft.add("env-twice", (*_ENV, at), f"{name} is set twice", "keep one of the two", other=seen[name])
        seen.setdefault(name, (*_ENV, at))
    if literals:
        section["env"] = literals
    if secrets:
        _merge(draft, section, secrets)


def _entry(draft: Draft, at: int, entry: Any, literals: dict[str, Json], secrets: dict[str, Json]) -> str | None:
    here: Path = (*_ENV, at)
    if not isinstance(entry, dict):
        draft.add(
            "value-type",
            here,
            f"an entry of runtime.env is {kind_of(entry) if not isinstance(entry, str) else 'text'}",
            "write NAME: value lines",
        )
        return None
    known = _known(draft, here, entry, ("name", "value", "valueFrom"))
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        if known:
            draft.add("field-missing", here, "this entry of runtime.env has no name", "write NAME: value")
        return None
    source = entry.get("valueFrom")
    if source is None:
        literals.setdefault(name, entry.get("value", ""))
        draft.typed.setdefault((*_ENV, name), (*here, "value"))
        return name
    if "value" in entry:
        draft.add("env-twice", here, f"{name} has a value and a valueFrom", "keep one of the two")
        return name
    reference = _reference(draft, (*here, "valueFrom"), source)
    if reference is not None:
        secrets.setdefault(name, reference)
        draft.typed.setdefault(("runtime", "env_secret", name), (*here, "valueFrom", "secretKeyRef"))
    return name


def _known(draft: Draft, here: Path, entry: dict[str, Any], keys: tuple[str, ...]) -> bool:
    """Whether the entry has only these keys; a finding for each other one."""
    strange = [key for key in entry if key not in keys]
    for key in strange:
        near = suggest.closest(key, keys)
        hint = f"did you mean {near}?" if near else f"the keys here are {', '.join(keys)}"
        draft.add("unknown-key", (*here, key), f"unknown key {printable(key)[:60]} in {dotted(here)}", hint, key=True)
    return not strange


def _reference(draft: Draft, here: Path, source: Any) -> str | None:
    hint = "write valueFrom: {secretKeyRef: {name: SECRET, key: KEY}}, or better NAME: SECRET:KEY in runtime.env_secret"
    if not isinstance(source, dict):
        draft.add("value-type", here, f"{dotted(here)} is {kind_of(source)}, but a mapping is wanted", hint)
        return None
    if "secretKeyRef" not in source and source.keys() & {"configMapKeyRef", "fieldRef", "resourceFieldRef", "fileKeyRef"}:
        draft.add("value-form", here, "only a secretKeyRef can be the source of a variable", hint)
        return None
    if not _known(draft, here, source, ("secretKeyRef",)):
        return None
    ref, at = source.get("secretKeyRef"), (*here, "secretKeyRef")
    if not isinstance(ref, dict):
        draft.add("value-type", at, "a secretKeyRef is a mapping with a name and a key", hint)
        return None
    if not _known(draft, at, ref, ("name", "key")):
        return None
    for key in ("name", "key"):
        if not isinstance(ref.get(key), str) or not ref[key]:
            where = (*at, key) if key in ref else at
            draft.add("value-type" if key in ref else "field-missing", where, f"a secretKeyRef needs the {key} as text", hint)
            return None
    return f"{ref['name']}:{ref['key']}"


def _merge(draft: Draft, section: dict[str, Json], secrets: dict[str, Json]) -> None:
    """The list's secrets beside those of the map; a name in both is one too many."""
    there = section.get("env_secret")
    if there is None:
        section["env_secret"] = secrets
        return
    if not isinstance(there, dict):
        return
    for name in secrets.keys() & there.keys():
        typed = draft.typed.pop(("runtime", "env_secret", name))
        draft.add("env-twice", typed, f"{name} is set twice", "keep one of the two", other=("runtime", "env_secret", name))
    section["env_secret"] = secrets | there
