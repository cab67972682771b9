"""The error of the text-level helpers.

In: a text that a person typed and that means nothing. Out: one sentence that says what is wrong and one that says what to write, both fit
for a finding (the typed text is shown escaped and cut). It never carries a place: callers know theirs.
"""

from taugen.words.credentials import hidden
from taugen.words.names import printable

_SHOWN = 40


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
