"""JUnit: well-formed XML with a case for each file."""

from xml.etree import ElementTree

from taugen.diag import Severity, Span
from taugen.outputs import junit
from tests.outputs.kit import finding, nasty, report


def suite(*findings, prefix=""):
    return ElementTree.fromstring(junit.write(report(*findings), prefix=prefix)).find("testsuite")


def test_a_case_for_each_file():
    found = suite(
        finding(4), finding(5), finding(6, Severity.WARNING), finding(span=Span("policy/p.yaml"), severity=Severity.NOTE), prefix="sub"
    )
    assert (found.get("tests"), found.get("failures")) == ("2", "1")
    policy, run = found.findall("testcase")
    assert policy.find("failure") is None
    assert "finding 1" in policy.find("system-out").text
    assert run.get("name") == "sub/workspaces/a/tau.yaml"
    (failure,) = run.findall("failure")
    assert failure.get("message") == "finding 4 (and 1 more)"
    assert "finding 5" in failure.text
    assert "finding 6" in run.find("system-out").text


def test_documents_without_findings_are_cases_too(tmp_path):
    import shutil

    from taugen.pipeline.check import check
    from taugen.pipeline.project import open_project
    from tests.policykit import FIXTURE

    shutil.copytree(FIXTURE, tmp_path / "acme")
    made = ElementTree.fromstring(junit.write(check(open_project(tmp_path / "acme")))).find("testsuite")
    assert {case.get("name") for case in made} >= {"workspaces/climate/downscale/tau.yaml", "workspaces/protein/fold/tau.yaml"}
    assert made.get("failures") == "0"


def test_any_text_is_xml():
    (case,) = suite(nasty())
    assert "50% done" in case.find("failure").get("message")
    assert "##[" not in junit.write(report(nasty()))
