"""Tables and times for people.

In: cells. Out: lines of at most `WIDTH` characters, if their columns allow it. What must never happen: a name cut off that is needed for
the next command; a character that a terminal acts on.
"""

import textwrap
from collections.abc import Sequence
from datetime import UTC, datetime

from taugen.words.names import printable

WIDTH = 100
STATE_COLOURS = {
    "succeeded": "32", "running": "36", "admitted": "36", "failed": "31", "deactivated": "31", "validation-failed": "31", "stale": "33",
    "queued": "33", "cancelled": "2", "replaced": "2", "published": "33",
}  # fmt: skip
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def ago(time: str, now: datetime) -> str:
    """``3 h ago``; "" for no time."""
    return f"{span(time, now)} ago" if time else ""


def span(start: str, end: datetime | str) -> str:
    """How long from one time to another, in its largest unit: ``3 h``; ``-`` where one of them is missing or none (who writes names of
    files by hand may write any)."""
    if not start or not end:
        return "-"
    try:
        until = datetime.fromisoformat(end).astimezone(UTC) if isinstance(end, str) else end
        seconds = max(0, int((until - datetime.fromisoformat(start)).total_seconds()))
    except ValueError:
        return "-"
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= size), (1, "s"))
    return f"{seconds // size} {unit}"


def lines(head: Sequence[str], rows: Sequence[Sequence[str]], spare: Sequence[str] = ()) -> list[str]:
    """The rows below their head, cells aligned; where they are wider than `WIDTH`, the columns named in `spare` leave in that order."""
    cells = [[printable(cell) for cell in row] for row in (head, *rows)]
    chosen = list(range(len(head)))
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for name in spare:
        if sum(widths[column] + 2 for column in chosen) - 2 <= WIDTH:
            break
        chosen.remove(head.index(name))
    return ["  ".join(f"{row[column]:<{widths[column]}}" for column in chosen).rstrip() for row in cells]


def wrapped(text: str, indent: str, more: str = "") -> list[str]:
    """A text in lines, each indented, those after the first by `more` besides."""
    further = indent + more
    wrapper = textwrap.TextWrapper(WIDTH, initial_indent=indent, subsequent_indent=further, break_long_words=False, break_on_hyphens=False)
    return wrapper.wrap(printable(text))


def painted(line: str, word: str, *, color: bool) -> str:
    """The line with the first `word` in the colour of that state."""
    code = STATE_COLOURS.get(word)
    return line.replace(f" {word}", f" \x1b[{code}m{word}\x1b[0m", 1) if color and code else line
