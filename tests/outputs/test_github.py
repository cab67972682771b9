"""Workflow commands: GitHub's own way of reading them gives back what was meant, and nothing else is a command."""

import re

from taugen.diag import Severity, Span
from taugen.outputs import github
from tests.outputs.kit import finding, nasty, report

COMMAND = re.compile(r"::(?P<name>[\w-]+) ?(?P<properties>.*?)::(?P<data>.*)")


def read(line):
    """As actions/runner ActionCommand.TryParseV2 does."""
    found = COMMAND.fullmatch(line)
    if found is None:
        return None
    pairs = dict(part.split("=", 1) for part in found["properties"].split(","))
    plain = {
        key: value.replace("%3A", ":").replace("%2C", ",").replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
        for key, value in pairs.items()
    }
    return found["name"], plain, found["data"].replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def test_a_finding():
    out = github.write(report(finding(4, hint="write 8", origin=Span("policy/p.yaml", 2, 1))), prefix="sub")
    line, summary = out.splitlines()
    assert read(line) == (
        "error",
        {"file": "sub/workspaces/a/tau.yaml", "line": "4", "col": "3", "endLine": "4", "endColumn": "8", "title": "profile-limit"},
        "compute.gpus: finding 4\nwrite 8\nlimit: policy/p.yaml:2:1",
    )
    assert summary == "1 error, 0 warnings, 0 notes in 1 run, 3 documents."


def test_a_finding_about_a_whole_file_has_no_line():
    name, properties, _ = read(github.write(report(finding(span=Span("a.yaml")))).splitlines()[0])
    assert (name, properties) == ("error", {"file": "a.yaml", "title": "profile-limit"})


def test_ten_of_each_level_and_the_rest_in_the_log():
    many = [finding(n, level) for level in (Severity.NOTE, Severity.WARNING, Severity.ERROR) for n in range(1, 14)]
    lines = github.write(report(*many)).splitlines()
    commands = [read(line) for line in lines]
    names = [command[0] for command in commands if command]
    assert names == ["error"] * 10 + ["warning"] * 10 + ["notice"] * 10
    assert all(any(f"finding {n}" in line for line in lines) for n in range(1, 14))
    assert lines[-1].endswith("9 more than GitHub shows as annotations: see the lines above.")
    assert len(lines) == 30 + 9 + 1


def test_nothing_in_a_finding_is_a_command_of_its_own():
    lines = github.write(report(nasty(), *[finding(n) for n in range(20, 30)], nasty())).splitlines()
    assert [command[0] for line in lines if (command := read(line))] == ["error"] * 10
    assert not any("##[" in line or "\x1b" in line or "\r" in line for line in lines)
    _, properties, data = read(lines[0])
    assert (properties["line"], properties["col"]) == ("7", "3")
    assert properties["file"].startswith("workspaces/50% done: a,b ::error file=x::y")
    assert "50% done: a,b" in data


def test_no_findings():
    assert github.write(report()) == "No problems in 1 run, 3 documents.\n"
