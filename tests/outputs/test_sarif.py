"""SARIF: the official schema, and what GitHub's documentation asks for beyond it."""

import json
import re

import jsonschema
import pytest

from taugen.diag import Severity, Span
from taugen.outputs import sarif
from tests import outside
from tests.outputs.kit import finding, nasty, report

CASES = {
    "none": (),
    "one": (finding(4, hint="write 8", origin=Span("policy/p.yaml", 2, 1)),),
    "all levels": tuple(finding(n, level) for n, level in enumerate(Severity, 1)),
    "nasty": (nasty(),),
    "whole file": (finding(span=Span("a b/ü#?.yaml")),),
}


def run(*findings, prefix=""):
    return json.loads(sarif.write(report(*findings), prefix=prefix))["runs"][0]


@pytest.mark.parametrize("findings", CASES.values(), ids=CASES)
def test_the_official_schema(findings):
    """sarif-2.1.0-rtm.5, as @microsoft/jest-sarif ships it."""
    schema = json.loads(outside.node_file("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json").read_text())
    jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker()).validate(json.loads(sarif.write(report(*findings))))


def test_the_schema_would_notice():
    schema = json.loads(outside.node_file("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json").read_text())
    log = json.loads(sarif.write(report(finding())))
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = -1
    assert not jsonschema.Draft7Validator(schema).is_valid(log)


@pytest.mark.parametrize("findings", CASES.values(), ids=CASES)
def test_what_github_asks_for(findings):
    log = json.loads(sarif.write(report(*findings)))
    assert log["version"] == "2.1.0"
    assert log["$schema"].startswith("https://")
    made = log["runs"][0]
    rules = made["tool"]["driver"]["rules"]
    for rule in rules:
        assert 0 < len(rule["shortDescription"]["text"]) <= 1024
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024
        assert rule["help"]["text"]
        assert rule["help"]["markdown"]
        assert len(rule["properties"]["tags"]) <= 20
    assert len(made["results"]) == len(findings)
    for result in made["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        assert re.fullmatch(r"[A-Za-z0-9_.~/%-]+", physical["artifactLocation"]["uri"])
        assert not physical["artifactLocation"]["uri"].startswith(("/", "./"))
        assert all(number >= 1 for number in physical.get("region", {}).values())
        assert result["partialFingerprints"]


def test_a_result():
    (result,) = run(*CASES["one"], prefix="sub")["results"]
    assert result["message"]["text"] == "compute.gpus: finding 4. write 8"
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "sub/workspaces/a/tau.yaml"},
        "region": {"startLine": 4, "startColumn": 3, "endLine": 4, "endColumn": 9},
    }
    assert result["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "sub/policy/p.yaml"


def test_rules_come_with_their_documentation():
    (rule,) = run(finding())["tool"]["driver"]["rules"]
    assert rule["id"] == "profile-limit"
    assert len(rule["help"]["text"]) > len(rule["shortDescription"]["text"]) > 10


def test_a_whole_file_has_no_line():
    (result,) = run(*CASES["whole file"])["results"]
    assert result["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "a%20b/%C3%BC%23%3F.yaml"}}


def test_errors_come_first_and_the_rest_is_counted(monkeypatch):
    monkeypatch.setattr(sarif, "MOST", 2)
    made = run(finding(1, Severity.NOTE), finding(2), finding(3, Severity.WARNING))
    assert [result["level"] for result in made["results"]] == ["error", "warning"]
    assert made["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"] == "1 more findings"


def test_nothing_acts_on_a_terminal():
    out = sarif.write(report(nasty()))
    assert out.isascii()
    assert "\x1b" not in out
    assert "##[" not in out
