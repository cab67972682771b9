"""The deploy branch: what somebody does to it by hand, what it may be made from, what happens when it is set back or lost."""

import pytest

from taugen.diag import Refused
from taugen.load.git import GitError
from tests.gitkit import git, make_bare, write
from tests.publish.kit import PROTEIN, SPEECH, WHISPER, Fleet, added, job, messages, rules

OTHER = "workspaces/protein/other/tau.yaml"
THIRD = "workspaces/protein/third/tau.yaml"
QUEUE = "clusters/mesa/platform/clusterqueue-batch.yaml"


# ------------------------------------------------------------------------------------------------------------------ by hand


def hand_edit(fleet, what):
    run = fleet.live()[WHISPER]
    manifest = next(path for path in fleet.manifests(run) if path.endswith("rayjob.yaml"))
    path = {"platform": QUEUE, "run": manifest, "state": run.path}[what]
    return path, fleet.show(path)


@pytest.mark.parametrize("what", ["platform", "run", "state"])
def test_an_owned_file_edited_by_hand_stops_the_publish(fleet, what):
    path, text = hand_edit(fleet, what)
    fleet.deploy({path: text + "# by hand\n"})
    fleet.commit({OTHER: job("other")})
    refused = fleet.refused()
    assert (refused.code, rules(refused)) == (4, ["deploy-edited"])
    assert f"{path} was edited by hand" in refused.findings[0].message
    assert "git checkout" in refused.findings[0].hint
    # Put back, it goes on, though the tip is not taugen's.
    fleet.deploy({path: text})
    assert added(fleet.publish()) == ["protein/other"]


@pytest.mark.parametrize("what", ["platform", "run", "state"])
def test_an_owned_file_deleted_by_hand_stops_the_publish(fleet, what):
    path, _ = hand_edit(fleet, what)
    fleet.deploy({path: None})
    refused = fleet.refused()
    assert (refused.code, [found.message for found in refused.findings]) == (4, [f"{path} was deleted by hand on the deploy branch"])


def test_a_reverted_publish_is_a_hand_edit(fleet):
    """A run whose state went with it would start again."""
    fleet.commit({OTHER: job("other")})
    fleet.publish()
    old = {
        path: fleet.show(path, "deploy~1") if path in fleet.tree("deploy~1") else None
        for path in fleet.tree()
        if fleet.tree().get(path) != fleet.tree("deploy~1").get(path)
    }
    fleet.deploy(old, "Revert")
    refused = fleet.refused()
    assert (refused.code, len(refused.findings)) == (4, len(old))


def test_a_file_with_our_header_that_we_did_not_write_is_a_hand_edit(fleet):
    text = fleet.show(QUEUE)
    fleet.deploy({QUEUE.replace("batch", "copy"): text})
    assert "put on the deploy branch by hand" in fleet.refused().findings[0].message


def test_an_amended_commit_is_a_hand_edit(fleet):
    """The message stays, with a tree that is not the one it names."""
    text = fleet.show(QUEUE)
    message = fleet.git("log", "-1", "--format=%B", "deploy")
    fleet.deploy({QUEUE: text + "# x\n"})
    amended = fleet.git("commit-tree", "-m", message, "deploy^{tree}")
    fleet.git("update-ref", "refs/heads/deploy", amended)
    refused = fleet.refused(accept=amended)
    assert [found.message for found in refused.findings] == [f"{QUEUE} was edited by hand on the deploy branch"]


def test_files_of_others_are_left_alone(fleet):
    theirs = {
        "README.md": "theirs\n",
        "clusters/mesa/platform/limits.yaml": "kind: LimitRange\n",
        ".taugen/notes": "x\n",
        "clusters/x": "y\n",
    }
    fleet.deploy(theirs)
    tip = fleet.tip
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit, fleet.tip) == (0, None, tip)
    fleet.edit(PROTEIN, ("cpus: 4", "cpus: 8"))
    assert fleet.publish().commit
    assert {path: fleet.show(path) for path in theirs} == theirs


def test_a_foreign_file_where_ours_would_go_is_left_alone(fleet):
    place = "clusters/mesa/platform/workloadpriorityclass-high.yaml"
    fleet.deploy({place: "theirs\n"})
    fleet.edit(
        "policy/queues.yml",
        (
            "kind: PriorityTier\nmetadata:\n  name: low\n",
            "kind: PriorityTier\nmetadata:\n  name: high\nspec: {value: 9}\n---\n"
            "apiVersion: taugen.dev/v1alpha1\nkind: PriorityTier\nmetadata:\n  name: low\n",
        ),
    )
    outcome = fleet.publish()
    assert (outcome.code, rules(outcome), outcome.platform) == (4, ["deploy-foreign"], 1)
    assert fleet.show(place) == "theirs\n"
    assert "clusters/fjord/platform/workloadpriorityclass-high.yaml" in fleet.tree()
    fleet.deploy({place: None})
    outcome = fleet.publish()
    assert (outcome.code, outcome.platform) == (0, 1)


def test_another_project_on_the_same_branch(fleet):
    """Two projects with one workspace name, one branch: neither touches the other's files."""
    other = fleet.copy(fleet.path.parent / "other")
    other.edit("taugen.yaml", ("name: tern", "name: gull"), ("    path: clusters", "    path: gulls"))
    write(other.root, dict.fromkeys((SPEECH, "workspaces/climate/downscale/tau.yaml")))
    other.commit({PROTEIN: job("fold-other")})
    mine = fleet.tree()
    outcome = other.publish()
    assert (outcome.code, added(outcome)) == (0, ["protein/fold-other"])
    tree = other.tree()
    assert mine.items() <= tree.items()
    theirs = {path: blob for path, blob in tree.items() if path not in mine}
    assert all(path.startswith(("gulls/", ".taugen/state/protein/")) for path in theirs)
    # And back: the first project goes on, on top of the second's commit.
    fleet.git("fetch", "-q", str(other.path), "refs/heads/deploy:refs/heads/deploy")
    fleet.commit({OTHER: job("other")})
    outcome = fleet.publish()
    assert (outcome.code, added(outcome), outcome.plan.vanished) == (0, ["protein/other"], [])
    assert theirs.items() <= fleet.tree().items()
    assert fleet.publish(full=True).commit is None


# ------------------------------------------------------------------------------------------------------------------ from where


def test_a_source_that_does_not_descend_is_refused(fleet):
    first = fleet.git("rev-parse", "HEAD")
    fleet.commit({OTHER: job("other")})
    fleet.publish()
    refused = fleet.refused(ref=first)
    assert (refused.code, "does not descend" in refused.message) == (4, True)
    fleet.git("checkout", "-q", "-b", "side", first)
    fleet.commit({THIRD: job("third")})
    assert "does not descend" in fleet.refused().message
    fleet.git("merge", "-q", "-m", "merged", "main")
    assert added(fleet.publish()) == ["protein/third"]


def test_a_late_job_of_the_same_commit_does_nothing(fleet):
    first = fleet.git("rev-parse", "HEAD")
    fleet.commit({"README.md": "x\n"})
    fleet.publish()
    assert fleet.publish(ref=first).commit is None


def test_foreign_commits_on_top_do_not_hide_where_the_branch_was_published_from(fleet):
    first = fleet.git("rev-parse", "HEAD")
    fleet.commit({OTHER: job("other")})
    fleet.publish()
    fleet.deploy({"README.md": "theirs\n"})
    assert "does not descend" in fleet.refused(ref=first).message


def test_a_shallow_clone_is_told_what_to_do(fleet, tmp_path):
    fleet.commit({OTHER: job("other")})
    fleet.publish()
    fleet.commit({THIRD: job("third")})
    bare = tmp_path / "server.git"
    fleet.git("clone", "-q", "--bare", str(fleet.path), str(bare))
    for depth in ("1", "2"):
        place = tmp_path / f"clone{depth}"
        git(tmp_path, "clone", "-q", "--depth", depth, "--branch", "main", bare.as_uri(), str(place))
        clone = Fleet(place)
        clone.where = {"to": "origin"}
        if depth == "1":
            refused = clone.refused()
            assert (refused.code, "fetch-depth: 0" in refused.hint) == (4, True)
        else:
            assert added(clone.publish()) == ["protein/third"]


def test_a_repository_without_that_commit(fleet, tmp_path):
    other = Fleet.make(tmp_path / "other", {"README.md": "another history\n"})
    other.git("fetch", "-q", str(fleet.path), "refs/heads/deploy:refs/heads/deploy")
    refused = other.refused()
    assert (refused.code, "which this repository does not have" in refused.message) == (4, True)


def test_the_branch_of_the_sources_is_refused(new):
    refused = new.refused(branch="main")
    assert (refused.code, "main is checked out" in refused.message) == (2, True)
    new.git("branch", "other")
    assert "belongs to the history of the sources" in new.refused(branch="other").message
    new.git("checkout", "-q", "--detach")
    assert "belongs to the history of the sources" in new.refused(branch="main").message


def test_a_branch_that_another_worktree_has_checked_out(fleet, tmp_path):
    fleet.git("worktree", "add", "-q", str(tmp_path / "look"), "deploy")
    fleet.commit({OTHER: job("other")})
    refused = fleet.refused()
    assert (refused.code, str(tmp_path / "look") in refused.message) == (2, True)


def test_a_worktree_whose_name_is_two_lines(fleet, tmp_path):
    fleet.git("worktree", "add", "-q", str(tmp_path / "look\nrefs heads"), "deploy")
    refused = fleet.refused()
    assert (refused.code, "deploy is checked out" in refused.message) == (2, True)


@pytest.mark.parametrize("name", ["-x", "a..b", "a b", "refs/heads/x~", "", "@{-1}", "a.lock"])
def test_what_is_no_branch_name(new, name):
    if name:
        assert new.refused(branch=name).code == 2
    else:
        assert new.publish(branch=name).commit == new.tip


# ------------------------------------------------------------------------------------------------------------------ set back, lost


def test_a_branch_that_was_set_back_is_noticed(fleet):
    fleet.commit({OTHER: job("other")})
    fleet.publish()
    tip = fleet.tip
    fleet.git("update-ref", "refs/heads/deploy", "deploy~1")
    refused = fleet.refused()
    assert (refused.code, tip in refused.message + refused.hint, f"--accept {fleet.tip}" in refused.hint) == (4, True, True)
    # Restored as told, all is well; accepted, the run is published again, under the same name.
    fleet.git("branch", "-q", "-f", "deploy", tip)
    assert fleet.publish().code == 0
    fleet.git("update-ref", "refs/heads/deploy", "deploy~1")
    fleet.commit({THIRD: job("third")})
    outcome = fleet.publish(accept=fleet.tip)
    assert sorted(added(outcome)) == ["protein/other", "protein/third"]
    assert fleet.publish().commit is None


def test_a_branch_that_was_rewritten_is_noticed(fleet):
    rewritten = fleet.git("commit-tree", "-m", "squashed", "deploy^{tree}")
    fleet.git("update-ref", "refs/heads/deploy", rewritten)
    assert "was rewritten" in fleet.refused().message
    # The files are all there: the publish goes on from them.
    fleet.commit({OTHER: job("other")})
    assert added(fleet.publish(accept=rewritten)) == ["protein/other"]


def test_a_rewritten_branch_with_an_edited_file(fleet):
    fleet.deploy({QUEUE: fleet.show(QUEUE) + "# x\n"})
    rewritten = fleet.git("commit-tree", "-m", "squashed", "deploy^{tree}")
    fleet.git("update-ref", "refs/heads/deploy", rewritten)
    refused = fleet.refused(accept=rewritten)
    assert [found.span.file for found in refused.findings] == [QUEUE]


@pytest.mark.parametrize("content", ["no commit\n", "", "0123456789012345678901234567890123456789\n"])
def test_what_was_seen_last_can_not_be_read(fleet, content):
    """The proof that nobody set the branch back would be missing: nothing is taken for granted."""
    fleet.commit({OTHER: job("other")})
    fleet.publish()
    seen = next((fleet.path / ".git/refs/taugen/seen").iterdir())
    kept = seen.read_text()
    seen.write_text(content)
    with pytest.raises((Refused, GitError)):
        fleet.publish()
    fleet.git("update-ref", "refs/heads/deploy", "deploy~1")
    with pytest.raises((Refused, GitError)):
        fleet.publish()
    seen.write_text(kept)
    assert fleet.refused().code == 4


def test_a_deleted_branch_is_noticed(fleet):
    tip = fleet.tip
    fleet.git("update-ref", "-d", "refs/heads/deploy")
    refused = fleet.refused()
    assert (refused.code, f"git branch deploy {tip}" in refused.hint) == (4, True)
    outcome = fleet.publish(accept="none")
    assert (outcome.code, len(added(outcome))) == (0, 3)
    assert fleet.tip == tip, "the same sources give the same first commit"


@pytest.mark.parametrize("place", ["heads", "remotes/origin"])
def test_a_lost_branch_is_not_rebuilt_without_its_evidence(new, place):
    """Law 6: finished work would run again."""
    evidence = new.git("commit-tree", "-m", "evidence", new.git("mktree", stdin=b""))
    new.git("update-ref", f"refs/{place}/evidence", evidence)
    copy = new.copy(new.path.parent / "copy")
    assert copy.publish().code == 0, "a branch without evidence of a run is no loss"
    blob = new.git("hash-object", "-w", "--stdin", stdin=b"x")
    runs = new.git("mktree", stdin=f"100644 blob {blob}\trun.yaml\n".encode())
    cluster = new.git("mktree", stdin=f"040000 tree {runs}\truns\n".encode())
    tree = new.git("mktree", stdin=f"040000 tree {cluster}\tmesa\n".encode())
    new.git("update-ref", f"refs/{place}/evidence", new.git("commit-tree", "-m", "evidence", tree))
    for asked in ({}, {"accept": "none"}, {"dry_run": True}):
        refused = new.refused(**asked)
        assert (refused.code, "evidence" in refused.message, "restore the branch" in refused.hint) == (4, True, True)


def test_evidence_on_the_remote_counts(new, tmp_path):
    server = make_bare(tmp_path / "server.git")
    blob = new.git("hash-object", "-w", "--stdin", stdin=b"x")
    runs = new.git("mktree", stdin=f"100644 blob {blob}\trun.yaml\n".encode())
    cluster = new.git("mktree", stdin=f"040000 tree {runs}\truns\n".encode())
    tree = new.git("mktree", stdin=f"040000 tree {cluster}\tmesa\n".encode())
    new.git("push", "-q", str(server), f"{new.git('commit-tree', '-m', 'evidence', tree)}:refs/heads/evidence")
    assert "evidence" in new.refused(to=str(server)).message
    assert new.publish().code == 0, "another branch, another place"


def test_what_was_seen_is_remembered_for_each_place(fleet, tmp_path):
    server = make_bare(tmp_path / "server.git")
    outcome = fleet.publish(to=str(server))
    assert (outcome.code, outcome.commit) == (0, fleet.tip), "the same commit as on the local branch"
    git(server, "update-ref", "-d", "refs/heads/deploy")
    with pytest.raises(Refused, match="is gone"):
        fleet.publish(to=str(server))
    assert fleet.publish().commit is None


# ------------------------------------------------------------------------------------------------------------------ what is left out


def test_what_is_not_committed_is_named_and_not_published(fleet):
    tip = fleet.tip
    write(fleet.root, {OTHER: job("other"), PROTEIN: fleet.read(PROTEIN).replace("cpus: 4", "cpus: 8"), "notes.txt": "x\n"})
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit, fleet.tip) == (0, None, tip)
    assert outcome.left_out == (PROTEIN, "workspaces/protein/other/")
    fleet.git("add", "-A")
    assert OTHER in fleet.publish().left_out
    assert messages(outcome) == ""


def test_an_ignored_file_is_not_named(fleet):
    fleet.commit({".gitignore": "*.log\n"})
    write(fleet.root, {"workspaces/protein/fold/x.log": "x\n"})
    assert fleet.publish().left_out == ()
