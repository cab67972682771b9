"""Fields of policy whose effect is in what publish does: where it looks, where it writes, what it does with older runs."""

import pytest

from tests.gitkit import git, make_bare
from tests.publish.kit import FOLD, PROTEIN, SPEECH, WHISPER, WORKSPACES, added, ended

PROJECT = "taugen.yaml"


def with_evidence(place, branch):
    """A commit that holds evidence of a run, on a branch of the repository at `place`."""
    blob = git(place, "hash-object", "-w", "--stdin", stdin=b"x")
    runs = git(place, "mktree", stdin=f"100644 blob {blob}\trun.yaml\n".encode())
    cluster = git(place, "mktree", stdin=f"040000 tree {runs}\truns\n".encode())
    tree = git(place, "mktree", stdin=f"040000 tree {cluster}\tmesa\n".encode())
    git(place, "update-ref", f"refs/heads/{branch}", git(place, "commit-tree", "-m", "evidence", tree))


def test_output_branch(new):
    new.edit(PROJECT, ("branch: deploy", "branch: other"))
    new.publish()
    assert "refs/heads/other" in new.refs()
    assert "refs/heads/deploy" not in new.refs()


def test_output_url(new, tmp_path):
    server = make_bare(tmp_path / "server.git")
    new.edit(PROJECT, ("    branch: deploy", f"    url: {server}\n    branch: deploy"))
    commit = new.publish().commit
    assert git(server, "rev-parse", "refs/heads/deploy") == commit


@pytest.mark.parametrize("branch", ["evidence", "records"])
def test_evidence_branch(new, branch):
    """A lost deploy branch is not made anew beside evidence of its runs; that of another branch is none."""
    with_evidence(new.path, "records")
    new.edit(PROJECT, ("branch: evidence", f"branch: {branch}"))
    if branch == "records":
        assert "evidence" in new.refused().message
    else:
        assert new.publish().code == 0


def test_evidence_url(new, tmp_path):
    server = make_bare(tmp_path / "server.git")
    with_evidence(server, "evidence")
    assert new.copy(tmp_path / "copy").publish().code == 0
    new.edit(PROJECT, ("    branch: evidence", f"    url: {server}\n    branch: evidence"))
    assert str(server) in new.refused().message


@pytest.mark.parametrize("word", ["confirm", "allow"])
def test_safety_cancel(fleet, word):
    fleet.edit(PROJECT, ("  evidence:", f"  safety: {{cancel: {word}}}\n  evidence:"))
    fleet.commit({SPEECH: None})
    assert ended(fleet.publish()) == ([(WHISPER, "cancelled")] if word == "allow" else [])


@pytest.mark.parametrize("word", ["wait", "replace", "beside"])
def test_on_edit_of_a_workspace(new, word):
    new.edit(WORKSPACES, ("  on_edit: replace\n", f"  on_edit: {word}\n"))
    new.publish()
    new.edit(PROTEIN, ("cpus: 4", "cpus: 8"))
    outcome = new.publish()
    assert added(outcome) == ([] if word == "wait" else [FOLD])
    assert ended(outcome) == ([(FOLD, "replaced")] if word == "replace" else [])
