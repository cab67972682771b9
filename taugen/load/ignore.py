"""Patterns as in .gitignore: `code.include` and `code.exclude`.

In: lines. Out: a matcher for relative paths. The rules are git's (gitignore(5)): the last matching pattern decides, ``!`` takes back, a
pattern with a slash inside starts at the root, a slash at the end means folders, and what is below a matched folder is matched. What must
never happen: a pattern whose time grows with a power of the path's length; general libraries translate ``*`` so that six of them take
minutes.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from taugen.load.glob import GlobError, expression

MAX_PATTERN = 256  # characters


class _Rule(NamedTuple):
    match: "re.Pattern[str]"
    negated: bool
    folders_only: bool


class Patterns:
    """Matches paths of files. Raises `GlobError` when built."""

    __slots__ = ("_folders", "_rules")

    def __init__(self, lines: Iterable[str]) -> None:
        rules = [rule for line in lines if (rule := _rule(line)) is not None]
        self._rules: Sequence[_Rule] = rules[::-1]
        self._folders: dict[str, bool] = {"": False}

    def __call__(self, path: str) -> bool:
        """Whether the file at `path`, or a folder that holds it, is matched."""
        return self._folder(path.rpartition("/")[0]) or self._decide(path, folder=False)

    def _folder(self, folder: str) -> bool:
        known = self._folders.get(folder)
        if known is None:
            known = self._folder(folder.rpartition("/")[0]) or self._decide(folder, folder=True)
            self._folders[folder] = known
        return known

    def _decide(self, path: str, *, folder: bool) -> bool:
        for rule in self._rules:
            if (folder or not rule.folders_only) and rule.match.fullmatch(path):
                return not rule.negated
        return False


def pattern_problem(pattern: str) -> str | None:
    """Why a pattern can't be used, as a sentence; None where it can."""
    if len(pattern) > MAX_PATTERN:
        return f"a pattern has at most {MAX_PATTERN} characters"
    if any(c in pattern for c in "\0\n\r"):
        return "a pattern is one line of text"
    try:
        _rule(pattern)
    except GlobError as error:
        return str(error)
    return None


def _rule(line: str) -> _Rule | None:
    if line.startswith("#"):
        return None
    text = re.sub(r"(?<!\\) +\Z", "", line)
    negated = text.startswith("!")
    text = text[1:] if negated else text
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    if not text:
        return None
    anchored = "/" in text
    text = text.removeprefix("/") if anchored else f"**/{text}"
    return _Rule(re.compile(expression(text), re.DOTALL), negated, folders_only)
