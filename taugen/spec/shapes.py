"""Loads pydantic's core without the types of its schemas.

In: nothing. Out: `pydantic_core` is loaded. It describes its schemas by 80 typed dictionaries for type checkers; at run time nobody asks
them anything, and each of their 700 fields would be compiled as an expression, which takes longer than the rest of pydantic's core. What
must never happen: a typed dictionary of anybody else made in this way.
"""

import sys
import typing
from types import ModuleType
from typing import Any

_CORE = "pydantic_core"


class _Shape(type):
    """A class that keeps what was written of a typed dictionary as it was written: a dictionary with annotations."""

    def __new__(mcs, name: str, _: tuple[type, ...], body: dict[str, Any], *, total: bool = True) -> "_Shape":
        return type.__new__(mcs, name, (dict,), {**body, "__total__": total})

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **_: Any) -> None:
        type.__init__(cls, name, bases, body)


def load() -> None:
    """Load `pydantic_core`, unless it is loaded."""
    if _CORE in sys.modules:
        return
    import typing_extensions

    base = _Shape("TypedDict", (), {})
    was: list[tuple[ModuleType, Any]] = [(module, module.TypedDict) for module in (typing, typing_extensions)]
    try:
        for module, _ in was:
            setattr(module, "TypedDict", base)  # noqa: B010 - mypy knows the name as a special form
        import pydantic_core  # noqa: F401
    finally:
        for module, kept in was:
            setattr(module, "TypedDict", kept)  # noqa: B010
