"""`--format sarif`: SARIF 2.1.0, for code scanning.

GitHub shows an alert in a pull request only if all lines of its region are in the diff, so regions are as narrow as findings are; a finding
about a whole file has none. It takes 25,000 results at most (GitHub docs, SARIF support for code scanning).
"""

from collections.abc import Iterable
from urllib.parse import quote

from taugen import __version__
from taugen.diag import Diagnostic, Span
from taugen.outputs.common import by_weight, dumps, fingerprints, located
from taugen.pipeline import catalog
from taugen.pipeline.check import Report
from taugen.words import Json
from taugen.words.names import printable

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST = 25_000
"""Results of one run."""
_TEXT = 1024
"""Characters of a description that GitHub takes."""


def write(report: Report, *, prefix: str = "") -> str:
    """The log with one run; `results` is there even if it is empty."""
    found = by_weight(report.findings)
    used = sorted({d.rule for d in found[:MOST]})
    numbers = {rule: number for number, rule in enumerate(used)}
    prints = fingerprints(found)
    results: list[Json] = [
        _result(d, numbers[d.rule], fingerprint, prefix) for d, fingerprint in zip(found[:MOST], prints[:MOST], strict=True)
    ]
    rules: list[Json] = [*_rules(used)]
    notices: list[Json] = [{"level": "warning", "message": {"text": f"{len(found) - MOST} more findings"}}] if len(found) > MOST else []
    run: dict[str, Json] = {
        "tool": {"driver": {"name": "taugen", "version": __version__, "semanticVersion": __version__, "rules": rules}},
        "automationDetails": {"id": "taugen/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notices}],
        "results": results,
    }
    return dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rules(used: Iterable[str]) -> Iterable[dict[str, Json]]:
    known = catalog.entries()
    for rule in used:
        entry = known.get(rule)
        summary, text = (entry.summary, entry.text) if entry is not None else (rule, rule)
        yield {
            "id": rule,
            "shortDescription": {"text": _cut(summary)},
            "fullDescription": {"text": _cut(text)},
            "help": {"text": text, "markdown": text},
            "properties": {"tags": ["taugen"], "precision": "very-high"},
        }


def _result(d: Diagnostic, number: int, fingerprint: str, prefix: str) -> dict[str, Json]:
    field = f"{d.path}: " if d.path else ""
    hint = f". {d.hint}" if d.hint else ""
    result: dict[str, Json] = {
        "ruleId": d.rule,
        "ruleIndex": number,
        "level": d.severity.value,
        "message": {"text": printable(f"{field}{d.message}{hint}")},
        "locations": [_location(d.span, prefix)],
        "partialFingerprints": {"taugen/v1": fingerprint},
    }
    if d.origin is not None:
        result["relatedLocations"] = [{"id": 1, **_location(d.origin, prefix), "message": {"text": "the limit stands here"}}]
    return result


def _location(span: Span, prefix: str) -> dict[str, Json]:
    uri = quote(located(span.file, prefix).encode("utf-8", "surrogateescape"))
    physical: dict[str, Json] = {"artifactLocation": {"uri": uri}}
    region: dict[str, Json] = {"startLine": span.line, "startColumn": span.column}
    if span.end_line >= span.line and (span.end_line, span.end_column) > (span.line, span.column):
        region |= {"endLine": span.end_line, "endColumn": span.end_column}
    if region != {"startLine": 1, "startColumn": 1}:
        physical["region"] = region
    return {"physicalLocation": physical}


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
