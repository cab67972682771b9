"""`--trusted REF`: policy of the pull request takes no part, runs and code of it do."""

import os
import shutil

import pytest

from taugen.diag import Refused, Severity
from taugen.load.root import find_place
from taugen.load.since import Since
from taugen.pipeline.check import judge
from tests.gitkit import commit, git, make_repo, write
from tests.policykit import FIXTURE

GRID = "workspaces/climate/downscale/tau.yaml"
PROFILES = "policy/profiles.yaml"


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "acme"
    shutil.copytree(FIXTURE, folder)
    make_repo(folder)
    commit(folder)
    git(folder, "checkout", "-q", "-b", "topic")
    return folder


def found(repo, trusted="main", ref=None, since=None, directory=None):
    place = find_place(directory or repo, trusted)
    project, report = judge(place, ref, since=Since(place.root, since, ref) if since else None)
    return project, [(d.rule, d.span.file, d.severity) for d in report.findings if d.severity is not Severity.WARNING]


def loosened(repo):
    """A run that asks for more than its profile allows, and a policy that allows it."""
    text = (repo / PROFILES).read_text().replace("max_duration: {max: 240h}", "max_duration: {max: 900h}")
    write(repo, {PROFILES: text, GRID: (repo / GRID).read_text().replace("120h", "500h")})


@pytest.mark.parametrize("ref", [None, "HEAD"])
@pytest.mark.parametrize("since", [None, "main"])
def test_loosened_policy_does_not_count(repo, ref, since):
    loosened(repo)
    commit(repo)
    _, findings = found(repo, ref=ref, since=since)
    assert findings == [("policy-not-judged", PROFILES, Severity.NOTE), ("profile-limit", GRID, Severity.ERROR)]
    assert [rule for rule, _, level in found(repo, trusted=None)[1] if level is Severity.ERROR] == []


def test_the_limit_is_shown_as_it_is_trusted(repo):
    loosened(repo)
    place = find_place(repo, "main")
    project, report = judge(place)
    (limit,) = [d for d in report.findings if d.rule == "profile-limit"]
    assert "240h" in limit.message
    assert b"240h" in project.tree.read(PROFILES).splitlines()[limit.origin.line - 1]


@pytest.mark.parametrize("change", ["gone", "garbage", "other runs", "other policy"])
def test_taugen_yaml_of_the_pull_request_does_not_count(repo, change):
    text = (repo / "taugen.yaml").read_text()
    new = {
        "gone": None,
        "garbage": "\x00",
        "other runs": text + "  runs: [nothing/*.yaml]\n",
        "other policy": text.replace("path: policy", "path: mine"),
    }[change]
    write(repo, {"taugen.yaml": new, GRID: (repo / GRID).read_text().replace("120h", "500h")})
    for since in (None, "main"):
        rules = {rule for rule, _, _ in found(repo, since=since)[1]}
        assert rules == {"profile-limit", "policy-not-judged"}


def test_a_taugen_yaml_nearer_to_the_runs_does_not_count(repo):
    write(repo, {"workspaces/climate/taugen.yaml": (repo / "taugen.yaml").read_text()})
    place = find_place(repo / "workspaces/climate/downscale", "main")
    assert place.root == repo


def test_overlays_lock_and_schemas_are_trusted(repo):
    write(repo, {"overlays/mesa/registry.yaml": "garbage: [\n", "taugen.lock": "garbage: [\n", ".taugen/schemas/x.json": "{"})
    assert {rule for rule, _, _ in found(repo)[1]} == {"policy-not-judged"}


def test_policy_behind_a_link_is_trusted(repo):
    git(repo, "checkout", "-q", "main")
    write(repo, {"workspaces/climate/profiles.yaml": (repo / PROFILES).read_text(), PROFILES: None})
    os.symlink("../workspaces/climate/profiles.yaml", repo / PROFILES)
    commit(repo)
    git(repo, "checkout", "-q", "-B", "topic")
    text = (repo / "workspaces/climate/profiles.yaml").read_text()
    write(repo, {"workspaces/climate/profiles.yaml": text.replace("240h", "900h"), GRID: (repo / GRID).read_text().replace("120h", "500h")})
    assert ("profile-limit", GRID, Severity.ERROR) in found(repo)[1]


def test_runs_and_code_are_those_of_the_pull_request(repo):
    write(repo, {"workspaces/climate/downscale/train.py": None, "workspaces/climate/new/tau.yaml": "nonsense: 1\n"})
    rules = {(rule, file) for rule, file, _ in found(repo)[1]}
    assert ("entrypoint-missing", GRID) in rules
    assert ("unknown-key", "workspaces/climate/new/tau.yaml") in rules


def test_a_policy_that_moved_on_meanwhile_is_no_change_of_the_pull_request(repo):
    git(repo, "checkout", "-q", "main")
    commit(repo, {PROFILES: (repo / PROFILES).read_text() + "# x\n"})
    git(repo, "checkout", "-q", "topic")
    assert found(repo)[1] == []


def test_a_project_below_the_top(tmp_path):
    top = make_repo(tmp_path / "mono")
    shutil.copytree(FIXTURE, top / "ai/acme")
    commit(top)
    loosened(top / "ai/acme")
    for directory in (top / "ai/acme", top / "ai/acme/workspaces"):
        assert ("profile-limit", GRID, Severity.ERROR) in found(top, directory=directory)[1]
    shutil.move(top / "ai/acme", top / "elsewhere")
    (top / "ai/acme").symlink_to("../elsewhere")
    with pytest.raises(Refused, match="ai/acme is a symbolic link"):
        find_place(top / "ai/acme", "main")


def test_a_commit_without_a_project(tmp_path):
    repo = make_repo(tmp_path / "r", {"README": "x"})
    shutil.copytree(FIXTURE, repo, dirs_exist_ok=True)
    with pytest.raises(Refused, match=r"has no taugen\.yaml") as refused:
        find_place(repo, "main")
    assert refused.value.code == 2
    with pytest.raises(Refused, match="no commit 'nowhere'"):
        find_place(repo, "nowhere")
