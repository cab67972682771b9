"""Every text of a document.

In: JSON-shaped data. Out: its texts with their paths, keys not included.
"""

from collections.abc import Iterator

from taugen.load.nodes import Document
from taugen.words import Json, Path


def plain(document: Document) -> bool:
    """Whether the document's text has nothing but ASCII, and no escapes that could stand for anything else."""
    return document.source.isascii() and "\\" not in document.source


def of(value: Json, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """(path, text) of every text at or below `path`."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from of(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from of(item, (*path, at))
