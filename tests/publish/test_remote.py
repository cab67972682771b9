"""Publishing to other places, and with other writers: bare repositories, paths, URLs, lost races. Never by force."""

import subprocess
import threading

import pytest

from taugen.diag import Refused
from taugen.load import fastimport
from taugen.pipeline import publish as pipeline
from taugen.publish.target import Target
from tests.gitkit import git, make_bare, write
from tests.httpkit import can_serve, serving
from tests.publish.kit import CLIMATE, DOWNSCALE, FOLD, PROTEIN, WHISPER, Fleet, added, ended, job

OTHER = "workspaces/protein/other/tau.yaml"
THIRD = "workspaces/protein/third/tau.yaml"


@pytest.fixture
def server(tmp_path):
    return make_bare(tmp_path / "server.git")


def test_another_branch(fleet):
    tip = fleet.tip
    outcome = fleet.publish(branch="staging/deploy")
    assert (outcome.commit, fleet.git("rev-parse", "staging/deploy"), fleet.tip) == (tip, tip, tip)


@pytest.mark.parametrize("form", ["path", "file", "name"])
def test_a_bare_repository(new, server, form):
    new.git("remote", "add", "fleet", str(server))
    to = {"path": str(server), "file": server.as_uri(), "name": "fleet"}[form]
    outcome = new.publish(to=to)
    assert (outcome.code, outcome.commit) == (0, git(server, "rev-parse", "deploy"))
    assert to in outcome.where
    assert "refs/heads/deploy" not in new.refs()
    assert new.publish(to=to).commit is None
    new.commit({OTHER: job("other")})
    assert added(new.publish(to=to)) == ["protein/other"]
    git(server, "fsck", "--strict")


def test_the_project_says_where(new, server):
    new.edit("taugen.yaml", ("    branch: deploy\n", f"    branch: fleet\n    url: {server}\n"))
    assert new.publish().commit == git(server, "rev-parse", "fleet")


def test_over_http(new, server):
    if not can_serve(server):
        pytest.skip("this git has no http-backend")
    with serving(server.parent) as (address, _):
        to = f"{address}/{server.name}"
        assert new.publish(to=to).commit == git(server, "rev-parse", "deploy")
        new.commit({OTHER: job("other")})
        assert added(new.publish(to=to)) == ["protein/other"]
        git(server, "update-ref", "refs/heads/deploy", "deploy~1")
        with pytest.raises(Refused, match="was rewritten"):
            new.publish(to=to)


def test_a_remote_that_is_not_there(new, tmp_path):
    refused = new.refused(to=str(tmp_path / "nowhere"))
    assert (refused.code, "can't be fetched" in refused.message) == (4, True)


def test_a_server_that_refuses(new, server):
    hook = server / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho the branch is protected >&2\nexit 1\n")
    hook.chmod(0o755)
    refused = new.refused(to=str(server))
    assert (refused.code, "the branch is protected" in refused.message) == (4, True)


def test_a_fresh_clone_continues(new, server, tmp_path):
    new.publish(to=str(server))
    git(new.path, "push", "-q", str(server), "main")
    git(tmp_path, "clone", "-q", "--branch", "main", str(server), "clone")
    clone = Fleet(tmp_path / "clone")
    assert clone.publish(to="origin").commit is None
    clone.commit({OTHER: job("other")})
    assert added(clone.publish(to="origin")) == ["protein/other"]
    assert "refs/heads/deploy" not in clone.refs()


def test_a_bare_source_repository(new, tmp_path):
    git(tmp_path, "clone", "-q", "--bare", str(new.path), "bare.git")
    bare = Fleet(tmp_path / "bare.git")
    outcome = bare.publish()
    assert (outcome.code, outcome.commit, outcome.left_out) == (0, bare.tip, ())
    assert bare.tip == new.publish().commit, "the same commit as from a working tree"
    assert bare.refused(branch="main").code == 2


@pytest.mark.parametrize("inside", ["", "workspaces/protein/fold"])
def test_a_project_in_a_subfolder(tmp_path, inside):
    fleet = Fleet.make(tmp_path / "repo", prefix="gitops/lab")
    fleet.commit({"../../README.md": "around it\n"})
    assert pipeline.publish(pipeline.Request(fleet.root / inside)).code == 0
    top = Fleet.make(tmp_path / "top")
    top.publish()
    assert {path for path in fleet.tree() if path.startswith("clusters/")} == {path for path in top.tree() if path.startswith("clusters/")}
    fleet.commit({PROTEIN: fleet.read(PROTEIN).replace("cpus: 4", "cpus: 8"), "../other/tau.yaml": "name: [\n"})
    assert added(fleet.publish()) == [FOLD]
    write(fleet.root, {OTHER: job("other"), "../notes.txt": "x\n"})
    assert fleet.publish().left_out == ("workspaces/protein/other/",)


# ------------------------------------------------------------------------------------------------------------------ races


def racing(monkeypatch, what, times=1):
    """Does `what` just before the branch would move."""
    move = Target.move
    left = [times]

    def first(self, new, old):
        if left[0]:
            left[0] -= 1
            what()
        return move(self, new, old)

    monkeypatch.setattr(Target, "move", first)


@pytest.mark.parametrize("remote", [False, True])
def test_a_lost_race_is_answered_by_planning_anew(fleet, server, monkeypatch, remote):
    """Somebody publishes an earlier commit meanwhile: both changes are there, in order, as if there had been no race."""
    where = {"to": str(server)} if remote else {}
    fleet.publish(**where)
    fleet.commit({OTHER: job("other")})
    other = fleet.copy(fleet.path.parent / "other")
    fleet.commit({THIRD: job("third")})

    def meanwhile():
        other.publish(**where)
        if not remote:
            fleet.git("fetch", "-q", str(other.path), "refs/heads/deploy:refs/heads/deploy")

    racing(monkeypatch, meanwhile)
    outcome = fleet.publish(**where)
    assert (outcome.code, added(outcome)) == (0, ["protein/third"])
    place = server if remote else fleet.path
    assert {"protein/other", "protein/third"} <= {f"{run.workspace}/{run.name}" for run in fleet.states(outcome.commit).values()}
    assert git(place, "rev-list", "--count", "deploy") == "3"
    assert git(place, "rev-parse", "deploy~1") == (
        git(other.path, "rev-parse", "deploy") if not remote else git(place, "rev-parse", "deploy~1")
    )


@pytest.mark.parametrize("remote", [False, True])
def test_a_late_job_loses_the_race_for_good(fleet, server, monkeypatch, remote):
    where = {"to": str(server)} if remote else {}
    fleet.publish(**where)
    fleet.commit({OTHER: job("other")})
    late = fleet.copy(fleet.path.parent / "late")
    fleet.commit({THIRD: job("third")})

    def meanwhile():
        fleet.publish(**where)
        if not remote:
            late.git("fetch", "-q", str(fleet.path), "refs/heads/deploy:refs/heads/deploy", "main:refs/other")
        else:
            late.git("fetch", "-q", str(fleet.path), "main:refs/other")

    racing(monkeypatch, meanwhile)
    with pytest.raises(Refused, match="does not descend"):
        late.publish(**where)


def test_foreign_commits_meanwhile_are_kept(fleet, monkeypatch):
    fleet.commit({OTHER: job("other")})
    racing(monkeypatch, lambda: fleet.deploy({"README.md": "theirs\n"}))
    outcome = fleet.publish()
    assert (outcome.code, added(outcome), fleet.show("README.md")) == (0, ["protein/other"], "theirs\n")


def test_a_branch_that_never_stands_still(fleet, monkeypatch):
    fleet.commit({OTHER: job("other")})
    racing(monkeypatch, lambda: fleet.deploy({}), times=100)
    with pytest.raises(Refused, match="moved 8 times") as refused:
        fleet.publish()
    assert refused.value.code == 4


def test_no_push_is_forced(fleet, server, monkeypatch):
    """Somebody rewrites the branch between fetch and push."""
    fleet.publish(to=str(server))
    fleet.commit({OTHER: job("other")})
    rewritten = git(server, "commit-tree", "-m", "other", "deploy^{tree}")
    racing(monkeypatch, lambda: git(server, "update-ref", "refs/heads/deploy", rewritten))
    with pytest.raises(Refused, match="was rewritten"):
        fleet.publish(to=str(server))
    assert git(server, "rev-parse", "deploy") == rewritten


def test_many_at_once(fleet):
    """Local publishers of one commit: one commit comes of it."""
    fleet.commit({OTHER: job("other")})
    fleet.edit(CLIMATE, ("name: downscale", "name: downscale\ncancelled: true"))
    outcomes = []
    threads = [threading.Thread(target=lambda: outcomes.append(fleet.publish())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [outcome.code for outcome in outcomes] == [0] * 4
    assert [outcome.commit for outcome in outcomes if outcome.commit] == [fleet.tip]
    assert (fleet.git("rev-list", "--count", "deploy"), sorted(fleet.live())) == ("2", [FOLD, "protein/other", WHISPER])
    fleet.fsck()


def test_a_stale_lock_is_named(fleet):
    fleet.commit({OTHER: job("other")})
    lock = fleet.path / ".git/refs/heads/deploy.lock"
    lock.write_text("")
    refused = fleet.refused()
    assert (refused.code, "remove the file" in refused.hint, str(lock) in refused.message) == (4, True, True)
    lock.unlink()
    assert added(fleet.publish()) == ["protein/other"]


def test_dry_run_moves_nothing(fleet):
    fleet.edit(CLIMATE, ("name: downscale", "name: downscale\ncancelled: true"))
    before = fleet.git("for-each-ref")
    outcome = fleet.publish(dry_run=True)
    assert (outcome.code, outcome.commit, ended(outcome), outcome.files) == (0, None, [(DOWNSCALE, "cancelled")], 4)
    assert fleet.git("for-each-ref") == before


def test_git_says_what_went_wrong(fleet, monkeypatch):
    fleet.commit({OTHER: job("other")})
    monkeypatch.setattr(fastimport.Writer, "commit", lambda *_, **__: fastimport.git.run(["no-such-command"], cwd=fleet.path))
    refused = fleet.refused()
    assert (refused.code, "nothing was published" in refused.message) == (4, True)


def test_hooks_and_settings_of_the_repository_take_no_part(fleet):
    hook = fleet.path / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    subprocess.run(["git", "config", "core.autocrlf", "true"], cwd=fleet.path, check=True)
    write(fleet.root, {OTHER: job("other")})
    subprocess.run(
        ["git", "-c", "core.hooksPath=/dev/null", "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-q", "-am", "x"],
        cwd=fleet.path,
        check=False,
    )
    subprocess.run(["git", "add", "-A"], cwd=fleet.path, check=True, capture_output=True)
    subprocess.run(
        ["git", "-c", "core.hooksPath=/dev/null", "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-q", "-m", "x"],
        cwd=fleet.path,
        check=True,
    )
    assert added(fleet.publish()) == ["protein/other"]
    assert (
        b"\r"
        not in subprocess.run(
            ["git", "cat-file", "blob", f"deploy:{fleet.live()['protein/other'].path}"], cwd=fleet.path, check=True, capture_output=True
        ).stdout
    )
