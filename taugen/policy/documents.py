"""One YAML document -> one policy document.

In: a parsed document. Out: a `Parsed` (kind, name, and the item if its spec could be read) and findings. A document that is wrong in its head gives one finding,
not also those of its body.
"""

from dataclasses import dataclass

from pydantic import ValidationError

from taugen.diag import Diagnostic
from taugen.load.nodes import Document
from taugen.policy import errors, hints, model
from taugen.policy.set import Item
from taugen.words import Json, Path, confusables, dotted, names, suggest
from taugen.words.errors import shown

_TEXTS: dict[str, Path] = {"Profile": ("nccl",), "Workspace": ("defaults", "runtime", "env"), "Platform": ("defaults", "runtime", "env")}
_TOP = ("apiVersion", "kind", "metadata", "spec")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document whose kind is known. `item` is None if it could not be read; then `name` is what its name seems to be, or empty."""

    kind: str
    name: str
    item: Item[model.Spec] | None
    document: Document


def read(document: Document) -> tuple[Parsed | None, list[Diagnostic]]:
    """Read one document; None where it is no policy document at all."""
    head = _head(document)
    if head is not None:
        kind = document.data.get("kind")
        known = isinstance(kind, str) and kind in model.KINDS
        return (Parsed(str(kind), _name(document), None, document) if known else None), [head]
    kind = str(document.data["kind"])
    found = [*_top_level(document, kind), *_metadata(document)]
    spec, more = _spec(document, kind)
    found += more
    name = _name(document)
    item = None if spec is None or found else Item(kind, name, spec, document)
    return Parsed(kind, name, item, document), found


def _name(document: Document) -> str:
    metadata = document.data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _finding(document: Document, rule: str, path: Path, message: str, hint: str = "", *, key: bool = False) -> Diagnostic:
    return Diagnostic(rule, message, document.span(path, key=key), path=dotted(path), hint=hint)


def _head(document: Document) -> Diagnostic | None:
    """apiVersion and kind: whatever is wrong with them is said once."""
    data = document.data
    kind, version = data.get("kind"), data.get("apiVersion")
    if isinstance(kind, str) and kind in hints.KINDS and version != model.API_VERSION:
        return _finding(document, "policy-kind", ("kind",), f"{kind} is not a policy document", hints.KINDS[kind])
    if kind is None and version is None:
        hint = f"start it with apiVersion: {model.API_VERSION} and kind: ..., or move the file out of the policy folder"
        return _finding(document, "policy-document", (), "this is not a policy document: it has neither apiVersion nor kind", hint)
    if version != model.API_VERSION:
        return _api_version(document, version)
    if not isinstance(kind, str):
        message = "kind is missing" if kind is None else "kind is not a word"
        return _finding(document, "policy-kind", ("kind",), message, f"write one of {', '.join(model.KINDS)}")
    if kind in model.KINDS:
        return None
    if kind in model.LATER:
        return _finding(document, "policy-kind-later", ("kind",), f"{kind} documents are not built yet", "remove the document; nothing else refers to it")
    if kind in hints.KINDS:
        return _finding(document, "policy-kind", ("kind",), f"{kind} is not a kind of policy", hints.KINDS[kind])
    near = suggest.closest(kind, [*model.KINDS, *model.LATER])
    odd = confusables.confusable(kind)
    message = f"unknown kind {shown(kind)}" + (f" ({odd})" if odd else "")
    return _finding(document, "policy-kind", ("kind",), message, f"did you mean {near}?" if near else f"the kinds are {', '.join(model.KINDS)}")


def _api_version(document: Document, version: Json) -> Diagnostic:
    hint = f"write apiVersion: {model.API_VERSION}"
    if version is None:
        return _finding(document, "policy-api-version", (), "apiVersion is missing", hint)
    if isinstance(version, str) and version.startswith("taugen.dev/"):
        return _finding(document, "policy-api-version", ("apiVersion",), f"taugen.dev has no version {shown(version.partition('/')[2])}", hint)
    written = shown(version) if isinstance(version, str) else "no text"
    return _finding(document, "policy-api-version", ("apiVersion",), f"apiVersion is {written}: this is not a policy document", hint)


def _top_level(document: Document, kind: str) -> list[Diagnostic]:
    found = []
    for key in document.data:
        if key in _TOP:
            continue
        below = errors.fields(model.KINDS[kind], ())
        near = suggest.closest(key, _TOP)
        hint = "move it below spec" if key in below else f"did you mean {near}?" if near else f"a document has {', '.join(_TOP)}"
        found.append(_finding(document, "field-unknown", (key,), f"unknown field {shown(key)}", hint, key=True))
    return found


def _metadata(document: Document) -> list[Diagnostic]:
    metadata = document.data.get("metadata")
    if not isinstance(metadata, dict):
        message = "metadata is missing" if "metadata" not in document.data else "metadata is not a mapping"
        path: Path = ("metadata",) if "metadata" in document.data else ()
        return [_finding(document, "field-missing", path, message, "add metadata: {name: ...}")]
    found = []
    for key in metadata:
        if key == "name":
            continue
        hint = "labels and annotations of what is rendered follow from spec" if key in {"labels", "annotations"} else "metadata holds a name, nothing else"
        if key == "namespace":
            hint = "policy documents have no namespace"
        found.append(_finding(document, "field-unknown", ("metadata", key), f"unknown field {shown(key)}", hint, key=True))
    path = ("metadata", "name")
    name = metadata.get("name")
    if "name" not in metadata:
        found.append(_finding(document, "field-missing", ("metadata",), "metadata.name is missing", "add metadata: {name: ...}"))
    elif not isinstance(name, str):
        hint = f'quote it: "{document.text(path)}"' if isinstance(name, int | float) else "write a name"
        found.append(_finding(document, "field-type", path, "metadata.name is not text", hint))
    elif not names.is_dns1123_label(name):
        odd = confusables.confusable(name)
        long = f"has {len(name)} characters, but at most 63 are allowed" if len(name) > 63 else "is no name"
        message = f"{shown(name)} {long}" + (f" ({odd})" if odd else "")
        hint = "write lower-case letters, digits and -, with a letter or digit at both ends: it becomes the name of Kubernetes objects and label values"
        found.append(_finding(document, "policy-name", path, message, hint))
    return found


def _spec(document: Document, kind: str) -> tuple[model.Spec | None, list[Diagnostic]]:
    data = document.data.get("spec")
    if data is None:
        data = {}
    if not isinstance(data, dict):
        return None, [_finding(document, "field-type", ("spec",), "spec is not a mapping", "write its fields below it, indented")]
    kind_model = model.KINDS[kind]
    typed = _typed_texts(document, kind, data)
    spec, found = None, []
    try:
        spec = kind_model.model_validate(typed)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        found = errors.findings(document, ("spec",), kind_model, faults, lambda path, key: _guide(kind, path, key))
    return spec, [*found, *_traps(document, {f.path for f in found})]


def _guide(kind: str, path: Path, key: str) -> tuple[str, str, str] | None:
    if (later := hints.later_field(kind, (*path, key))) is not None:
        return "field-not-yet", f"{key} is not supported yet", f"{later}; remove it"
    if (hint := hints.foreign_field(kind, (*path, key))) is not None:
        return "field-unknown", f"unknown field {shown(key)}", hint
    return None


def _traps(document: Document, told: set[str]) -> list[Diagnostic]:
    """Plain scalars that another YAML reader would not read as text: quoted they are safe."""
    found = []
    for path, text, kind in document.traps:
        if path[:1] == ("spec",) and (where := dotted(path)) not in told:
            message = f"{path[-1]} is {text} without quotes, which many YAML readers take for {kind}"
            found.append(Diagnostic("yaml-quote", message, document.span(path), path=where, hint=f'quote it: "{text}"'))
    return found


def _typed_texts(document: Document, kind: str, data: dict[str, Json]) -> dict[str, Json]:
    """The data with the texts of environment variables as typed: `3.10` is no number there."""
    below = _TEXTS.get(kind)
    return data if below is None else _with_texts(document, data, below, ())


def _with_texts(document: Document, data: dict[str, Json], path: Path, done: Path) -> dict[str, Json]:
    if not path:
        return {k: v if (text := document.text(("spec", *done, k))) is None or v is None else text for k, v in data.items()}
    key = str(path[0])
    inner = data.get(key)
    return {**data, key: _with_texts(document, inner, path[1:], (*done, key))} if isinstance(inner, dict) else data
