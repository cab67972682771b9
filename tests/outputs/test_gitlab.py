"""Code Quality: the shape that GitLab asks for, and fingerprints that edits elsewhere leave alone."""

import json

from taugen.diag import Span
from taugen.outputs import gitlab
from tests.outputs.kit import finding, nasty, report


def issues(*findings, prefix=""):
    return json.loads(gitlab.write(report(*findings), prefix=prefix))


def test_an_issue():
    (issue,) = issues(finding(4, hint="write 8", origin=Span("policy/p.yaml", 2, 1)), prefix="sub")
    assert len(issue.pop("fingerprint")) == 64
    assert issue == {
        "description": "compute.gpus: finding 4 (write 8) [limit: policy/p.yaml:2:1]",
        "check_name": "profile-limit",
        "severity": "major",
        "location": {"path": "sub/workspaces/a/tau.yaml", "lines": {"begin": 4}},
    }


def test_fingerprints_do_not_follow_lines():
    before, after = issues(finding(4), finding(9)), issues(finding(5), finding(12))
    assert [one["fingerprint"] for one in before] == [one["fingerprint"] for one in after]
    assert len({one["fingerprint"] for one in issues(finding(4), finding(9), finding(4, rule="other"), finding(4, path="x"))}) == 4


def test_none_is_an_empty_list():
    assert gitlab.write(report()) == "[]\n"


def test_nothing_acts_on_a_terminal():
    out = gitlab.write(report(nasty()))
    assert out.isascii()
    assert "\x1b" not in out
    assert "##[" not in out
