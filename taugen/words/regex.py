"""Patterns that are compiled when they are first used.

In: the text of a regular expression. Out: what stands for the compiled one. A command loads a hundred patterns and uses ten of them:
compiling the others would be a twentieth of a small `check`.
"""

import re
from typing import Any, cast


class _Lazy:
    def __init__(self, text: str, flags: int) -> None:
        self._made = text, flags

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(*self._made), name)
        setattr(self, name, value)  # from now on it is found without this method
        return value


def regex(text: str, flags: int = 0) -> re.Pattern[str]:
    """`re.compile(text, flags)`, put off. A bad pattern raises `re.error` at its first use."""
    return cast("re.Pattern[str]", _Lazy(text, flags))
