"""`--format markdown`: a table for a job summary or a comment.

Text of a pull request must not become markup of the page that judges it: no link, no image, no mention of a person or an issue.
"""

import re

from taugen.diag import Diagnostic, Severity
from taugen.outputs import text
from taugen.outputs.common import by_weight, located
from taugen.pipeline.check import Report
from taugen.words.names import printable
from taugen.words.regex import regex

LIMIT = 256 * 1024
"""Bytes of the table: GitHub drops a job summary of more than 1 MiB whole, and refuses a comment of more than 65,536 characters."""
_MARKS = {Severity.ERROR: "❌ error", Severity.WARNING: "⚠️ warning", Severity.NOTE: "💡 note"}
_PUNCTUATION = regex(r"[\\`*_\[\]<>|~&$]")
_LINKS = regex(r"(?<=@)|(?<=#)|(?<=\w:)(?=//)|(?<=www)(?=\.)|(?<=\bGH-)(?=\d)", re.IGNORECASE)
_BREAK = "&#8203;"
"""A space of no width: what stands before and after it is no mention, no issue and no address any more."""


def write(report: Report, *, prefix: str = "", limit: int = LIMIT) -> str:
    """The summary line and, where there are findings, a table of them, errors first, cut at `limit` bytes with their number."""
    head = f"**taugen**: {text.summary(report)}\n"
    if not report.findings:
        return head
    out = [head, "\n| | place | finding |\n|---|---|---|\n"]
    size = sum(len(part.encode()) for part in out)
    found = by_weight(report.findings)
    for number, d in enumerate(found):
        row = _row(d, prefix)
        size += len(row.encode())
        if size > limit:
            return "".join([*out, f"\n{len(found) - number} more findings stand in the log.\n"])
        out.append(row)
    return "".join(out)


def _row(d: Diagnostic, prefix: str) -> str:
    place = f"{located(d.span.file, prefix)}:{d.span.line}:{d.span.column}"
    field = f"**{plain(d.path)}**: " if d.path else ""
    hint = f"<br>{plain(d.hint)}" if d.hint else ""
    limit = f"<br>limit: {plain(str(d.origin))}" if d.origin is not None else ""
    return f"| {_MARKS[d.severity]} | {plain(place)} | {field}{plain(d.message)} `{d.rule}`{hint}{limit} |\n"


def plain(value: str) -> str:
    """Text that reads the same as Markdown."""
    broken = _LINKS.sub("\0", printable(value))
    return _PUNCTUATION.sub(lambda found: f"&#{ord(found[0])};", broken).replace("\0", _BREAK)
