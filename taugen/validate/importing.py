"""CRD files -> bundles, for `taugen schema import` and for the bundles that ship.

In: YAML or JSON files with CustomResourceDefinitions of apiextensions.k8s.io/v1. Out: one bundle for each served version. Never: a part of
a file imported while another part of it, or another file, is refused. CEL rules (`x-kubernetes-validations`) aren't carried over.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from taugen.diag import Diagnostic, Refused, Span
from taugen.validate.bundles import TITLES, Schema, file_name, index, order, shipped
from taugen.validate.dialect import Compactor, Unsupported
from taugen.validate.hoist import dump, hoist

DRAFT = "https://json-schema.org/draft/2020-12/schema"
MAX_FILE = 32 * 1024 * 1024
"""A file larger than this isn't read; the largest CRD of a known project has 1.5 MB."""

_RULE = "schema-import"
_HINT = "give the CustomResourceDefinition file of the release that runs in the cluster"


def crd_bundles(crd: Mapping[str, Any], meta: Schema, source: Mapping[str, str]) -> Iterator[tuple[str, str, Schema]]:
    """(apiVersion, kind, bundle) for each served version of a CRD. Raises `Unsupported` with the place in the CRD."""
    if crd.get("kind") != "CustomResourceDefinition" or crd.get("apiVersion") != "apiextensions.k8s.io/v1":
        raise Unsupported("kind", f"{crd.get('apiVersion')} {crd.get('kind')} isn't a CustomResourceDefinition of apiextensions.k8s.io/v1")
    spec = crd.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(names, dict) or not isinstance(spec.get("versions"), list):
        raise Unsupported("spec", "`group`, `names` and `versions` are needed")
    group = _named(spec.get("group"), r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+", "spec.group")
    kind = _named(names.get("kind"), r"[A-Z][A-Za-z0-9]*", "spec.names.kind")
    for position, version in enumerate(spec["versions"]):
        where = f"spec.versions[{position}]"
        if not isinstance(version, dict):
            raise Unsupported(where, "a version must be a mapping")
        if version.get("served") is False:
            continue
        name = _named(version.get("name"), r"[a-z0-9]+", f"{where}.name")
        yield f"{group}/{name}", kind, assemble(_root(version, where), meta, f"{group}/{name}", kind, source)


def _root(version: Mapping[str, Any], where: str) -> Schema:
    holder = version.get("schema")
    root = holder.get("openAPIV3Schema") if isinstance(holder, dict) else None
    if not isinstance(root, dict):
        raise Unsupported(f"{where}.schema", "`openAPIV3Schema` is missing")
    try:
        return Compactor(crd=True).schema(_without_status(root))
    except Unsupported as error:
        raise Unsupported(f"{where}.schema.openAPIV3Schema.{error.where}".rstrip("."), error.why) from error


def _without_status(root: Mapping[str, Any]) -> Schema:
    properties = root.get("properties")
    if not isinstance(properties, dict):
        return dict(root)
    return {**root, "properties": {key: value for key, value in properties.items() if key != "status"}}


def _named(value: object, pattern: str, where: str) -> str:
    if not isinstance(value, str) or not re.fullmatch(pattern, value) or len(value) > 253:
        raise Unsupported(where, f"{value!r} isn't a name that Kubernetes allows here")
    return value


def import_crds(files: Sequence[Path], into: Path) -> list[tuple[str, str]]:
    """Write the bundles of every CRD in `files` into a folder; returns their (apiVersion, kind), in order.

    Later files win over earlier ones. Raises `Refused` with one finding for each thing wrong, and then nothing is written.
    """
    findings: list[Diagnostic] = []
    made: dict[tuple[str, str], bytes] = {}
    meta = object_meta(shipped("kubernetes", max(index()["kubernetes"], key=order), "v1", "Namespace"))
    for path in files:
        for key, bundle in _read(path, meta, findings):
            made[key] = dump(bundle)
    if findings:
        raise Refused("nothing was imported", hint=_HINT, findings=findings)
    if not made:
        raise Refused("no CustomResourceDefinition was found", hint=_HINT, code=2)
    try:
        _write(into, {file_name(*key): data for key, data in made.items()})
    except OSError as error:
        raise Refused(f"{error.filename or into}: {error.strerror}") from error
    return sorted(made)


def _read(path: Path, meta: Schema, findings: list[Diagnostic]) -> Iterator[tuple[tuple[str, str], Schema]]:
    def bad(message: str, line: int = 1, column: int = 1, where: str = "") -> None:
        findings.append(Diagnostic(_RULE, message, Span(str(path), line, column), where, _HINT))

    try:
        if path.is_file() and path.stat().st_size > MAX_FILE:
            bad(f"the file is larger than {MAX_FILE // 1024 // 1024} MiB")
            return
        data = path.read_bytes()
    except OSError as error:
        bad(f"can't be read: {error.strerror}")
        return
    source = {"product": "imported", "file": path.name, "sha256": hashlib.sha256(data).hexdigest()}
    for line, document in _documents(data, bad):
        try:
            # Compiled here so that what can't be used is refused now, and not at the first object.
            for api_version, kind, bundle in list(crd_bundles(document, meta, source)):
                _try_backends(bundle)
                yield (api_version, kind), bundle
        except Unsupported as error:
            bad(error.why, line, where=error.where)
        except RecursionError:
            bad("is nested too deeply", line)


def _documents(data: bytes, bad: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """(first line, document); a List is taken apart. Whatever YAML can be wrong with becomes a finding through `bad`."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(data)
    try:
        while loader.check_node():
            node: Any = loader.get_node()
            document = loader.construct_document(node)
            items = document.get("items") if isinstance(document, dict) and document.get("kind") == "List" else [document]
            for item in items if isinstance(items, list) else []:
                if isinstance(item, dict):
                    yield node.start_mark.line + 1, item
                elif item is not None:
                    bad("a document must be a mapping", node.start_mark.line + 1)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        bad(f"isn't YAML: {error.problem or error.context}", mark.line + 1 if mark else 1, mark.column + 1 if mark else 1)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        bad(f"isn't YAML: {str(error).splitlines()[0]}")
    finally:
        loader.dispose()


def _try_backends(bundle: Schema) -> None:
    from taugen.validate.backends import compile_fast, compile_reference

    for compiler in (compile_fast, compile_reference):
        try:
            compiler(bundle)
        except ValueError as error:
            raise Unsupported("", f"can't be used as a schema: {error}") from error


def _write(into: Path, files: Mapping[str, bytes]) -> None:
    into.mkdir(parents=True, exist_ok=True)
    for name, data in sorted(files.items()):
        partial = into / f".{name}.partial"
        partial.write_bytes(data)
        os.replace(partial, into / name)


def assemble(schema: Schema, meta: Schema, api_version: str, kind: str, source: Mapping[str, str]) -> Schema:
    """The bundle of a kind from its compacted schema and the compacted ObjectMeta.

    `status` is left out: the cluster writes it, a manifest never does. `metadata` is the real ObjectMeta, with what the kind itself says
    about names, and `name` required (every object here is named; none is created from `generateName`).
    """
    properties = {key: value for key, value in schema.get("properties", {}).items() if key != "status"}
    own = properties.get("metadata", {}).get("properties", {})
    named = {key: {**meta["properties"][key], **own[key]} for key in ("name", "generateName") if key in own}
    named["name"] = {"minLength": 1, **named.get("name", meta["properties"]["name"])}
    properties["metadata"] = {**meta, "properties": {**meta["properties"], **named}, "required": ["name"]}
    properties["apiVersion"], properties["kind"] = {"const": api_version}, {"const": kind}
    required = {"apiVersion", "kind", "metadata", *schema.get("required", ())} - {"status"}
    out = {**schema, "type": "object", "properties": properties, "required": sorted(required)}
    release = f", {TITLES.get(source['product'], source['product'])} {source['version']}" if "version" in source else ""
    return {**hoist(out), "$schema": DRAFT, "title": f"{kind} ({api_version}{release})", "x-source": dict(source)}


def object_meta(bundle: Schema) -> Schema:
    """ObjectMeta as a bundle has it, references resolved: what a CRD's bundle is assembled with where no OpenAPI is at hand."""
    found: Schema = _inline(bundle["properties"]["metadata"], bundle.get("$defs", {}))
    found["properties"]["name"].pop("minLength", None)
    found.pop("required")
    return found


def _inline(node: Any, defs: Schema) -> Any:
    if isinstance(node, dict):
        if "$ref" in node:
            return _inline(defs[node["$ref"].removeprefix("#/$defs/")], defs)
        return {key: _inline(value, defs) for key, value in node.items()}
    return [_inline(value, defs) for value in node] if isinstance(node, list) else node
