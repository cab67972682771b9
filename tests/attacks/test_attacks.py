"""Pull requests from forks are hostile: whatever they hold, `check` says what is wrong, runs nothing, tells nothing and stays small."""

import json
import re
from xml.etree import ElementTree

import pytest
from cmarkgfm import github_flavored_markdown_to_html

from tests.attacks import cases_repository, cases_text  # noqa: F401 - they register theirs
from tests.attacks.cases import CASES
from tests.attacks.kit import FORMATS, MEBIBYTES, SECONDS, SECRET, TOKEN, allowed, fork, judge, propose

COMMAND = re.compile(r"::(error|warning|notice) file=")


@pytest.mark.parametrize("name", CASES)
def test_an_attack(name, tmp_path):
    made = fork(tmp_path)
    propose(made, CASES[name].change)
    verdict = judge(made, *made.args)
    said = verdict.text + verdict.err
    says = CASES[name].says
    assert verdict.code == CASES[name].code, said[:3000]
    for piece in says:
        assert piece in said, f"{piece!r} is not in:\n{said[:3000]}"
    if not says:
        assert ": error:" not in verdict.text
    assert verdict.err == "" or (verdict.code == 2 and verdict.text == "")
    nothing_ran(made)
    nothing_is_told(verdict)
    nothing_acts(verdict)
    assert verdict.seconds <= SECONDS
    assert verdict.wall <= allowed()
    assert verdict.memory <= MEBIBYTES


def nothing_ran(made):
    assert sorted(path.name for path in (made.outside / "marks").iterdir()) == []


def nothing_is_told(verdict):
    for shown in (verdict.text, verdict.err, *verdict.printed.values()):
        assert SECRET not in shown
        assert TOKEN not in shown


def nothing_acts(verdict):
    """On a terminal, on a runner, in a reader of the format."""
    for shown in (verdict.text, verdict.err, *verdict.printed.values()):
        assert all(line.isprintable() for line in shown.splitlines())
        assert not re.search(r"##\w*\[", shown)
        for line in shown.splitlines():
            assert not line.lstrip().startswith("::") or COMMAND.match(line), line
    assert not [line for line in verdict.text.splitlines() if line.lstrip().startswith("::")]
    assert set(verdict.printed) == set(FORMATS)
    if verdict.code == 2:
        assert not any(verdict.printed.values())
        return
    for form in ("json", "gitlab", "sarif"):
        json.loads(verdict.printed[form])
    ElementTree.fromstring(verdict.printed["junit"])
    page = github_flavored_markdown_to_html(verdict.printed["markdown"])
    assert set(re.findall(r"<(\w+)", page)) <= {"p", "strong", "table", "thead", "tbody", "tr", "th", "td", "code"}


def test_there_are_enough_of_them():
    assert len(CASES) >= 100


def test_the_machine_would_notice(tmp_path):
    """What plain git does with the same pull request: the marks are real."""
    import subprocess

    made = fork(tmp_path)
    propose(made, CASES["attributes that name filters of the machine"].change)
    env = {"PATH": f"{made.outside}/bin:/usr/local/bin:/usr/bin:/bin", "HOME": str(made.outside / "home")}
    subprocess.run(["git", "diff", "main"], cwd=made.repo, env=env, capture_output=True, check=False)
    assert list((made.outside / "marks").iterdir())
