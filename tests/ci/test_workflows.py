"""Workflows: the reusable one and those of `taugen init`; linted, and their steps run as they stand."""

import re
import subprocess

import pytest
import yaml

from taugen.evidence.event import Event, EventType
from taugen.evidence.paths import RunKey
from taugen.load import fastimport
from taugen.pipeline.init import rendered
from tests import outside
from tests.ci.kit import ROOT, Runner, load, project
from tests.gitkit import commit, git, make_bare

GRID = "workspaces/climate/downscale/tau.yaml"
OURS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.fixture
def made(tmp_path):
    """The files of a new repository."""
    folder = tmp_path / "new"
    for path, text in rendered("acme", "argocd", "https://git.example.com/acme.git"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def test_actionlint(made):
    """Not action.yml, which it does not read."""
    program = outside.program("actionlint")
    for path in (*OURS, made / ".github/workflows/taugen.yml"):
        done = subprocess.run([program, "-no-color", str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_actionlint_would_notice(tmp_path):
    path = tmp_path / "bad.yml"
    path.write_text("on: push\njobs: {a: {runs-on: ubuntu-latest, steps: [{run: 'echo ${{ github.event.pull_request.title }}'}]}}\n")
    assert subprocess.run([outside.program("actionlint"), str(path)], capture_output=True, check=False).returncode == 1


def runner(folder, job, *, pull, publish=False):
    context = {
        "inputs.working-directory": ".",
        "inputs.strict": False,
        "inputs.publish-to": str(make_bare(folder / "deploy.git")) if publish else "origin",
        "github.event_name == 'pull_request'": pull,
        "!cancelled()": True,
    }
    return Runner(folder, project(folder), context)


def jobs(made, which):
    return load(ROOT / ".github/workflows/taugen.yml" if which == "reusable" else made / ".github/workflows/taugen.yml")["jobs"]


@pytest.mark.parametrize("which", ["reusable", "init"])
def test_a_pull_request_can_not_loosen_policy(made, tmp_path, which):
    check = jobs(made, which)["check"]
    ran = runner(tmp_path, check, pull=True)
    text = (ran.workspace / "policy/profiles.yaml").read_text()
    run = (ran.workspace / GRID).read_text()
    commit(ran.workspace, {"policy/profiles.yaml": text.replace("max: 240h", "max: 900h"), GRID: run.replace("120h", "500h")})
    assert ran.play(check["steps"], {"GITHUB_BASE_REF": "main"}) == 1
    assert "title=profile-limit" in ran.log
    assert len(ran.played) == 2
    assert check["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("which", ["reusable", "init"])
def test_a_push_is_checked_and_published(made, tmp_path, which):
    listed = jobs(made, which)
    ran = runner(tmp_path, listed["check"], pull=False, publish=True)
    git(ran.workspace, "checkout", "-q", "main")
    assert ran.play(listed["check"]["steps"], {}) == 0, ran.log
    assert len(ran.played) == 1
    assert ran.play(listed["publish"]["steps"], {}) == 0, ran.log
    where = tmp_path / "deploy.git" if which == "reusable" else tmp_path / "origin"
    assert git(where, "rev-parse", "deploy") in ran.log
    assert listed["publish"]["permissions"] == {"contents": "write"}


def evidence(repository):
    """The first published run has succeeded, and its record is there."""
    files = git(repository, "ls-tree", "-r", "--name-only", "deploy", ".taugen/state/").splitlines()
    told = yaml.safe_load(git(repository, "show", f"deploy:{files[0]}"))
    attempt = RunKey(told["cluster"], files[0].split("/")[2], told["object"]).attempt(1)
    over = Event(EventType.SUCCEEDED, "2026-05-04T10:00:00Z", "uid")
    by = b"collector <c@example.org> 1777888800 +0000"
    made = fastimport.commit_tree(
        repository, parents=[], message=b"evidence\n", author=by, committer=by,
        changes=[(over.path(attempt), over.content()), (attempt.record, b'{"id":{}}\n')],
    )  # fmt: skip
    git(repository, "update-ref", "refs/heads/evidence", made)
    return attempt


@pytest.mark.parametrize("which", ["reusable", "init"])
def test_a_schedule_acts_on_evidence(made, tmp_path, which):
    listed = jobs(made, which)
    ran = runner(tmp_path, listed["advance"], pull=False, publish=True)
    git(ran.workspace, "checkout", "-q", "main")
    where = tmp_path / "deploy.git" if which == "reusable" else tmp_path / "origin"
    assert ran.play(listed["advance"]["steps"], {}) == 0, ran.log  # nothing is published: nothing happens
    assert ran.play(listed["publish"]["steps"], {}) == 0, ran.log
    over, before = evidence(where), git(where, "rev-parse", "deploy")
    assert ran.play(listed["advance"]["steps"], {}) == 0, ran.log
    assert git(where, "rev-parse", "deploy~1") == before
    assert f"/{over.of.run}/" not in git(where, "ls-tree", "-r", "--name-only", "deploy", "clusters")
    after = git(where, "rev-parse", "deploy")
    assert ran.play(listed["advance"]["steps"], {}) == 0, ran.log
    assert git(where, "rev-parse", "deploy") == after
    assert (listed["advance"]["permissions"], listed["advance"]["concurrency"]) == ({"contents": "write"}, listed["publish"]["concurrency"])


def test_gitlab_templates_check_and_publish(made, tmp_path):
    """The scripts of both templates, as GitLab's shell runs them."""
    for name, path, job in (("template", ROOT / "gitlab/taugen.gitlab-ci.yml", "taugen:check"), ("init", made / ".gitlab-ci.yml", "check")):
        folder = tmp_path / name
        folder.mkdir()
        ran = runner(folder, None, pull=True)
        run = (ran.workspace / GRID).read_text()
        text = (ran.workspace / "policy/profiles.yaml").read_text()
        script = "\n".join(load(path)[job]["script"])
        env = {"TAUGEN_DIR": ".", "CI_PROJECT_ID": "1", "CI_MERGE_REQUEST_PROJECT_ID": "1"}
        assert ran.play([{"run": script}], env) == 0, ran.log
        assert (ran.workspace / "gl-code-quality-report.json").read_text().startswith("[")
        merge = env | {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"}
        assert ran.play([{"run": script}], merge) == 0, ran.log
        commit(ran.workspace, {"policy/profiles.yaml": text.replace("max: 240h", "max: 900h"), GRID: run.replace("120h", "500h")})
        ran.log = ""
        assert ran.play([{"run": script}], merge) == 1
        assert "profile-limit" in ran.log
        # A fork's pipeline: origin is the fork.
        git(ran.workspace, "remote", "set-url", "origin", str(folder / "nowhere"))
        url = str(folder / "origin")
        (folder / "origin.git").symlink_to(url)
        assert ran.play([{"run": script}], merge | {"CI_PROJECT_ID": "2", "CI_MERGE_REQUEST_PROJECT_URL": url}) == 1
        assert "[profile-limit]" in ran.log


def test_versions_agree():
    from taugen import __version__

    for path in (ROOT / ".github/workflows/taugen.yml", ROOT / "gitlab/taugen.gitlab-ci.yml"):
        assert re.findall(r"taugen==([0-9.]+)", path.read_text()) == [__version__]
