"""One YAML document -> one policy document.

In: a parsed document. Out: a `Parsed` (kind, name, and the item if its spec could be read) and findings. A document that is wrong in its
head gives one finding, not also those of its body.
"""

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from pydantic import ValidationError

from taugen.diag import Diagnostic
from taugen.load.nodes import Document
from taugen.policy import hints, model
from taugen.policy.set import Item
from taugen.words import Json, Path, confusables, dotted, names, suggest
from taugen.words.errors import shown

if TYPE_CHECKING:
    from taugen.policy import errors

_TOP = ("apiVersion", "kind", "metadata", "spec")
_TEXTS: dict[str, Path] = {
    "Platform": ("defaults", "runtime", "env"),
    "Profile": ("nccl",),
    "Workspace": ("defaults", "runtime", "env"),
}
"""Environment variables: their values are texts as typed, `3.10` is no number there."""

_WITH_DEFAULTS = ("Platform", "Workspace")


class Parsed(Struct, frozen=True):
    """A document whose kind is known. `item` is None if something in it is wrong; `partial` is then what could be read, if anything."""

    kind: str
    name: str
    document: Document
    item: Item[Any] | None = None
    partial: Item[Any] | None = None


def read(document: Document) -> tuple[Parsed | None, list[Diagnostic]]:
    """Read one document; None where it is no policy document at all."""
    head = _head(document)
    if head is not None:
        kind = document.data.get("kind")
        known = isinstance(kind, str) and kind in model.KINDS
        return (Parsed(str(kind), _name(document), document) if known else None), [head]
    kind, name = str(document.data["kind"]), _name(document)
    found = [*_top_level(document, kind), *_metadata(document)]
    spec, more = _spec(document, kind)
    found += more
    item = None if spec is None else Item(kind, name, spec, document)
    return (Parsed(kind, name, document, partial=item) if found else Parsed(kind, name, document, item)), found


def _name(document: Document) -> str:
    metadata = document.data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _finding(document: Document, rule: str, path: Path, message: str, *, hint: str = "", key: bool = False) -> Diagnostic:
    return Diagnostic(rule, message, document.span(path, key=key), path=dotted(path), hint=hint)


def _head(document: Document) -> Diagnostic | None:
    """What is wrong with apiVersion and kind, said once."""
    kind, version = document.data.get("kind"), document.data.get("apiVersion")
    if isinstance(kind, str) and kind in hints.KINDS and version != model.API_VERSION:
        return _finding(document, "policy-kind", ("kind",), f"{kind} is not a policy document", hint=hints.KINDS[kind])
    if kind is None and version is None:
        hint = f"start it with apiVersion: {model.API_VERSION} and kind, or move the file out of the policy folder"
        return _finding(document, "policy-document", (), "this is not a policy document: it has neither apiVersion nor kind", hint=hint)
    if version != model.API_VERSION:
        return _api_version(document, version)
    if not isinstance(kind, str):
        message = "kind is missing" if kind is None else "kind is not a word"
        return _finding(document, "policy-kind", ("kind",), message, hint=f"write one of {', '.join(model.KINDS)}")
    return None if kind in model.KINDS else _unknown_kind(document, kind)


def _unknown_kind(document: Document, kind: str) -> Diagnostic:
    path = ("kind",)
    if kind in model.LATER:
        hint = "remove the document; nothing else refers to it"
        return _finding(document, "policy-kind-later", path, f"{kind} documents are not supported yet", hint=hint)
    if kind in hints.KINDS:
        return _finding(document, "policy-kind", path, f"{kind} is not a kind of policy", hint=hints.KINDS[kind])
    near = suggest.closest(kind, [*model.KINDS, *model.LATER])
    odd = confusables.confusable(kind)
    message = f"unknown kind {shown(kind)}" + (f" ({odd})" if odd else "")
    hint = f"did you mean {near}?" if near else f"the kinds are {', '.join(model.KINDS)}"
    return _finding(document, "policy-kind", path, message, hint=hint)


def _api_version(document: Document, version: Json) -> Diagnostic:
    hint = f"write apiVersion: {model.API_VERSION}"
    if version is None:
        return _finding(document, "policy-api-version", (), "apiVersion is missing", hint=hint)
    message = f"apiVersion is {shown(version) if isinstance(version, str) else 'no text'}: this is not a policy document"
    if isinstance(version, str) and version.startswith("taugen.dev/"):
        message = f"taugen.dev has no version {shown(version.partition('/')[2])}"
    return _finding(document, "policy-api-version", ("apiVersion",), message, hint=hint)


def _top_level(document: Document, kind: str) -> list[Diagnostic]:
    strange = [key for key in document.data if key not in _TOP]
    if not strange:
        return []
    from taugen.policy import errors

    found = []
    for key in strange:
        near = suggest.closest(key, _TOP)
        hint = "move it below spec" if key in errors.fields(model.KINDS[kind], ()) else f"a document has {', '.join(_TOP)}"
        if near and not hint.startswith("move"):
            hint = f"did you mean {near}?"
        found.append(_finding(document, "unknown-key", (key,), f"unknown field {shown(key)}", hint=hint, key=True))
    return found


def _metadata(document: Document) -> list[Diagnostic]:
    metadata = document.data.get("metadata")
    if not isinstance(metadata, dict):
        there = "metadata" in document.data
        message = "metadata is not a mapping" if there else "metadata is missing"
        return [_finding(document, "field-missing", ("metadata",) if there else (), message, hint="add metadata: {name: ...}")]
    found = []
    for key in metadata:
        if key == "name":
            continue
        hint = "remove it: metadata holds a name, nothing else"
        if key in {"labels", "annotations"}:
            hint = "remove it: the labels and annotations of what is rendered follow from spec"
        found.append(_finding(document, "unknown-key", ("metadata", key), f"unknown field {shown(key)}", hint=hint, key=True))
    if "name" not in metadata and (near := next((key for key in metadata if suggest.closest(key, ("name",))), None)) is not None:
        return [_finding(document, "unknown-key", ("metadata", near), f"unknown field {shown(near)}", hint="did you mean name?", key=True)]
    return [*found, *_bad_name(document, metadata)]


def _bad_name(document: Document, metadata: dict[str, Json]) -> list[Diagnostic]:
    path = ("metadata", "name")
    name = metadata.get("name")
    if "name" not in metadata:
        return [_finding(document, "field-missing", ("metadata",), "metadata has no name", hint="add metadata: {name: ...}")]
    if not isinstance(name, str):
        hint = f'quote it: "{document.text(path)}"' if isinstance(name, int | float) else "write a name"
        return [_finding(document, "value-type", path, "metadata.name is not text", hint=hint)]
    if names.is_dns1123_label(name):
        return []
    odd = confusables.confusable(name)
    long = f"has {len(name)} characters, but at most 63 are allowed" if len(name) > 63 else "is no name"
    message = f"{shown(name)} {long}" + (f" ({odd})" if odd else "")
    hint = (
        "write lower-case letters, digits and -, with a letter or digit at both ends: it names Kubernetes objects and becomes label values"
    )
    return [_finding(document, "policy-name", path, message, hint=hint)]


def _spec(document: Document, kind: str) -> tuple[model.Spec | None, list[Diagnostic]]:
    data = document.data.get("spec")
    if data is None:
        data = {}
    if not isinstance(data, dict):
        return None, [_finding(document, "value-type", ("spec",), "spec is not a mapping", hint="write its fields below it, indented")]
    kind_model = model.KINDS[kind]
    if (texts := _TEXTS.get(kind)) is not None:
        data = _with_texts(document, data, texts, ())
    if kind in _WITH_DEFAULTS:
        for part in model.SHARED:
            part.model_rebuild()
    try:
        return kind_model.model_validate(data), _traps(document, set())
    except ValidationError as error:
        faults = error.errors(include_url=False)
    from taugen.policy import errors

    found = errors.findings(document, ("spec",), kind_model, faults, guide=lambda *mistake: _guide(kind, *mistake))
    return _salvaged(kind_model, data, errors.dropped(faults)), [*found, *_traps(document, {f.path for f in found})]


def _salvaged(kind_model: type[model.Spec], data: dict[str, Json], drop: set[Path]) -> model.Spec | None:
    """The spec without the fields that are wrong, if it can do without them."""
    rest = _without(data, drop, ())
    if not isinstance(rest, dict):
        return None
    try:
        return kind_model.model_validate(rest)
    except ValidationError:
        return None


def _without(value: Json, drop: set[Path], here: Path) -> Json:
    if isinstance(value, dict):
        return {k: _without(v, drop, (*here, k)) for k, v in value.items() if not _holds_fault(v, drop, (*here, k))}
    if isinstance(value, list):
        return [_without(v, drop, (*here, i)) for i, v in enumerate(value)]
    return value


def _holds_fault(value: Json, drop: set[Path], here: Path) -> bool:
    """Whether a value is wrong, or a list with an entry that is: without that entry the others would not be where they are."""
    return here in drop or (isinstance(value, list) and any((*here, at) in drop for at in range(len(value))))


def _guide(kind: str, path: Path, mistake: str, value: object) -> "errors.Words | None":
    """Words for what people write who know other systems, or a later release of this one."""
    field = path[-1] if path else ""
    if mistake == "extra_forbidden" and (later := hints.later_field(kind, path)) is not None:
        return "field-not-yet", f"{field} is not supported yet", f"remove it: {later}"
    if mistake == "extra_forbidden" and (hint := hints.foreign_field(kind, path)) is not None:
        return "unknown-key", f"unknown field {shown(str(field))}", hint
    if mistake == "literal_error" and (later := hints.later_value(kind, path, value)) is not None:
        return "field-not-yet", f"{field}: {value} is not supported yet", later
    if mistake in {"dict_type", "list_type", "model_type"} and (hint := hints.shape(kind, path, value)) is not None:
        return "value-type", f"{field} has another form here", hint
    return None


def _traps(document: Document, told: set[str]) -> list[Diagnostic]:
    """Plain scalars that another YAML reader would not read as text: quoted they are safe."""
    found = []
    for path, text, kind in document.traps:
        where = dotted(path)
        if path[:1] in {("spec",), ("metadata",)} and where not in told:
            message = f"{path[-1]} is {text} without quotes, which many YAML readers take for {kind}"
            found.append(Diagnostic("yaml-trap", message, document.span(path), path=where, hint=f'quote it: "{text}"'))
    return found


def _with_texts(document: Document, data: dict[str, Json], path: Path, done: Path) -> dict[str, Json]:
    if not path:
        typed = {key: document.text(("spec", *done, key)) for key in data}
        return {key: value if value is None else typed[key] or value for key, value in data.items()}
    key = str(path[0])
    inner = data.get(key)
    return {**data, key: _with_texts(document, inner, path[1:], (*done, key))} if isinstance(inner, dict) else data
