"""Bundles: one file of compact JSON Schema for each kind, API version and product version.

In: the shipped files below `taugen/data/schemas` and those that `taugen schema import` wrote into a repository. Out: parsed schemas, one
file at a time, when asked for. Never: a schema that refers outside its own file, whatever the file says.
"""

import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from taugen.words.regex import regex

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema, or a part of one. `Any` stays inside: what leaves this package are words about objects."""

QUANTITY = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
"""A resource quantity, as controller-gen writes it into every CRD."""

SHIPPED = Path(__file__).resolve().parent.parent / "data" / "schemas"

Source: TypeAlias = "str | os.PathLike[str] | Mapping[str, bytes]"
"""Where imported bundles are: a folder, or file names and their bytes (what a Git tree holds)."""

MAX_BYTES = 4 * 1024 * 1024
"""An imported bundle larger than this isn't read; the largest shipped one has less than a tenth."""

TITLES = {
    "argocd": "Argo CD",
    "flux": "Flux",
    "jobset": "JobSet",
    "kuberay": "KubeRay",
    "kubernetes": "Kubernetes",
    "kueue": "Kueue",
    "nodeReadinessController": "Node Readiness Controller",
    "prometheusOperator": "Prometheus Operator",
}


# An object's kind may come from an overlay; it must never lead out of the folder.
_SAFE = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,400}\.json")


class BadBundle(ValueError):  # noqa: N818 - it names what is bad
    """A bundle can't be used. Says why, without its place."""


def file_name(api_version: str, kind: str) -> str:
    """``batch/v1``, ``Job`` -> ``batch_v1_Job.json``."""
    return f"{api_version.replace('/', '_')}_{kind}.json"


def order(version: str) -> tuple[int, ...]:
    """A sort key of versions: 0.9 before 0.19. What isn't a number counts as 0."""
    return tuple(int(part) if part.isascii() and part.isdigit() else 0 for part in version.split("."))


def short(version: str) -> str:
    """``v1.35.2`` -> ``1.35``: bundles are kept by minor release."""
    return ".".join(version.removeprefix("v").split(".")[:2])


@cache
def index() -> dict[str, dict[str, list[str]]]:
    """Product -> version -> ``apiVersion/Kind`` of every shipped bundle."""
    found: dict[str, dict[str, list[str]]] = json.loads((SHIPPED / "index.json").read_bytes())
    return found


@cache
def products() -> dict[str, str]:
    """``apiVersion/Kind`` -> product, over all shipped versions."""
    return {kind: product for product, versions in index().items() for kinds in versions.values() for kind in kinds}


def versions_with(product: str, api_version: str, kind: str) -> list[str]:
    """The shipped versions of a product that have a kind, oldest first."""
    name = f"{api_version}/{kind}"
    return sorted((v for v, kinds in index().get(product, {}).items() if name in kinds), key=order)


def shipped(product: str, version: str, api_version: str, kind: str) -> Schema:
    """Read a shipped bundle. Raises FileNotFoundError where `index` doesn't list it."""
    found: Schema = json.loads((SHIPPED / product / version / file_name(api_version, kind)).read_bytes())
    return found


def imported(sources: Sequence[Source], api_version: str, kind: str) -> Schema | None:
    """The bundle of the last source that has one for a kind. Raises `BadBundle`."""
    name = file_name(api_version, kind)
    for source in reversed(sources) if _SAFE.fullmatch(name) else ():
        data = _bytes(source, name)
        if data is not None:
            return _parse(data, api_version, kind)
    return None


def has_import(sources: Sequence[Source], api_version: str, kind: str) -> bool:
    """Whether a source has a bundle for a kind, readable or not."""
    name = file_name(api_version, kind)
    if not _SAFE.fullmatch(name):
        return False
    return any(name in source if isinstance(source, Mapping) else (Path(source) / name).is_file() for source in sources)


def _bytes(source: Source, name: str) -> bytes | None:
    if isinstance(source, Mapping):
        data = source.get(name)
    else:
        try:
            with (Path(source) / name).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadBundle(error.strerror or str(error)) from error
    if data is not None and len(data) > MAX_BYTES:
        raise BadBundle(f"it has more than {MAX_BYTES // 1024 // 1024} MiB")
    return data


def _parse(data: bytes, api_version: str, kind: str) -> Schema:
    try:
        schema = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadBundle("it isn't JSON") from error
    _local_only(schema)
    properties = schema.get("properties") if isinstance(schema, dict) else None
    named = (properties.get("apiVersion"), properties.get("kind")) if isinstance(properties, dict) else ()
    if named != ({"const": api_version}, {"const": kind}):
        raise BadBundle(f"it isn't a schema of {api_version} {kind}")
    found: Schema = schema
    return found


def _local_only(node: Any) -> None:
    """References lead nowhere but into the file's own definitions: a schema must never make the compiler read a file or dial."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("$ref", "$dynamicRef", "$id") and isinstance(value, str) and not value.startswith("#/$defs/"):
                raise BadBundle(f"it refers to {value[:80]!r}")
            _local_only(value)
    elif isinstance(node, list):
        for value in node:
            _local_only(value)
