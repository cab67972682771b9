"""Numbers that JSON can hold.

In: JSON-shaped data at a canonical path. Out: the places of numbers that are not finite, or not exact.
"""

import math
from collections.abc import Iterator

from taugen.words import Path

_EXACT = 2**53


def not_exact(path: Path, value: object) -> Iterator[Path]:
    """Where an integer stands at or below `path` that a reader of JSON may round (RFC 7493, section 2.2)."""
    if isinstance(value, int) and abs(value) > _EXACT:
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from not_exact((*path, key), item)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from not_exact((*path, at), item)


def not_finite(path: Path, value: object) -> Iterator[Path]:
    """Where an infinity or a not-a-number stands at or below `path`."""
    if isinstance(value, float):
        if not math.isfinite(value):
            yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from not_finite((*path, key), item)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from not_finite((*path, at), item)
