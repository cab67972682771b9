"""`--format github`: workflow commands that GitHub Actions shows as annotations in the pull request.

GitHub shows 10 annotations of a level for a step and drops the rest without a word (actions/toolkit issue 734), so what is over 10
comes as plain lines of the log. Properties end at ``,`` and ``::``, a command at its line end: all of these are escaped
(actions/toolkit command.ts).
"""

from taugen.diag import Diagnostic, Severity
from taugen.outputs import text
from taugen.outputs.common import by_weight, located
from taugen.pipeline.check import Report
from taugen.words.names import printable

SHOWN = 10
"""Annotations of one level that GitHub shows for a step."""
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def write(report: Report, *, prefix: str = "") -> str:
    """One command a finding, errors first, at most `SHOWN` of each level; the others as plain lines; a summary line last."""
    found = by_weight(report.findings)
    shown, rest = [], []
    for level in _LEVELS:
        mine = [d for d in found if d.severity is level]
        shown += mine[:SHOWN]
        rest += mine[SHOWN:]
    lines = [_command(d, prefix) for d in shown]
    lines += [text.one(d, lambda _file, _line: None) for d in rest]
    more = f" {len(rest)} more than GitHub shows as annotations: see the lines above." if rest else ""
    return "\n".join([*lines, text.summary(report) + more]) + "\n"


def _command(d: Diagnostic, prefix: str) -> str:
    span = d.span
    properties: dict[str, object] = {"file": located(span.file, prefix)}
    if span.end_line or (span.line, span.column) != (1, 1):
        properties |= {"line": span.line, "col": span.column}
    if span.end_line:
        properties |= {"endLine": span.end_line}
        # GitHub's endColumn is the last character, and it refuses columns over several lines.
        properties |= {"endColumn": max(span.end_column - 1, span.column)} if span.end_line == span.line else {}
    properties |= {"title": d.rule}
    parts = [f"{printable(d.path)}: {printable(d.message)}" if d.path else printable(d.message)]
    parts += [printable(d.hint)] if d.hint else []
    parts += [f"limit: {printable(str(d.origin))}"] if d.origin is not None else []
    listed = ",".join(f"{key}={_property(printable(str(value)))}" for key, value in properties.items())
    return f"::{_LEVELS[d.severity]} {listed}::{_data(chr(10).join(parts))}"


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")
