"""JSON patch, RFC 6902.

In: operations as typed, an object. Out: checked operations; a new object. Never: an operation that silently does nothing, a pointer that
leaves the object.
"""

import copy
from collections.abc import Sequence

from msgspec import Struct

from taugen.render.types import Object
from taugen.words import Json, Path

_FIELDS = {"add": "value", "replace": "value", "test": "value", "remove": None, "move": "from", "copy": "from"}


class PatchError(ValueError):
    """An operation that is malformed, or does not fit the object: `path` leads to its place in the patch."""

    def __init__(self, message: str, path: Path, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.hint = hint


class Operation(Struct, frozen=True):
    """One operation: pointers as unescaped tokens."""

    op: str
    path: tuple[str, ...]
    source: tuple[str, ...] = ()
    value: Json = None

    @property
    def changes(self) -> tuple[tuple[str, ...], ...]:
        """The pointers at which the operation changes something."""
        return () if self.op == "test" else (self.path, self.source) if self.op == "move" else (self.path,)


def read(patch: Sequence[Json]) -> list[Operation]:
    """Check the form of the operations. Raises PatchError for the first that is malformed."""
    return [_operation(item, at) for at, item in enumerate(patch)]


def _operation(item: Json, at: int) -> Operation:
    if not isinstance(item, dict):
        raise PatchError("an operation is a mapping", (at,), "write {op: replace, path: /spec/..., value: ...}")
    op = item.get("op")
    if not isinstance(op, str) or op not in _FIELDS:
        raise PatchError("op is missing or unknown", (at, "op") if "op" in item else (at,), f"write one of {', '.join(_FIELDS)}")
    needed = _FIELDS[op]
    if needed is not None and needed not in item:
        raise PatchError(f"{op} needs {needed}", (at,), f"add {needed}")
    for key in item:
        if key not in {"op", "path", needed}:
            raise PatchError(f"{op} has no {key}", (at, key), "remove it")
    pointer = _pointer(item, "path", at)
    source = _pointer(item, "from", at) if needed == "from" else ()
    if op == "move" and pointer[: len(source)] == source and pointer != source:
        raise PatchError("a value can't be moved into itself", (at, "path"), "write another path")
    return Operation(op, pointer, source, item.get("value"))


def _pointer(item: Object, key: str, at: int) -> tuple[str, ...]:
    text = item.get(key)
    if not isinstance(text, str) or (text and not text.startswith("/")):
        place: Path = (at, key) if key in item else (at,)
        raise PatchError(f"{key} is no JSON pointer", place, "write /spec/template/..., with ~1 for a / inside a key")
    tokens = text.split("/")[1:]
    for token in tokens:
        if "~" in token.replace("~0", "").replace("~1", ""):
            raise PatchError(f"{key} has a ~ that is not escaped", (at, key), "write ~0 for ~ and ~1 for /")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in tokens)


def apply(obj: Object, operations: Sequence[Operation]) -> Object:
    """The object after all operations. Raises PatchError for the first that does not fit."""
    root: list[Json] = [copy.deepcopy(obj)]
    for at, operation in enumerate(operations):
        _apply(root, operation, at)
    changed = root[0]
    if not isinstance(changed, dict):
        raise PatchError("the patch leaves no object", (len(operations) - 1, "path"))
    return changed


def _apply(root: list[Json], operation: Operation, at: int) -> None:
    if operation.op == "test":
        if not _equal(_get(root, operation.path, at, "path"), operation.value):
            raise PatchError(f"the value at {shown(operation.path)} is another one", (at, "value"))
    elif operation.op == "remove":
        _take(root, operation.path, at, "path")
    elif operation.op == "replace":
        _get(root, operation.path, at, "path")
        _put(root, operation.path, copy.deepcopy(operation.value), at, insert=False)
    elif operation.op == "add":
        _put(root, operation.path, copy.deepcopy(operation.value), at, insert=True)
    elif operation.op == "copy":
        _put(root, operation.path, copy.deepcopy(_get(root, operation.source, at, "from")), at, insert=True)
    else:
        _put(root, operation.path, _take(root, operation.source, at, "from"), at, insert=True)


def _get(root: list[Json], pointer: tuple[str, ...], at: int, key: str) -> Json:
    value = root[0]
    for depth, token in enumerate(pointer):
        if isinstance(value, dict) and token in value:
            value = value[token]
        elif isinstance(value, list) and _index(token, len(value)) is not None:
            value = value[int(token)]
        else:
            raise PatchError(f"there is no {shown(pointer[: depth + 1])}", (at, key), _missing_hint(value, token))
    return value


def _missing_hint(value: Json, token: str) -> str:
    if isinstance(value, list):
        return f"elements count from 0 to {len(value) - 1}; add at - appends one" if value else "the list is empty; add at - appends one"
    keys = ", ".join([*value][:8]) if isinstance(value, dict) else ""
    return f"the keys there are {keys}" if keys else f"add what holds {token} first"


def _index(token: str, length: int) -> int | None:
    plain = token.isascii() and token.isdigit() and (token == "0" or token[0] != "0")  # noqa: S105 - a pointer's token
    return int(token) if plain and len(token) < 10 and int(token) < length else None


def _parent(root: list[Json], pointer: tuple[str, ...], at: int, key: str) -> tuple[Json, str]:
    return (_get(root, pointer[:-1], at, key), pointer[-1]) if pointer else (root, "0")


def _take(root: list[Json], pointer: tuple[str, ...], at: int, key: str) -> Json:
    value = _get(root, pointer, at, key)
    parent, token = _parent(root, pointer, at, key)
    if isinstance(parent, list):
        del parent[int(token)]
    elif isinstance(parent, dict):
        del parent[token]
    return value


def _put(root: list[Json], pointer: tuple[str, ...], value: Json, at: int, *, insert: bool) -> None:
    if not pointer:
        root[0] = value
        return
    parent, token = _parent(root, pointer, at, "path")
    if isinstance(parent, dict):
        parent[token] = value
    elif isinstance(parent, list) and token == "-" and insert:  # noqa: S105 - a pointer's token
        parent.append(value)
    elif isinstance(parent, list) and (index := _index(token, len(parent) + insert)) is not None:
        parent[index : index + (not insert)] = [value]
    else:
        raise PatchError(f"there is no place at {shown(pointer)}", (at, "path"), _missing_hint(parent, token))


def _equal(first: Json, second: Json) -> bool:
    """JSON equality: 1 is 1.0, but not true."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_equal(value, second[key]) for key, value in first.items())
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_equal, first, second))
    return first == second


def shown(pointer: tuple[str, ...]) -> str:
    """A pointer as typed."""
    return "".join(f"/{token.replace('~', '~0').replace('/', '~1')}" for token in pointer) or '""'
