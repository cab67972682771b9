"""What the models know about their fields, for findings: the keys of a section, where a name stands, what a value may be.

In: a canonical path. Out: answers from the models themselves, so that a new field needs no second table. Used only once something is wrong.
"""

from collections.abc import Iterator
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import Struct
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from taugen.spec.model import RunSpec
from taugen.spec.types import CpuQuantity, Duration, MemoryQuantity
from taugen.words import Path

Shape = Literal["section", "list", "map", "text", "whole", "number", "yes-or-no", "choice", "quantity", "duration", "any"]


class Field(Struct, frozen=True):
    """One field: its canonical path (of list items and map entries: that of the list or map), what it holds, its model if a section, its
    choices."""

    path: Path
    shape: Shape
    model: type[BaseModel] | None = None
    choices: tuple[str, ...] = ()
    description: str = ""


def _inner(annotation: Any) -> Any:
    """The annotation without None."""
    if get_origin(annotation) in (Union, UnionType):
        left = [a for a in get_args(annotation) if a is not type(None)]
        return left[0] if len(left) == 1 else Union[tuple(left)]  # noqa: UP007
    return annotation


_SPECIAL: tuple[tuple[Any, Shape], ...] = ((CpuQuantity, "quantity"), (MemoryQuantity, "quantity"), (Duration, "duration"))
_PLAIN: tuple[tuple[type, Shape], ...] = ((bool, "yes-or-no"), (int, "whole"), (float, "number"), (str, "text"))


def _shape(info_or_type: Any) -> tuple[Shape, Any]:
    """(shape, the model, the item's type or the choices)."""
    kind = _inner(info_or_type)
    for special, shape in _SPECIAL:
        if kind == special:
            return shape, None
    if get_origin(kind) is Annotated:
        return _shape(get_args(kind)[0])
    origin = get_origin(kind)
    if origin is Literal:
        choices = get_args(kind)
        return ("whole", None) if isinstance(choices[0], int) else ("choice", tuple(str(c) for c in choices))
    if origin is list:
        return "list", get_args(kind)[0]
    if origin is dict:
        return "map", get_args(kind)[1]
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return "section", kind
    for plain, shape in _PLAIN:
        if kind is plain:
            return shape, None
    return ("text", None) if origin in (Union, UnionType) else ("any", None)


def _whole(info: FieldInfo) -> Any:
    """The annotation with the metadata that pydantic moved beside it."""
    return Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation


def field(path: Path, root: type[BaseModel] = RunSpec) -> Field | None:
    """The field at `path` (list positions and map keys included), or None where the models know nothing."""
    here: Any = root
    at: Path = ()
    description = ""
    for part in path:
        shape, more = _shape(here)
        if shape == "section":
            info = more.model_fields.get(part)
            if info is None:
                return None
            here, description = _whole(info), info.description or ""
        elif shape in {"list", "map"}:
            here = more
        elif shape == "any":
            return Field(path, "any")
        else:
            return None
        at = (*at, part)
    shape, more = _shape(here)
    return Field(at, shape, more if shape == "section" else None, more if shape == "choice" else (), description)


def keys(path: Path, root: type[BaseModel] = RunSpec) -> tuple[str, ...]:
    """The keys of the section at `path`, in the order of the model; empty for what is no section."""
    found = field(path, root)
    return tuple(found.model.model_fields) if found is not None and found.model is not None else ()


@lru_cache(maxsize=4)
def everything(root: type[BaseModel] = RunSpec) -> tuple[Field, ...]:
    """Every field below `root` in order; a list's or map's items stand under the path of the list or map with ``*``."""
    return tuple(_walk((), root))


def _walk(path: Path, kind: Any) -> Iterator[Field]:
    shape, more = _shape(kind)
    if shape == "section":
        for name, info in more.model_fields.items():
            sub, inner = _shape(_whole(info))
            yield Field((*path, name), sub, inner if sub == "section" else None, inner if sub == "choice" else (), info.description or "")
            yield from _walk((*path, name), _whole(info))
    elif shape in ("list", "map") and _shape(more)[0] == "section":
        yield from _walk((*path, "*"), more)


@lru_cache(maxsize=1)
def places() -> dict[str, tuple[Path, ...]]:
    """Leaf name -> canonical paths that end in it, sections first."""
    out: dict[str, list[Path]] = {}
    for item in everything():
        if "*" not in item.path:
            out.setdefault(str(item.path[-1]), []).append(item.path)
    return {name: tuple(sorted(paths, key=len)) for name, paths in out.items()}
