"""Loads pydantic without compiling what nobody calls.

In: nothing. Out: `pydantic` is loaded. It and annotated-types define forty dataclasses; the standard library writes each of their methods
as text and compiles it, which takes a fifth of the time of loading them, and the comparisons, texts and locks of most are never called.
Here a method other than the constructor is compiled when it is called first. What must never happen: a dataclass of anybody else made in
this way.
"""

import dataclasses
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

_PARTS = ("pydantic.main", "pydantic.fields", "pydantic.functional_validators", "pydantic.functional_serializers")
_MAKER = "_create_fn"
"""What writes a method in Python up to 3.12; later ones write those of a class as one text."""


def load() -> None:
    """Load `pydantic`, unless it is loaded."""
    make = getattr(dataclasses, _MAKER, None)
    if make is None or _PARTS[0] in sys.modules:
        return

    def later(name: str, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        if name == "__init__":
            constructor: Callable[..., Any] = make(name, *args, **kwargs)
            return constructor
        return _later(name, lambda: make(name, *args, **kwargs))

    setattr(dataclasses, _MAKER, later)
    try:
        for part in _PARTS:
            import_module(part)
    finally:
        setattr(dataclasses, _MAKER, make)


def _later(name: str, make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    """The method that `make` gives, made when it is called first."""
    made: list[Callable[..., Any]] = []

    def method(*args: Any) -> Any:
        if not made:
            made.append(make())
        return made[0](*args)

    method.__name__ = name
    return method
