"""`check` of a project whose taugen.yaml is wrong: a report all the same, in every format, and of everything that can be read."""

import json
import os

import pytest

from tests.gitkit import commit, make_repo
from tests.policykit import FIXTURE

GOOD = (FIXTURE / "taugen.yaml").read_text()
WRONG = {
    "empty": b"",
    "no text": b"\xff\xfe\0",
    "a list": b"- a\n",
    "another kind": GOOD.replace("kind: Project", "kind: Projekt").encode(),
    "no YAML": GOOD.replace("spec:", "spec: {").encode(),
    "no name": GOOD.replace("  name: tern\n", "  {}\n").encode(),
    "a wrong type": GOOD.replace("branch: deploy", "branch: 5").encode(),
    "an unknown field": (GOOD + "  nonsense: 1\n").encode(),
    "two": (GOOD + "---\n" + GOOD).encode(),
    "a bad pattern": (GOOD + "  runs: [../x]\n").encode(),
    "Git's own folder": GOOD.replace("path: clusters", "path: .git").encode(),
}


@pytest.fixture
def acme(tmp_path):
    return make_repo(tmp_path / "acme", {p.relative_to(FIXTURE).as_posix(): p.read_bytes() for p in FIXTURE.rglob("*") if p.is_file()})


@pytest.mark.parametrize("fault", WRONG)
def test_one_finding_at_its_place(taugen, acme, fault):
    commit(acme, {"taugen.yaml": WRONG[fault]})
    done = taugen("check", "--format", "json", cwd=acme)
    report = json.loads(done.out)
    assert (done.code, [f["file"] for f in report["findings"] if f["severity"] == "error"]) == (1, ["taugen.yaml"])
    assert report["summary"]["errors"] == 1
    assert taugen("check", cwd=acme).code == taugen("check", "--format", "sarif", cwd=acme).code == 1


@pytest.mark.parametrize("fault", ["an unknown field", "a wrong type", "no name"])
def test_what_else_is_wrong_is_told_too(taugen, acme, fault):
    path = "workspaces/climate/downscale/tau.yaml"
    commit(acme, {"taugen.yaml": WRONG[fault], path: (acme / path).read_text().replace("h200-node", "h200-mode")})
    found = json.loads(taugen("check", "--format", "json", cwd=acme).out)["findings"]
    assert {f["file"] for f in found if f["severity"] == "error"} == {"taugen.yaml", path}


def test_publish_asks_git_nothing_about_a_place_outside(taugen, acme):
    commit(acme, {"taugen.yaml": GOOD.replace("path: clusters", "path: ../x")})
    done = taugen("publish", cwd=acme)
    assert (done.code, "git" in done.err.partition("\n")[0], "taugen.yaml:10:" in done.err) == (1, False, True)


def test_a_repository_of_another_user(taugen, acme):
    """As in a container that runs as somebody else: git does not read it, and says what to do."""
    for folder, _, files in os.walk(acme):
        for path in (folder, *(os.path.join(folder, name) for name in files)):
            os.chown(path, 12345, 12345)
    for command in (
        ["check"],
        ["check", "--trusted", "main"],
        ["check", "--changed-since", "main"],
        ["render", "-o", "out"],
        ["publish"],
        ["lock"],
    ):
        done = taugen(*command, cwd=acme)
        assert done.code == 2, (command, done)
        assert "belongs to another user; run as that one" in done.err
        assert "bug" not in done.err
