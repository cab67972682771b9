"""Strategic merge: a partial object over an object, lists merged by their keys.

In: an object, a patch, the shape of its kind. Out: a new object; neither input changes. The keys come from Kubernetes' OpenAPI
(x-kubernetes-patch-merge-key) and from the list-map-keys of the CRDs, as `taugen/data/merge_keys.json` (made by
tools/make_merge_keys.py).

As in kubectl and kustomize: maps merge, null removes a key, a list without keys is replaced, `$patch: delete` and `$patch: replace` in a
map or a list element. Unlike there, new elements of a merged list come after the old ones, so that the first container stays the
program's; the keys of CRDs are followed too; other directives are refused.
"""

import json
from functools import cache

from msgspec import Struct

from taugen.render.types import Object
from taugen.words import Json, Path, dotted, package

DIRECTIVE = "$patch"
_SORTED = frozenset(("labels", "annotations"))  # written in that order wherever taugen renders them


class MergeError(ValueError):
    """A patch that can't be merged: `path` leads to the place in the patch."""

    def __init__(self, message: str, path: Path, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.hint = hint


class Shape(Struct, frozen=True):
    """How a value merges: `keys` of a list's elements (none: a set of plain values; None: no merged list), and the shapes of fields."""

    number: int
    keys: tuple[str, ...] | None

    def field(self, name: str) -> "Shape | None":
        """The shape of a field of the map, or of the list's elements."""
        return _shape(_table()[1][self.number][1].get(name))


def shape_of(kind: str) -> Shape | None:
    """The shape of a kind (`PodTemplate`: of a pod template); None for kinds that are not rendered: their lists are atomic."""
    return _shape(_table()[0].get(kind))


@cache
def _table() -> tuple[dict[str, int], list[tuple[list[str] | None, dict[str, int]]]]:
    data = json.loads((package.FOLDER / "data" / "merge_keys.json").read_bytes())
    return data["kinds"], data["shapes"]


@cache
def _shape(number: int | None) -> Shape | None:
    if number is None:
        return None
    keys = _table()[1][number][0]
    return Shape(number, None if keys is None else tuple(keys))


def merge(obj: Object, patch: Object, shape: Shape | None) -> Object:
    """`patch` over `obj`. Raises MergeError."""
    merged = _map(obj, patch, shape, ())
    if merged is None:
        raise MergeError("a patch can't delete the object", (DIRECTIVE,), "change the policy that makes it")
    return merged


def _map(old: Object, patch: Object, shape: Shape | None, path: Path) -> Object | None:
    directive = _directive(patch, path)
    if directive == "delete":
        return None
    if directive == "replace":
        return _new_map({k: v for k, v in patch.items() if k != DIRECTIVE}, shape, path)
    out = dict(old)
    for key, value in patch.items():
        if key == DIRECTIVE:
            continue
        if value is None:
            out.pop(key, None)
            continue
        merged = _value(out.get(key), value, shape.field(key) if shape else None, (*path, key))
        if merged is None:
            out.pop(key, None)
        else:
            out[key] = dict(sorted(merged.items())) if key in _SORTED and isinstance(merged, dict) else merged
    return out


def _directive(patch: Object, path: Path) -> str | None:
    for key in patch:
        if key.startswith("$") and key != DIRECTIVE:
            raise MergeError(f"the directive {key} is not supported", (*path, key), "write a JSON patch for it")
    directive = patch.get(DIRECTIVE)
    if directive is not None and directive not in {"merge", "replace", "delete"}:
        raise MergeError(f"{DIRECTIVE} can't be {directive}", (*path, DIRECTIVE), "write delete, replace or merge")
    return None if directive is None else str(directive)


def _value(old: Json, new: Json, shape: Shape | None, path: Path) -> Json:
    """The merged value of a key; None: it is removed."""
    if isinstance(new, dict):
        return _map(old if isinstance(old, dict) else {}, new, shape, path)
    if isinstance(new, list):
        return _list(old if isinstance(old, list) else [], new, shape, path)
    return new


def _new_map(new: Object, shape: Shape | None, path: Path) -> Object:
    """A map that was not there before, without nulls and directives."""
    merged = _map({}, new, shape, path)
    return {} if merged is None else merged


def _list(old: list[Json], new: list[Json], shape: Shape | None, path: Path) -> list[Json]:
    elements = [item for item in new if not (isinstance(item, dict) and set(item) == {DIRECTIVE} and item[DIRECTIVE] == "replace")]
    keys = shape.keys if shape else None
    if keys is None or len(elements) < len(new):
        return [_plain(item, (*path, at)) for at, item in enumerate(elements)]
    if not keys:
        return [*old, *(item for item in elements if item not in old)]
    return _keyed(old, elements, shape, path)


def _plain(item: Json, path: Path) -> Json:
    """An element of a list that is replaced: directives make no sense in it."""
    if isinstance(item, dict):
        if DIRECTIVE in item:
            raise MergeError(f"{DIRECTIVE} stands in a list that is replaced as a whole", (*path, DIRECTIVE), "write the list without it")
        return {key: _plain(value, (*path, key)) for key, value in item.items()}
    return [_plain(value, (*path, at)) for at, value in enumerate(item)] if isinstance(item, list) else item


def _keyed(old: list[Json], new: list[Json], shape: Shape | None, path: Path) -> list[Json]:
    assert shape is not None
    assert shape.keys
    out = list(old)
    for at, item in enumerate(new):
        where = (*path, at)
        if not isinstance(item, dict) or shape.keys[0] not in item:
            message = f"an element of {dotted(path)} is told by its {shape.keys[0]}, which is missing"
            raise MergeError(message, where, f"add {shape.keys[0]}")
        found = next((i for i, other in enumerate(out) if isinstance(other, dict) and _same(other, item, shape.keys)), None)
        before = out[found] if found is not None else {}
        merged = _map(before if isinstance(before, dict) else {}, item, shape, where)
        if found is None:
            out += [] if merged is None else [merged]
        elif merged is None:
            del out[found]
        else:
            out[found] = merged
    return out


def _same(old: Object, new: Object, keys: tuple[str, ...]) -> bool:
    """Whether a patch means an element: all keys that the patch gives agree. A port without protocol is TCP (core/v1 defaulting)."""
    return all(key not in new or new[key] == old.get(key, "TCP" if key == "protocol" else None) for key in keys)
