"""The error of the text-level helpers.

In: a text that a person typed and that means nothing. Out: one sentence that says what is wrong and one that says what to write, both fit
for a finding (the typed text is shown escaped and cut). It never carries a place: callers know theirs.
"""

import shlex

from taugen.words.credentials import hidden, named
from taugen.words.names import printable
from taugen.words.regex import regex

_SHOWN = 40
_WORDS = 8
_WORD = regex(r"(?!(?:true|false|null|yes|no|on|off|y|n)$)(?:--?)?[A-Za-z/][A-Za-z0-9_./=+-]*")
"""What needs no quotes in a YAML list: surely text."""


class TextError(ValueError):
    """A typed value can't be read. `message` says what is wrong, `hint` what to write instead; `str()` joins both."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}: {self.hint}" if self.hint else self.message


def shown(text: str) -> str:
    """The typed text as findings quote it: escaped, in double quotes, at most 40 characters, no credential in it."""
    text = hidden(text)
    cut = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return f'"{printable(cut)}"'


def as_list(command: str) -> str:
    """A command line as the YAML list that it would have to be, at most 8 words and no credential in it."""
    try:
        words = shlex.split(hidden(command))
    except ValueError:  # a quote that is never closed
        words = hidden(command).split()
    out = [_word(word, before) for word, before in zip(words[:_WORDS], ["", *words], strict=False)]
    return f"[{', '.join(out + ['…'] * (len(words) > _WORDS))}]"


def _word(word: str, before: str) -> str:
    name, equals, value = word.partition("=")
    if (equals and named(name.lstrip("-"), value)) or (before.startswith("--") and named(before.lstrip("-"), word)):
        return f"{name}=…" if equals else "…"
    return word if _WORD.fullmatch(word) else shown(word)
