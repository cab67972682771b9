"""Pull requests from forks are hostile: whatever they hold, `check` says what is wrong, runs nothing, tells nothing and stays small."""

import json
import re

import pytest

from tests.attacks.cases import CASES
from tests.attacks.kit import FORMATS, MEBIBYTES, SECONDS, SECRET, TOKEN, fork, judge, propose

COMMAND = re.compile(r"::(error|warning|notice) file=")


@pytest.mark.parametrize("name", CASES)
def test_an_attack(name, tmp_path):
    made = fork(tmp_path)
    propose(made, CASES[name].change)
    verdict = judge(made)
    says = CASES[name].says
    assert verdict.code == CASES[name].code, verdict.text[:3000] + verdict.err
    for piece in says:
        assert piece in verdict.text, f"{piece!r} is not in:\n{verdict.text[:3000]}"
    if not says:
        assert ": error:" not in verdict.text
    assert verdict.err == ""
    nothing_ran(made)
    nothing_is_told(verdict)
    nothing_acts(verdict)
    assert verdict.seconds <= SECONDS
    assert verdict.memory <= MEBIBYTES


def nothing_ran(made):
    assert sorted(path.name for path in (made.outside / "marks").iterdir()) == []


def nothing_is_told(verdict):
    for shown in (verdict.text, *verdict.printed.values()):
        assert SECRET not in shown
        assert TOKEN not in shown


def nothing_acts(verdict):
    """On a terminal, on a runner, in a reader of the format."""
    for shown in (verdict.text, *verdict.printed.values()):
        assert all(line.isprintable() for line in shown.splitlines())
        assert not re.search(r"##\w*\[", shown)
        for line in shown.splitlines():
            assert not line.lstrip().startswith("::") or COMMAND.match(line), line
    assert not [line for line in verdict.text.splitlines() if line.lstrip().startswith("::")]
    for form in ("json", "gitlab", "sarif"):
        json.loads(verdict.printed[form])
    assert "<script" not in verdict.printed["markdown"]
    assert set(verdict.printed) == set(FORMATS)


def test_there_are_enough_of_them():
    assert len(CASES) >= 50


def test_the_machine_would_notice(tmp_path):
    """What plain git does with the same pull request: the marks are real."""
    import subprocess

    made = fork(tmp_path)
    propose(made, CASES["attributes that name filters of the machine"].change)
    env = {"PATH": f"{made.outside}/bin:/usr/local/bin:/usr/bin:/bin", "HOME": str(made.outside / "home")}
    subprocess.run(["git", "diff", "main"], cwd=made.repo, env=env, capture_output=True, check=False)
    assert list((made.outside / "marks").iterdir())
