"""`--format text`: for people. Each finding with its line and a caret, colour where asked for, nothing that a terminal would act on."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from taugen.diag import Diagnostic, Refused, Severity, Span
from taugen.words.credentials import hidden, in_line
from taugen.words.names import printable

if TYPE_CHECKING:
    from taugen.pipeline.check import Report

_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}
_WIDEST = 160
"""Characters of a source line that are shown; the caret's surroundings are kept."""

SILENT = frozenset(("credential", "default-env"))
"""Findings whose line may hold a credential that nothing but its name tells: the line is not shown."""

Lines = Callable[[str, int], str | None]
"""The text of line N (from 1) of a file, or None."""


def write(report: "Report", lines: Lines, *, color: bool = False) -> str:
    """All findings and a summary line."""
    lines = _guarded(report.findings, lines)
    out = [one(d, lines, color=color) for d in report.findings]
    out.append(summary(report, color=color))
    return "\n".join(out) + "\n"


def findings(found: Iterable[Diagnostic], lines: Lines, *, color: bool = False) -> str:
    """The findings only."""
    found = list(found)
    lines = _guarded(found, lines)
    return "\n".join(one(d, lines, color=color) for d in found)


def _guarded(found: Iterable[Diagnostic], lines: Lines) -> Lines:
    """`lines` without those that must not be shown, whichever finding is on them."""
    silent = {(d.span.file, d.span.line) for d in found if d.rule in SILENT}
    return (lambda file, line: None if (file, line) in silent else lines(file, line)) if silent else lines


def one(d: Diagnostic, lines: Lines, *, color: bool = False) -> str:
    """One finding: place, severity, message, the line with a caret, the hint, the limit's own place."""
    paint = _paint if color else _plain
    severity = paint(f"{d.severity}", _COLOURS[d.severity] + ";1")
    path = f" {paint(printable(d.path), '1')}:" if d.path else ""
    out = [f"{paint(printable(str(d.span)), '1')}: {severity}:{path} {printable(d.message)} [{d.rule}]"]
    if d.rule not in SILENT:  # also where it stands alone
        out += excerpt(d.span, lines, _COLOURS[d.severity] if color else "")
    if d.hint:
        out.append(f"    {paint('write:' if _imperative(d.hint) else 'help:', '32')} {printable(d.hint)}")
    if d.origin is not None:
        out.append(f"    limit: {printable(str(d.origin))}")
    return "\n".join(out)


def _imperative(hint: str) -> bool:
    return hint.startswith("`")


def excerpt(span: Span, lines: Lines, colour: str) -> list[str]:
    """The source line and a caret line below it; nothing if the file can't be read, or the line holds a credential."""
    text = lines(span.file, span.line)
    if text is None or not text.strip() or hidden(text) != text or in_line(text):
        return []
    text = text.rstrip("\r\n")
    start = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line and span.end_column > span.column else start + 1
    shift = max(0, start - _WIDEST // 2) if len(text) > _WIDEST else 0
    cut = text[shift : shift + _WIDEST]
    shown = "".join(c if c.isprintable() else "\u00b7" for c in cut.replace("\t", " ").replace("##", "#\u00b7" if "[" in cut else "##"))
    carets = "^" * max(1, min(end, shift + _WIDEST) - start)
    gutter = f"{span.line:>5}"
    mark = f"\x1b[{colour}m{carets}\x1b[0m" if colour else carets
    return [f"{gutter} | {shown}", f"      | {' ' * (start - shift)}{mark}"]


def summary(report: "Report", *, color: bool = False) -> str:
    """The last line: what was looked at and what was found."""
    errors, warnings, notes = (report.count(s) for s in (Severity.ERROR, Severity.WARNING, Severity.NOTE))
    looked = f"{report.runs} run{'s' * (report.runs != 1)}, {report.documents} document{'s' * (report.documents != 1)}"
    if not report.findings:
        return (_paint if color else _plain)(f"No problems in {looked}.", "32")
    return f"{errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)}, {notes} note{'s' * (notes != 1)} in {looked}."


def refusal(refused: Refused) -> str:
    """What a command says when it can't go on."""
    out = [f"taugen: {printable(refused.message)}"]
    if refused.hint:
        out.append(f"  {printable(refused.hint)}")
    out += [one(d, lambda _file, _line: None) for d in refused.findings]
    return "\n".join(out)


def _paint(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m"


def _plain(text: str, _code: str) -> str:
    return text
