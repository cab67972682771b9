"""`--format gitlab`: a Code Quality report.

GitLab shows only the first issue with a given fingerprint, and takes a changed fingerprint for a new problem: it depends on the rule, the
file and the field, not on the line (GitLab docs, Code Quality report format).
"""

from taugen.diag import Diagnostic, Severity
from taugen.outputs.common import dumps, fingerprints, located
from taugen.pipeline.check import Report
from taugen.words import Json
from taugen.words.names import printable

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def write(report: Report, *, prefix: str = "") -> str:
    """A JSON list, empty where nothing was found."""
    prints = fingerprints(report.findings)
    issues: list[Json] = [_issue(d, fingerprint, prefix) for d, fingerprint in zip(report.findings, prints, strict=True)]
    return dumps(issues)


def _issue(d: Diagnostic, fingerprint: str, prefix: str) -> dict[str, Json]:
    field = f"{d.path}: " if d.path else ""
    hint = f" ({d.hint})" if d.hint else ""
    limit = f" [limit: {d.origin}]" if d.origin is not None else ""
    return {
        "description": printable(f"{field}{d.message}{hint}{limit}"),
        "check_name": d.rule,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[d.severity],
        "location": {"path": printable(located(d.span.file, prefix)), "lines": {"begin": d.span.line}},
    }
