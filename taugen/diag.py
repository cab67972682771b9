"""Findings are data.

In: what a stage noticed. Out: `Diagnostic` values that any writer under `outputs/` can print. A finding is never raised and never printed
where it is made; only `Refused` is raised, for what stops a command as a whole.
"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from taugen.words.credentials import hidden
from taugen.words.names import printable

MOST_CHARACTERS = 900
"""Of a message, a path and a hint."""


class Severity(StrEnum):
    """How much a finding matters: errors fail `check`, warnings fail it under ``--strict``, notes never."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Span(Struct, frozen=True):
    """A place: `file` relative to the repository with ``/``; lines and columns from 1; the end column is that after the last character."""

    file: str
    line: int = 1
    column: int = 1
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Diagnostic(Struct, frozen=True):
    """One finding.

    `rule` is a kebab-case id that `taugen explain` knows; `message` says what is wrong; `hint` what to write instead; `span` where; `path`
    is the dotted field as the user typed it; `origin` is the place that set the limit (policy), where there is one.
    """

    rule: str
    message: str
    span: Span
    path: str = ""
    hint: str = ""
    severity: Severity = Severity.ERROR
    origin: Span | None = None

    def __post_init__(self) -> None:
        """What was typed may stand in each: no credential gets any further, nothing that a terminal or a CI log would act on, and no more
        of it than somebody reads."""
        for name in ("message", "path", "hint"):
            text: str = getattr(self, name)
            safe = hidden(printable(text))
            if len(safe) > MOST_CHARACTERS:
                safe = f"{safe[:MOST_CHARACTERS]}…"
            if name != "path":
                safe = safe.strip()
            if safe != text:
                force_setattr(self, name, safe)

    def softened(self, why: str) -> "Diagnostic":
        """The same finding as a note, with the reason appended to its message."""
        return replace(self, severity=Severity.NOTE, message=f"{self.message} ({why})")


def ordered(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sort by file and place, equal findings once: output never depends on the order in which stages ran."""
    unique = dict.fromkeys(findings)
    return sorted(unique, key=lambda d: (d.span.file, d.span.line, d.span.column, d.rule, d.path, d.message))


def has_errors(findings: Iterable[Diagnostic]) -> bool:
    """Whether any finding is an error."""
    return any(d.severity is Severity.ERROR for d in findings)


class Refused(Exception):  # noqa: N818 - it names what happens
    """A command can't go on: usage (exit 2), errors (1) or a refusal of `publish` (4). Carries findings or one sentence."""

    def __init__(self, message: str, *, hint: str = "", code: int = 1, findings: Iterable[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
        self.findings = tuple(findings)
