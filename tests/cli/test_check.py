"""`taugen check`: formats, files, exit codes."""

import json
import os
import shutil

import pytest

from tests.gitkit import commit, git, make_repo
from tests.policykit import FIXTURE

BAD = "workspaces/protein/fold/tau.yaml"


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "acme"
    shutil.copytree(FIXTURE, folder)
    make_repo(folder)
    commit(folder)
    return folder


@pytest.fixture
def broken(repo):
    (repo / BAD).write_text((repo / BAD).read_text() + "nonsense: 1\n")
    return repo


def test_exit_codes(taugen, repo):
    assert taugen("check", cwd=repo).code == 0
    assert taugen("check", "--strict", cwd=repo).code == 1
    (repo / BAD).write_text("nonsense: 1\n")
    assert taugen("check", cwd=repo).code == 1
    assert taugen("check", "nowhere", cwd=repo).code == 2


@pytest.mark.parametrize("form", ["text", "json", "github", "gitlab", "sarif", "junit", "markdown"])
def test_every_format_tells_it_and_exits_alike(taugen, broken, form):
    ran = taugen("check", "--format", form, cwd=broken)
    assert ran.code == 1
    assert "nonsense" in ran.out
    assert ran.err == ""


def test_several_files_in_one_run(taugen, broken):
    outputs = ["out.sarif", "out.json", "out.xml", "out.md", "out.txt", "gl-code-quality-report.json", "github:out.log", "junit:out.odd"]
    ran = taugen("check", *(word for one in outputs for word in ("--output", one)), cwd=broken)
    assert ran.code == 1
    assert "tau.yaml:" in ran.out
    assert json.loads((broken / "out.sarif").read_text())["runs"][0]["results"]
    assert json.loads((broken / "out.json").read_text())["summary"]["errors"] == 1
    assert json.loads((broken / "gl-code-quality-report.json").read_text())[0]["check_name"]
    assert (broken / "out.log").read_text().startswith("::error ")
    assert (broken / "out.odd").read_text() == (broken / "out.xml").read_text()
    assert (broken / "out.md").read_text().startswith("**taugen**")
    assert (broken / "out.txt").read_text() == ran.out


def test_one_stdout_holds_one_format(taugen, broken):
    assert json.loads(taugen("check", "--output", "json:-", "--output", "x.md", cwd=broken).out)["summary"]["errors"] == 1
    for args in (("--format", "text", "--output", "json:-"), ("--output", "json:-", "--output", "sarif:-")):
        ran = taugen("check", *args, cwd=broken)
        assert ran.code == 2
        assert "can't share stdout" in ran.err


def test_outputs_that_can_not_be(taugen, broken):
    for args, said in (
        (("--output", "report"), "write FORMAT:FILE"),
        (("--output", "a.md", "--output", "a.md"), "named by two"),
        (("--output", "nowhere/a.md"), "can't be written"),
    ):
        ran = taugen("check", *args, cwd=broken)
        assert (ran.code, said in ran.err) == (2, True), ran.err


def test_a_link_by_the_name_of_the_report_is_not_followed(taugen, broken, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (broken / "out.json").symlink_to(precious)
    (tmp_path / "elsewhere").mkdir()
    (broken / "reports").symlink_to(tmp_path / "elsewhere")
    assert taugen("check", "--output", "out.json", cwd=broken).code == 1
    assert precious.read_text() == "mine"
    assert not (broken / "out.json").is_symlink()
    ran = taugen("check", "--output", "reports/out.json", cwd=broken)
    assert ran.code == 2
    assert "reports is a symbolic link" in ran.err
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_device_stays_one(taugen, broken):
    assert taugen("check", "--output", f"json:{os.devnull}", cwd=broken).code == 1
    assert os.path.exists(os.devnull)
    assert not os.path.isfile(os.devnull)


def test_auto_is_github_in_actions_only(taugen, broken, monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    assert not taugen("check", "--format", "auto", cwd=broken).out.startswith("::")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert taugen("check", "--format", "auto", cwd=broken).out.startswith("::error ")
    assert not taugen("check", cwd=broken).out.startswith("::")


def test_the_step_summary_gets_the_table(taugen, broken, monkeypatch, tmp_path):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    taugen("check", "--format", "json", cwd=broken)
    assert summary.read_text() == "before\n"
    taugen("check", "--format", "github", cwd=broken)
    assert summary.read_text().startswith("before\n**taugen**: 1 error")


def test_paths_start_at_the_top_of_the_repository(taugen, tmp_path):
    top = make_repo(tmp_path / "mono")
    shutil.copytree(FIXTURE, top / "ai" / "acme")
    (top / "ai/acme" / BAD).write_text("nonsense: 1\n")
    commit(top)
    out = taugen("-C", "ai/acme", "check", "--format", "github", cwd=top).out
    assert f"file=ai/acme/{BAD}," in out
    assert git(top, "status", "--porcelain") == ""


def test_a_path_of_policy_that_does_not_exist_is_refused(taugen, repo):
    assert taugen("check", "policy", cwd=repo).code == 0
    done = taugen("check", "policy/nowhere.yaml", cwd=repo)
    assert (done.code, done.err) == (2, "taugen: policy/nowhere.yaml does not exist\n  check the spelling\n")
