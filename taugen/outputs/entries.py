"""Lines that begin with one word each: what a command did to which run."""

from taugen.words.names import printable

_COLOURS = {
    "restore": "32", "add": "32", "retry": "32", "cancel": "31", "replace": "31", "wait": "33", "held back": "33", "goes on": "33",
    "ended": "36", "retire": "36",
}  # fmt: skip


def listed(word: str, entries: list[str], *, limit: int, color: bool) -> list[str]:
    """A line for each of the first `limit` entries, the rest counted; the words stand flush right."""
    if len(entries) > limit:
        entries = [*entries[:limit], f"and {len(entries) - limit} more"]
    shown = f"{word:>9}"
    shown = f"\x1b[{_COLOURS[word]}m{shown}\x1b[0m" if color else shown
    return [f"{shown}  {printable(entry)}" for entry in entries]
