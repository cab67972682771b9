"""Text-level helpers that every stage shares: quantities, durations, names, canonical JSON, the YAML writer.

Pure functions over plain values. Nothing here knows a document kind or touches the world.
"""

from typing import TypeAlias

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"
"""JSON-shaped data: what YAML documents hold and what Kubernetes objects are made of."""

Path: TypeAlias = tuple[str | int, ...]
"""Keys and list positions from a document's root to a value."""


def dotted(path: Path) -> str:
    """Write a path as findings show it: ``storage.mounts[0].path``."""
    out = ""
    for part in path:
        out += f"[{part}]" if isinstance(part, int) else f".{part}" if out else part
    return out
