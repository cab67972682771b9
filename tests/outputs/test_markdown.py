"""The table: rows stay rows, and text of a pull request is no markup."""

import re

from taugen.diag import Severity, Span
from taugen.outputs import markdown
from tests.outputs.kit import finding, nasty, report


def test_a_table():
    out = markdown.write(report(finding(4, Severity.NOTE), finding(5, hint="write 8", origin=Span("policy/p.yaml", 2, 1))), prefix="sub")
    head, empty, columns, line, first, second = out.splitlines()
    assert head == "**taugen**: 1 error, 0 warnings, 1 note in 1 run, 3 documents."
    assert (empty, columns, line) == ("", "| | place | finding |", "|---|---|---|")
    assert first == (
        "| ❌ error | sub/workspaces/a/tau.yaml:5:3 | **compute.gpus**: finding 5 `profile-limit`<br>write 8<br>limit: policy/p.yaml:2:1 |"
    )
    assert second.startswith("| 💡 note ")


def test_text_is_no_markup():
    out = markdown.write(report(nasty()))
    rows = out.splitlines()[4:]
    assert len(rows) == 1
    assert rows[0].count("|") == 4
    assert "<b>" not in out
    assert not re.search(r"@\w|#\d|\w://|\x1b|\u202e", re.sub(r"&#\d+;", "\0", out))


def test_what_does_not_fit_is_counted():
    out = markdown.write(report(*[finding(n) for n in range(1, 100)]), limit=2000)
    assert len(out.encode()) < 2100
    shown = out.count("❌")
    assert out.endswith(f"\n{99 - shown} more findings stand in the log.\n")


def test_no_findings_no_table():
    assert markdown.write(report()) == "**taugen**: No problems in 1 run, 3 documents.\n"
