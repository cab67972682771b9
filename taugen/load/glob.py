"""Globs over paths: the `runs` of a Project, compiled once.

In: patterns such as ``workspaces/*/**/tau.yaml``. Out: a matcher for paths with ``/``, relative, case-sensitive. What must never happen: a pattern that
takes more than (length of pattern x length of path) steps, since patterns come from pull requests.
"""

import re
from collections.abc import Iterable

MAX_LENGTH = 1024  # characters of one pattern
_SPECIAL = re.compile(r"[*?\[]")
_PART = re.compile(r"\*+|\?|\[!?\]?[^\]/]*\]|[^*?\[]+|\[")


class GlobError(ValueError):
    """A pattern can't be used; the message says why and what to write instead."""


class Matcher:
    """Matches a path against any of some patterns."""

    __slots__ = ("_match", "_suffixes", "patterns")

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        self._match = re.compile("|".join(f"(?:{translate(p)})" for p in self.patterns) or r"(?!)").fullmatch
        suffixes = [_SPECIAL.split(_tail(p))[-1] for p in self.patterns]
        self._suffixes = tuple(s.rsplit("]", 1)[-1] for s in suffixes)

    def __call__(self, path: str) -> bool:
        # Most paths of a repository fail on their ending alone, at a tenth of the price of the expression.
        return path.endswith(self._suffixes) and self._match(path) is not None


def _tail(pattern: str) -> str:
    return pattern.rsplit("/", 1)[-1]


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


def translate(pattern: str) -> str:
    """The regular expression of a pattern, for `fullmatch`. Raises `GlobError`."""
    _refuse(pattern)
    parts = pattern.split("/")
    # Between two `**` stands a fixed number of folders, so the leftmost place where they fit is as good as any: an atomic group never goes back.
    blocks: list[list[str]] = [[]]
    for part in parts:
        if part == "**":
            blocks.append([])
        else:
            blocks[-1].append(_segment(part))
    first, *rest = blocks
    text = "/".join(first)
    if not rest:
        return text
    text += "/" if first else ""
    *middle, last = rest
    text += "".join(f"(?>(?:[^/]+/)*?{'/'.join(block)}/)" for block in middle if block)
    return text + "(?:[^/]+/)*" + ("/".join(last) if last else "[^/]+")


def _segment(part: str) -> str:
    pieces: list[str] = [""]
    for token in _PART.findall(part):
        if token.startswith("*"):
            pieces.append("")
        elif token == "?":
            pieces[-1] += "[^/]"
        elif token.startswith("[") and len(token) > 1:
            pieces[-1] += _class(token)
        else:
            pieces[-1] += re.escape(token)
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle if piece) + "[^/]*" + last


def _class(token: str) -> str:
    inner = token[1:-1]
    negated = inner.startswith("!")
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner.removeprefix("!"))
    try:
        re.compile(f"[{escaped}]")
    except re.error:
        raise GlobError(f"{token!r}: a range goes from the lower to the higher character") from None
    return f"(?!/)[{'^' if negated else ''}{escaped}]"
