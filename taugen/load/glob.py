"""Globs over paths: the `runs` of a Project, compiled once.

In: patterns such as ``workspaces/*/**/tau.yaml``. Out: a matcher for relative paths with ``/``; case counts. What must never happen: a
pattern that takes much more than (its length x that of the path) steps, since patterns come from pull requests.
"""

import re
from collections.abc import Iterable

from taugen.words.regex import regex

MAX_LENGTH = 1024  # characters of one pattern
_TAIL = regex(r"[^*?\[\]\\]*\Z")
_TOKEN = regex(r"\*+|\?|\\.|\[[!^]?\]?(?:\\.|[^\]/\\])*\]|[^*?\[\\]+|.")


class GlobError(ValueError):
    """A pattern can't be used; the message says why and what to write instead."""


class Matcher:
    """Matches a path against any of some patterns. Raises `GlobError` when built."""

    __slots__ = ("_match", "_tails", "patterns")

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        for pattern in self.patterns:
            _refuse(pattern)
        self._match = re.compile("|".join(f"(?:{expression(p)})" for p in self.patterns) or r"(?!)").fullmatch
        self._tails = tuple(_TAIL.findall(p.rsplit("/", 1)[-1])[0] for p in self.patterns)

    def __call__(self, path: str) -> bool:
        """Whether any pattern matches the whole path."""
        # Most paths of a repository fail on their ending alone, at a fraction of the price of the expression.
        return path.endswith(self._tails) and self._match(path) is not None


def _refuse(pattern: str) -> None:
    parts = pattern.split("/")
    if not pattern or len(pattern) > MAX_LENGTH:
        raise GlobError(f"a pattern has 1 to {MAX_LENGTH} characters")
    if "" in parts or "." in parts or ".." in parts:
        raise GlobError(f"{pattern!r}: write a path relative to taugen.yaml without empty, '.' and '..' parts")
    if "\\" in pattern or "{" in pattern or pattern.startswith("!"):
        raise GlobError(f"{pattern!r}: only *, **, ? and [..] are known; write alternatives as patterns of their own")
    if any("**" in part and part != "**" for part in parts):
        raise GlobError(f"{pattern!r}: ** stands alone between slashes")


def expression(pattern: str) -> str:
    """The regular expression of a pattern, for `fullmatch`. Raises `GlobError` for brackets that are not closed or ordered."""
    # Between two `**` stands a fixed number of folders: the first place where they fit is as good as any, so atomic groups never go back.
    blocks: list[list[str]] = [[]]
    for part in pattern.split("/"):
        if part == "**":
            blocks.append([])
        else:
            blocks[-1].append(_part(part))
    first, *rest = blocks
    text = "/".join(first)
    if not rest:
        return text
    text += "/" if first else ""
    *middle, last = rest
    text += "".join(f"(?>(?:[^/]+/)*?{'/'.join(block)}/)" for block in middle if block)
    return text + "(?:[^/]+/)*" + ("/".join(last) if last else "[^/]+")


def _part(part: str) -> str:
    pieces: list[str] = [""]
    for piece in _TOKEN.findall(part):
        if piece.startswith("*"):
            pieces.append("")
        elif piece.startswith("?"):
            pieces[-1] += "[^/]"
        elif piece.startswith("["):
            pieces[-1] += _bracket(piece)
        elif piece == "\\":
            raise GlobError(f"{part!r} ends with a backslash that escapes nothing")
        else:
            pieces[-1] += re.escape(piece.removeprefix("\\"))
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle if piece) + "[^/]*" + last


def _bracket(piece: str) -> str:
    if len(piece) < 3 or (piece[:2] == "[[" and piece[2:3] in ":.="):
        raise GlobError(f"{piece!r}: close the bracket, and list characters and ranges only")
    inner = piece[1:-1]
    negated = inner[0] in "!^"
    inner = re.sub(r"\\(.)", r"\1", inner[1:] if negated else inner)
    ranges = re.findall(r"(.)-(.)|(.)", inner, re.DOTALL)
    if any(low > high for low, high, _ in ranges):
        raise GlobError(f"{piece!r}: a range goes from the lower to the higher character")
    items = "".join(f"{re.escape(low)}-{re.escape(high)}" if low else re.escape(one) for low, high, one in ranges)
    return f"(?!/)[{'^' if negated else ''}{items}]"
