"""`--format junit`: test results, a case for each file, as GitLab, Jenkins and Azure Pipelines show them.

A file is the unit, since viewers compare cases by name from run to run: a finding more or less must not look like another test.
"""

from xml.sax.saxutils import escape, quoteattr

from taugen.diag import Diagnostic, Severity
from taugen.outputs import text
from taugen.outputs.common import located
from taugen.pipeline.check import Report
from taugen.words.names import printable


def write(report: Report, *, prefix: str = "") -> str:
    """One suite; a file with errors is a failure, its warnings and notes are output of the case."""
    files: dict[str, list[Diagnostic]] = {one.doc.file: [] for one in report.compiled}
    for d in report.findings:
        files.setdefault(d.span.file, []).append(d)
    cases = [_case(located(file, prefix), found) for file, found in sorted(files.items())]
    failed = sum(any(d.severity is Severity.ERROR for d in found) for found in files.values())
    counts = f'tests="{len(cases)}" failures="{failed}" errors="0" skipped="0"'
    body = "".join(cases)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="taugen" {counts}>\n  <testsuite name="taugen check" {counts}>\n'
        f"{body}  </testsuite>\n</testsuites>\n"
    )


def _case(file: str, found: list[Diagnostic]) -> str:
    shown = printable(file)
    folder, _, _ = shown.rpartition("/")
    head = f"    <testcase name={_attribute(shown)} classname={_attribute(folder or '.')} file={_attribute(shown)}"
    errors = [d for d in found if d.severity is Severity.ERROR]
    others = [d for d in found if d.severity is not Severity.ERROR]
    if not found:
        return f"{head}/>\n"
    out = [f"{head}>\n"]
    if errors:
        first = printable(errors[0].message) + (f" (and {len(errors) - 1} more)" if len(errors) > 1 else "")
        out.append(f"      <failure type={_attribute(errors[0].rule)} message={_attribute(first)}>{_text(errors)}</failure>\n")
    if others:
        out.append(f"      <system-out>{_text(others)}</system-out>\n")
    return "".join([*out, "    </testcase>\n"])


def _text(found: list[Diagnostic]) -> str:
    return escape(text.findings(found, lambda _file, _line: None))


def _attribute(value: str) -> str:
    return quoteattr(value)
