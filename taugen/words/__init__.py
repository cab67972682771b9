"""Text-level helpers that every stage shares: quantities, durations, names, canonical JSON, the YAML writer.

Pure functions over plain values. Nothing here knows a document kind or touches the world.
"""

from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""JSON-shaped data: what YAML documents hold and what Kubernetes objects are made of."""

Path: TypeAlias = tuple[str | int, ...]
"""Keys and list positions from a document's root to a value."""


def at(value: Json, *path: str) -> Json:
    """What stands at a path of keys, None where nothing does."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def dotted(path: Path) -> str:
    """Write a path as findings show it: ``storage.mounts[0].path``; a key that nobody could see in quotes."""
    out = ""
    for part in path:
        if isinstance(part, int):
            out += f"[{part}]"
            continue
        key = part if part.strip() else f'"{part}"'
        out += f".{key}" if out else key
    return out
