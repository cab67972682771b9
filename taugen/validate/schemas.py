"""Rendered objects against the schemas of what will read them.

In: Kubernetes objects as dicts, the product versions of the platform, the bundles that a repository imported. Out: `SchemaFault` values
with paths into the object. Never: a traceback for whatever an object or an imported bundle holds, a file read that no object asked for.

A `Validator` costs nothing to make and pickles as its settings alone, so that each worker process can have its own; a kind's bundle is
read and compiled at its first object.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from taugen.validate import bundles
from taugen.validate.backends import Breach, Check, compile_fast, compile_reference
from taugen.validate.bundles import BadBundle, Schema, Source
from taugen.validate.faults import SchemaFault, describe, place_order, show
from taugen.validate.mapkeys import Plan, Repeat, distinct, plan, repeats
from taugen.words import Json, Path, dotted

__all__ = ["SchemaFault", "UnknownVersion", "Validator", "shipped_versions"]

_Key = tuple[str, str]
_Compiler = Callable[[Schema], Check]


class UnknownVersion(ValueError):  # noqa: N818 - the name that policy findings use
    """The platform runs a version whose schemas neither ship nor were imported. `shipped` lists those that do, oldest first."""

    def __init__(self, product: str, version: str, shipped: Sequence[str]) -> None:
        self.product, self.version, self.shipped = product, version, tuple(shipped)
        title = bundles.TITLES.get(product, product)
        super().__init__(f"no schemas of {title} {version} ship with taugen; there are those of {', '.join(shipped)}")


def shipped_versions(product: str) -> tuple[str, ...]:
    """The versions of a product whose schemas ship, oldest first; empty for a product of which none do."""
    return tuple(sorted(bundles.index().get(product, {}), key=bundles.order))


class _Compiled(Struct):
    """A kind made ready. `problem` stands for all the rest where the kind can't be checked."""

    check: Check | None = None
    plan: Plan = field(default_factory=Plan)
    problem: str = ""


class Validator:
    """Checks objects against the schemas of pinned product versions.

    `versions`: product (a key of ``Platform.spec.versions``) to its version, patch releases allowed; a product that isn't named has the
    newest that ships, and a name that isn't a product here is passed over. `extra`: where imported bundles are; they win over shipped ones,
    the last over the first. Raises `UnknownVersion` for a version that doesn't ship, unless `extra` has a kind of that product.
    """

    def __init__(self, versions: Mapping[str, str], extra: Sequence[Source] = ()) -> None:
        self._extra = tuple(source if isinstance(source, Mapping) else os.fspath(source) for source in extra)
        self._versions = {product: shipped_versions(product)[-1] for product in bundles.index()}
        for product, version in versions.items():
            if product in self._versions:
                self._versions[product] = self._pinned(product, version)
        self._compiled: dict[_Key, _Compiled] = {}
        self._reference: dict[_Key, _Compiled] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"_versions": self._versions, "_extra": self._extra, "_compiled": {}, "_reference": {}}

    def _pinned(self, product: str, version: str) -> str:
        wanted = bundles.short(version)
        if wanted in bundles.index()[product]:
            return wanted
        names = {name for names in bundles.index()[product].values() for name in names}
        if any(bundles.has_import(self._extra, *name.rsplit("/", 1)) for name in names):
            return wanted
        raise UnknownVersion(product, version, shipped_versions(product))

    def knows(self, api_version: str, kind: str) -> bool:
        """Whether there is a schema for a kind at the pinned versions."""
        return bundles.has_import(self._extra, api_version, kind) or self._ships(api_version, kind) is not None

    def _ships(self, api_version: str, kind: str) -> tuple[str, str] | None:
        product = bundles.products().get(f"{api_version}/{kind}")
        if product is None or self._versions[product] not in bundles.versions_with(product, api_version, kind):
            return None
        return product, self._versions[product]

    def faults(self, obj: Mapping[str, Json]) -> list[SchemaFault]:
        """What the API server would refuse in an object, ordered by place; empty for a good one."""
        return self._faults(obj, self._compiled, _fastest)

    def reference_faults(self, obj: Mapping[str, Json]) -> list[SchemaFault]:
        """The same by the reference engine: slow, for comparison."""
        return self._faults(obj, self._reference, compile_reference)

    def _faults(self, obj: Mapping[str, Json], cache: dict[_Key, _Compiled], compiler: _Compiler) -> list[SchemaFault]:
        api_version, kind = obj.get("apiVersion"), obj.get("kind")
        if not isinstance(api_version, str) or not isinstance(kind, str):
            missing = [name for name in ("apiVersion", "kind") if not isinstance(obj.get(name), str)]
            return [SchemaFault((), f"`{name}` is missing or isn't a text") for name in missing]
        key = (api_version, kind)
        known = cache.get(key)
        if known is None:
            known = cache[key] = self._prepare(*key, compiler)
        if known.check is None:
            return [SchemaFault((), known.problem)]
        try:
            breaches = known.check(obj)  # type: ignore[arg-type]
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            return [SchemaFault((), f"the object holds what JSON can't: {str(error).splitlines()[0]}")]
        if not breaches and distinct(obj, known.plan):
            return []
        return self._worded(obj, breaches, list(repeats(obj, known.plan)), key)

    def _worded(self, obj: Mapping[str, Json], breaches: list[Breach], again: list[Repeat], key: _Key) -> list[SchemaFault]:
        # What is of a wrong type isn't also told that it is too long, or none of a list.
        mistyped = {breach.path for breach in breaches if breach.keyword == "type"}
        told = [breach for breach in breaches if breach.keyword == "type" or breach.path not in mistyped]
        found = {fault for breach in told for fault in describe(breach, obj)}  # type: ignore[arg-type]
        found |= {SchemaFault(twice.path, _repeated(twice)) for twice in again}
        return sorted((self._with_version(fault, key) for fault in found), key=place_order)

    def _with_version(self, fault: SchemaFault, key: _Key) -> SchemaFault:
        if not fault.unknown or fault.path == ("status",) or bundles.has_import(self._extra, *key):
            return fault
        other = self.version_with(*key, fault.path)
        if other is None:
            return fault
        product = bundles.products()[f"{key[0]}/{key[1]}"]
        title, pinned = bundles.TITLES.get(product, product), self._versions[product]
        return replace(fault, message=f"there is no field `{fault.unknown}` in {title} {pinned}; {title} {other} has it")

    def _prepare(self, api_version: str, kind: str, compiler: _Compiler) -> _Compiled:
        try:
            bundle = bundles.imported(self._extra, api_version, kind)
            if bundle is None:
                ships = self._ships(api_version, kind)
                if ships is None:
                    return _Compiled(problem=self._no_schema(api_version, kind))
                bundle = bundles.shipped(*ships, api_version, kind)
            return _Compiled(compiler(bundle), plan(bundle))
        except (BadBundle, ValueError, TypeError, AttributeError) as error:
            return _Compiled(
                problem=f"the imported schema of {api_version} {kind} can't be used, {error}: run `taugen schema import` with its CRD again"
            )

    def _no_schema(self, api_version: str, kind: str) -> str:
        product = bundles.products().get(f"{api_version}/{kind}")
        if product is not None:
            title = bundles.TITLES.get(product, product)
            having = " and ".join(bundles.versions_with(product, api_version, kind))
            pinned = f"{title} {self._versions[product]}"
            return f"there is no {api_version} {kind} for {pinned}, only for {having}: run `taugen schema import` with its CRD"
        same = sorted(name.rsplit("/", 1)[0] for name in bundles.products() if name.rsplit("/", 1)[1] == kind)
        hint = f" (there is one of {', '.join(same)})" if same else ""
        if "." not in api_version:
            return f"{api_version} {kind} isn't among the kinds of Kubernetes that taugen renders, so it has no schema here{hint}"
        return f"there is no schema of {api_version} {kind}{hint}: run `taugen schema import` with its CRD"

    def version_with(self, api_version: str, kind: str, path: Path) -> str | None:
        """The shipped version that has a field which the pinned one lacks: the oldest newer one, else the newest older one.

        None where the pinned version has it, or no other has.
        """
        product = bundles.products().get(f"{api_version}/{kind}")
        if product is None:
            return None
        pinned = self._versions[product]
        versions = bundles.versions_with(product, api_version, kind)
        newer = [v for v in versions if bundles.order(v) > bundles.order(pinned)]
        older = [v for v in reversed(versions) if bundles.order(v) < bundles.order(pinned)]
        having = [v for v in (pinned, *newer, *older) if v in versions and _has(bundles.shipped(product, v, api_version, kind), path)]
        return having[0] if having and having[0] != pinned else None


def _fastest(bundle: Schema) -> Check:
    try:
        return compile_fast(bundle)
    except ImportError:
        return compile_reference(bundle)


def _repeated(twice: Repeat) -> str:
    key = ", ".join(f"{name} {show(value)}" for name, value in twice.key.items() if value is not None)
    around = dotted(twice.path[:-1])
    return f"repeats {key} of `{around}[{twice.first}]`: server-side apply refuses a list that holds the same key twice"


def _has(bundle: Schema, path: Path) -> bool:
    """Whether a schema names the field at the end of a path."""
    part: Any = bundle
    for step in path:
        while isinstance(part, dict) and "$ref" in part:
            part = bundle["$defs"][part["$ref"].removeprefix("#/$defs/")]
        if not isinstance(part, dict):
            return False
        part = part.get("items") if isinstance(step, int) else part.get("properties", {}).get(step, part.get("additionalProperties"))
    return isinstance(part, dict)
