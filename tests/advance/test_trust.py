"""Whose word ends a run: the collector of its own cluster's, by place and by signature."""

import subprocess

import pytest

from tests.advance.kit import LOST, STARTED, Story, failed, retried
from tests.publish.kit import Fleet

ANT = "protein/ant"
DOC = "workspaces/protein/d1/tau.yaml"
COLLECTOR = "  collector:\n    image: registry.tern.example/taugen@sha256:{}\n    keys:\n      - {}\n"
FLEET = "policy/clusters.yaml"


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """A signing key for each cluster."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("mesa", "fjord"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)], check=True)
    return folder


def with_keys(fleet: Fleet, keys) -> None:
    """Policy lists the key of each cluster."""
    text = fleet.read(FLEET)
    for name in ("mesa", "fjord"):
        said = COLLECTOR.format("1" * 64, (keys / f"{name}.pub").read_text().strip())
        text = text.replace(f"  name: {name}\nspec:\n", f"  name: {name}\nspec:\n{said}")
    fleet.commit({FLEET: text})


@pytest.fixture(scope="module")
def base(tmp_path_factory, keys):
    fleet = Fleet.make(tmp_path_factory.mktemp("trust") / "repo", {DOC: retried("ant")})
    with_keys(fleet, keys)
    assert fleet.publish().code == 0
    return fleet


@pytest.fixture
def story(base, tmp_path):
    return Story(base.copy(tmp_path / "repo"))


def test_a_signed_word_counts(story, keys):
    ant = story.run(ANT)
    story.tell(ant, *STARTED, *failed(**LOST), sign=keys / "mesa")
    story.checkpoints(ant, 4000, sign=keys / "mesa")
    outcome = story.advance()
    assert (outcome.code, story.env(ant)["TAU_RESUME_FROM"]) == (0, "/checkpoints/x/4000")


@pytest.mark.parametrize("who", [None, "fjord"])
def test_a_forged_end_is_refused_and_the_others_go_on(story, keys, taugen, who):
    """Whoever holds one cluster's key can't end a run of another, nor move it to another attempt or checkpoint."""
    ant, other = story.run(ANT), story.run("speech/whisper-finetune")
    sign = keys / who if who else None
    story.tell(ant, *STARTED, sign=keys / "mesa")
    commit = story.tell(ant, ("succeeded", 30), sign=sign)
    story.tell(other, *STARTED, ("succeeded", 30), sign=keys / "fjord")
    ran = taugen("advance", cwd=story.fleet.root)
    assert (ran.code, "[evidence-forged]" in ran.err, commit[:12] in ran.err) == (4, True, True)
    assert (story.run(ANT), story.run("speech/whisper-finetune").phase) == (ant, "succeeded")
    ran = taugen("advance", cwd=story.fleet.root)
    assert (ran.code, "nothing to advance" in ran.err, "1 refusal" in ran.err) == (4, True, True)
    story.tell(ant, *failed(40, **LOST), sign=keys / "mesa")
    story.checkpoints(ant, 100, sign=keys / "mesa")
    story.checkpoints(ant, 9000, sign=sign)
    assert story.advance().code == 4
    assert (story.run(ANT).attempt, story.env(ant)["TAU_RESUME_FROM"]) == (2, "/checkpoints/x/100")


def test_a_forged_record_without_an_end(story, keys):
    ant = story.run(ANT)
    story.tell(ant, *STARTED, sign=keys / "mesa")
    commit = story.record(ant, sign=keys / "fjord")
    outcome = story.advance()
    assert [found.rule for found in outcome.refused] == ["evidence-forged"]
    assert commit[:12] in outcome.refused[0].message
    assert outcome.commit is None


def test_a_signed_file_that_somebody_changed_later(story, keys):
    ant = story.run(ANT)
    story.tell(ant, *STARTED, *failed(20, exitCodes={"main": 42}), sign=keys / "mesa")
    path = next(p for p in story.fleet.tree("evidence") if "-pod-ended-" in p)
    content = story.fleet.show(path, "evidence").replace('"main":42', '"main":7')
    assert content != story.fleet.show(path, "evidence")
    story.commit({path: content.encode()}, sign=keys / "fjord")
    outcome = story.advance()
    assert (outcome.code, [found.span.file for found in outcome.refused]) == (4, [path])


def test_evidence_under_another_cluster_does_not_count(story, keys, taugen):
    ant = story.run(ANT)
    commit = story.tell(ant, *STARTED, ("succeeded", 30), cluster="fjord", sign=keys / "fjord")
    ran = taugen("advance", cwd=story.fleet.root)
    assert (ran.code, "[evidence-elsewhere]" in ran.err, commit[:12] in ran.err) == (4, True, True)
    assert "which runs on cluster mesa" in ran.err
    assert story.run(ANT) == ant


def test_a_merge_that_slips_a_file_in(story, keys):
    ant = story.run(ANT)
    old = story.tell(ant, *STARTED, sign=keys / "mesa")
    new = story.tell(ant, ("note", 9), sign=keys / "mesa")
    forged = story.tell(ant, ("succeeded", 30))
    merge = story.fleet.git("commit-tree", "-m", "merge", "-p", old, "-p", new, f"{forged}^{{tree}}")
    story.fleet.git("update-ref", "refs/heads/evidence", merge)
    outcome = story.advance()
    assert (outcome.code, outcome.commit) == (4, None)


def test_a_cut_history_can_not_tell_who_wrote(story, keys, tmp_path, taugen):
    ant = story.run(ANT)
    story.tell(ant, *STARTED, ("succeeded", 30))
    story.tell(ant, ("note", 31), sign=keys / "mesa")
    clone = tmp_path / "clone"
    story.fleet.git("clone", "-q", "--depth=1", "--no-single-branch", story.fleet.path.as_uri(), str(clone))
    subprocess.run(["git", "branch", "-q", "deploy", "origin/deploy"], cwd=clone, check=True)
    ran = taugen("advance", cwd=clone)
    assert (ran.code, "cut off" in ran.err, "--unshallow" in ran.err) == (4, True, True)


def test_a_remote_history_is_fetched_whole(base, keys, tmp_path, taugen):
    """Of a remote branch only the newest commit is fetched, until somebody's word is to be judged."""
    fleet = base.copy(tmp_path / "repo")
    records = tmp_path / "records"
    Fleet.git(fleet, "init", "-q", "--bare", str(records))
    subprocess.run(["git", "config", "uploadpack.allowFilter", "true"], cwd=records, check=True)
    fleet.edit("taugen.yaml", ("  evidence:\n", f"  evidence:\n    url: {records.as_uri()}\n"))
    story = Story(fleet, records)
    ant = story.run(ANT)
    story.tell(ant, *STARTED, *failed(**LOST), sign=keys / "mesa")
    commit = story.checkpoints(ant, 9000)
    story.tell(ant, ("note", 31), sign=keys / "mesa")
    ran = taugen("advance", cwd=fleet.root)
    assert (ran.code, commit[:12] in ran.err, "1 run retried" in ran.err) == (4, True, True)
    assert story.env(ant)["TAU_RESUME_FROM"] == ""


def test_a_cluster_that_policy_does_not_know(story, keys, taugen):
    ant = story.run(ANT)
    text = story.fleet.read(FLEET)
    parts = [part for part in text.split("---\n") if "name: mesa\n" not in part]
    story.fleet.commit({FLEET: "---\n".join(parts)})
    story.tell(ant, *STARTED, ("succeeded", 30), sign=keys / "mesa")
    ran = taugen("advance", cwd=story.fleet.root)
    assert (ran.code, "[evidence-unjudged]" in ran.err, story.run(ANT)) == (4, True, ant)


def test_policy_that_can_not_be_read(story, keys, taugen):
    ant = story.run(ANT)
    story.fleet.edit(FLEET, ("kind: Cluster", "kind: [Cluster"))
    assert taugen("advance", cwd=story.fleet.root).code == 0, "nothing is to be judged"
    story.tell(ant, *STARTED, ("succeeded", 30), sign=keys / "mesa")
    ran = taugen("advance", cwd=story.fleet.root)
    assert (ran.code, "[evidence-unjudged]" in ran.err, story.run(ANT)) == (4, True, ant)


def test_objects_of_others_with_the_runs_labels(base, tmp_path):
    """Without keys too: an object of another name or namespace says nothing about the run, nor does a run of another document."""
    fleet = Fleet.make(tmp_path / "repo", {DOC: retried("ant")})
    fleet.publish()
    story = Story(fleet)
    ant = story.run(ANT)
    for n, about in enumerate(({"name": f"{ant.run}-1", "namespace": "lab-speech"}, {"name": "mine", "namespace": "lab-protein"})):
        story.tell(ant, ("submitted", n, {"object": {"uid": "6b1e", "kind": "Job", **about}}), ("succeeded", 30))
        assert story.advance().done == []
    other = f"run: {ant.run_id}\nintent: {{digest: {ant.digest[:8]}{'0' * 56}}}\n"
    story = Story(fleet.copy(tmp_path / "other"))
    story.fleet.git("update-ref", "-d", "refs/heads/evidence")
    story.commit({story.key(ant).of.intent: other.encode()})
    story.tell(ant, *STARTED, ("succeeded", 30))
    assert story.advance().done == []


def test_findings_about_many_commits_are_counted(story, keys):
    ant = story.run(ANT)
    story.tell(ant, *STARTED, ("succeeded", 30), sign=keys / "mesa")
    for step in range(25):
        story.checkpoints(ant, step)
    outcome = story.advance()
    assert (story.run(ANT).phase, len(outcome.refused), outcome.code) == ("succeeded", 21, 4)
    assert any("5 more commits" in found.message for found in outcome.refused)
