"""JSON Schemas of every document, made from the models that read them.

In: the models. Out: self-contained draft 2020-12 schemas for editors and for other tools. That of runs also takes the older spellings that
`taugen check` takes, marked deprecated. Never: a reference out of the file.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel

from taugen.policy import model
from taugen.spec.model import RunSpec
from taugen.spec.schema import run_schema
from taugen.words import Json

DRAFT = "https://json-schema.org/draft/2020-12/schema"
ANY = "Policy"
"""The schema that takes every policy document, whatever its kind: one line in an editor is enough for a file of several."""
EDITOR = ("Run", ANY)
"""What a repository needs for its editors."""

_REF = "#/$defs/{model}"
_NAME: dict[str, Json] = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63}


def kinds() -> dict[str, str]:
    """Every schema's name with what it is for."""
    listed = {"Run": _summary(RunSpec), ANY: "Any policy document, by its kind."}
    return listed | {kind: _summary(spec) for kind, spec in model.KINDS.items()}


def _summary(spec: type[BaseModel]) -> str:
    return (spec.__doc__ or "").strip().partition("\n")[0]


def schema(kind: str) -> dict[str, Json]:
    """The schema of one kind. Raises KeyError for an unknown one."""
    if kind == "Run":
        return run_schema()
    if kind == ANY:
        return _any()
    root, defs = _document(kind)
    return {"$schema": DRAFT, "title": f"{kind} ({model.API_VERSION})", **root, "$defs": defs}


def canonical_run() -> dict[str, Json]:
    """The schema of runs in canonical spelling only, straight from the models: what documentation lists."""
    root, defs = _of(RunSpec)
    return {"$schema": DRAFT, "title": "Run (tau.yaml)", **root, "$defs": defs}


def text(kind: str) -> str:
    """The schema as it is written to a file."""
    return json.dumps(schema(kind), indent=2, ensure_ascii=False) + "\n"


def stale(folder: Path, wanted: tuple[str, ...] | None = None) -> list[Path]:
    """The files `<kind>.json` of a folder that are missing or differ."""
    files = {folder / f"{kind}.json": kind for kind in wanted or tuple(kinds())}
    return [path for path, kind in files.items() if not path.is_file() or path.read_text(encoding="utf-8") != text(kind)]


def write(folder: Path, wanted: tuple[str, ...] | None = None) -> list[Path]:
    """Write `<kind>.json` for all kinds, or those that are wanted; returns the files that changed."""
    folder.mkdir(parents=True, exist_ok=True)
    changed = stale(folder, wanted)
    for path in changed:
        path.write_text(text(path.stem), encoding="utf-8", newline="\n")
    return changed


def _of(spec: type[BaseModel]) -> tuple[dict[str, Json], dict[str, Json]]:
    raw = spec.model_json_schema(ref_template=_REF)
    defs = raw.pop("$defs", {})
    root = _clean(raw)
    cleaned = {name: _clean(part) for name, part in sorted(defs.items())}
    assert isinstance(root, dict)
    root.pop("title", None)
    return root, cleaned


def _document(kind: str) -> tuple[dict[str, Json], dict[str, Json]]:
    spec, defs = _of(model.KINDS[kind])
    defs[f"{kind}.spec"] = spec
    root: dict[str, Json] = {
        "description": spec.pop("description", ""),
        "type": "object",
        "additionalProperties": False,
        "required": ["apiVersion", "kind", "metadata", *(["spec"] if spec.get("required") else [])],
        "properties": {
            "apiVersion": {"const": model.API_VERSION},
            "kind": {"const": kind},
            "metadata": {"type": "object", "additionalProperties": False, "required": ["name"], "properties": {"name": dict(_NAME)}},
            "spec": {"$ref": f"#/$defs/{kind}.spec"},
        },
    }
    return root, defs


def _any() -> dict[str, Json]:
    defs: dict[str, Json] = {}
    choices: list[Json] = []
    for kind in model.KINDS:
        root, more = _document(kind)
        defs |= more
        defs[kind] = root
        choices.append({"if": {"required": ["kind"], "properties": {"kind": {"const": kind}}}, "then": {"$ref": f"#/$defs/{kind}"}})
    listed: list[Json] = list(model.KINDS)
    head: dict[str, Json] = {"type": "object", "required": ["apiVersion", "kind", "metadata"], "properties": {"kind": {"enum": listed}}}
    return {"$schema": DRAFT, "title": f"Policy ({model.API_VERSION})", **head, "allOf": choices, "$defs": dict(sorted(defs.items()))}


def _clean(node: Json) -> Json:
    """Without what only pydantic needs: titles, null (a field that isn't there is left out, not empty), defaults."""
    if isinstance(node, list):
        return [_clean(part) for part in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: _properties(value) if key in {"properties", "$defs"} else _clean(value)
        for key, value in node.items()
        if key not in {"title", "default"}
    }
    return _without_null(kept)


def _properties(node: Json) -> Json:
    return {name: _clean(part) for name, part in node.items()} if isinstance(node, Mapping) else node


def _without_null(node: dict[str, Json]) -> Json:
    choices = node.get("anyOf")
    if not isinstance(choices, list):
        return node
    left = [part for part in choices if part != {"type": "null"}]
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    if len(left) == 1 and isinstance(left[0], dict):
        return {**left[0], **rest}
    return {**rest, "anyOf": left}
