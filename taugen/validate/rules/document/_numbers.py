"""Numbers that JSON can hold.

In: JSON-shaped data at a canonical path. Out: the places of numbers that are not finite.
"""

import math
from collections.abc import Iterator

from taugen.words import Path


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
