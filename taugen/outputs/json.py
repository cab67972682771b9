"""`--format json`: one object, keys stable, for tools."""

from taugen.diag import Diagnostic, Severity, Span
from taugen.outputs.common import dumps
from taugen.pipeline.check import Report
from taugen.words import Json


def write(report: Report) -> str:
    """`{"findings": […], "summary": {…}}` with two-space indent and a final newline."""
    findings: list[Json] = [finding(d) for d in report.findings]
    summary: dict[str, Json] = {
        "errors": report.count(Severity.ERROR),
        "warnings": report.count(Severity.WARNING),
        "notes": report.count(Severity.NOTE),
        "runs": report.runs,
        "documents": report.documents,
    }
    return dumps({"findings": findings, "summary": summary})


def finding(d: Diagnostic) -> dict[str, Json]:
    """One finding as an object."""
    return {
        "rule": d.rule,
        "severity": d.severity.value,
        "message": d.message,
        "hint": d.hint,
        "file": d.span.file,
        "line": d.span.line,
        "column": d.span.column,
        "end_line": d.span.end_line or d.span.line,
        "end_column": d.span.end_column or d.span.column,
        "path": d.path,
        "origin": place(d.origin),
    }


def place(span: Span | None) -> Json:
    """A place, or null."""
    return None if span is None else {"file": span.file, "line": span.line, "column": span.column}
