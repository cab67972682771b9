"""Where commands print: data on stdout, words for people on stderr, colour only on a terminal that wants it."""

import os
import sys
from collections.abc import Callable

from taugen.load.tree import SourceTree, Unreadable


def colored(choice: bool | None, stream: object = None) -> bool:
    """Whether to colour: as asked, else NO_COLOR and FORCE_COLOR, else whether the stream is a terminal."""
    if choice is not None:
        return choice
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    target = stream or sys.stdout
    return bool(getattr(target, "isatty", lambda: False)()) and os.environ.get("TERM") != "dumb"


def source_lines(tree: SourceTree) -> Callable[[str, int], str | None]:
    """Reads single lines of the tree's files for excerpts; each file once."""
    kept: dict[str, list[str]] = {}

    def line(file: str, number: int) -> str | None:
        if file not in kept:
            try:
                kept[file] = tree.read(file, 1 << 20).decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
            except Unreadable:
                kept[file] = []
        return kept[file][number - 1] if 0 < number <= len(kept[file]) else None

    return line


def say(text: str) -> None:
    """A line for people."""
    sys.stderr.write(text + "\n")


def progress() -> Callable[[str], None]:
    """Shows long work on a terminal, on one line; says nothing elsewhere."""
    if not sys.stderr.isatty():
        return lambda _: None

    def show(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    return show
