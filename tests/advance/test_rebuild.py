"""A deploy branch that is lost comes back from evidence as it was, or not at all."""

import subprocess
from unittest import mock

import pytest

from taugen.load.mainline import Brought, Mainline
from taugen.pipeline import source
from taugen.policy import load
from taugen.publish import state
from taugen.publish.state import RunState
from tests.advance.kit import LOST, STARTED, Story, failed, gang, retried
from tests.advance.test_trust import with_keys
from tests.publish.kit import DOWNSCALE, FOLD, WHISPER, Fleet, job, rules

ANT, BEE = "protein/ant", "protein/bee"
DOC, OTHER = "workspaces/protein/d1/tau.yaml", "workspaces/protein/d2/tau.yaml"
FILES = {DOC: retried("ant"), OTHER: gang("bee"), "workspaces/protein/d2/fit.py": "print('step')\n"}


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    for name in ("mesa", "fjord"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)], check=True)
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    fleet = Fleet.make(tmp_path_factory.mktemp("rebuild") / "repo", FILES)
    assert fleet.publish().code == 0
    story = Story(fleet)
    story.intent(*fleet.live().values())
    for run in fleet.live().values():
        story.tell(run, *STARTED)
    return fleet


@pytest.fixture
def story(base, tmp_path):
    return Story(base.copy(tmp_path / "repo"))


def lose(story: Story) -> dict[str, str]:
    """The branch is gone, and nothing here remembers it. Returns its files."""
    tree = story.fleet.tree()
    tip = story.fleet.tip
    for ref in story.fleet.git("for-each-ref", "--format=%(refname)", "refs/taugen/seen").splitlines():
        story.fleet.git("update-ref", "-d", ref)
    story.fleet.git("update-ref", "-d", "refs/heads/deploy")
    story.fleet.git("update-ref", "refs/kept/deploy", tip)
    return tree


def settled(story: Story) -> None:
    """Nothing follows from what was made."""
    assert story.fleet.publish().commit is None
    assert story.fleet.publish(full=True).commit is None


def test_it_comes_back_as_it_was(story, taugen):
    ant = story.run(ANT)
    story.tell(ant, ("succeeded", 30))
    story.record(ant)
    before = story.fleet.copy(story.fleet.path.parent / "before")
    Story(before).advance()
    wanted = before.tree()
    lose(story)
    ran = taugen("publish", cwd=story.fleet.root)
    assert (ran.code, "5 runs restored" in ran.err, f"{ant.run_id}  (succeeded, attempt 1)" in ran.err) == (0, True, True), ran.err
    assert story.fleet.tree() == wanted
    assert story.fleet.git("log", "-1", "--format=%s", "deploy").startswith("Publish: restore 5 runs, change ")
    settled(story)
    assert story.advance().commit is None


@pytest.mark.parametrize("end", ["succeeded", "deactivated", "validation-failed", "cancelled", "failed"])
def test_what_is_over_does_not_start_again(story, end):
    """Nor when its document went, and comes back."""
    ant = story.run(ANT)
    story.tell(ant, *(failed(30, exitCodes={"main": 42}) if end == "failed" else [(end, 30)]))
    lose(story)
    text = story.fleet.read(DOC)
    story.fleet.commit({DOC: None})
    assert story.fleet.publish().code == 0
    assert (story.run(ANT).phase, story.fleet.manifests(ant)) == (end, {})
    settled(story)
    story.fleet.commit({DOC: text})
    outcome = story.fleet.publish()
    assert ([wish.name for wish in outcome.plan.ended_before], outcome.commit) == (["ant"], None)


def test_a_state_of_before_it_said_who_and_what_comes_back_too(new):
    """Published by an earlier taugen, which did not write these lines."""
    with mock.patch.object(state, "of", lambda run, commit, *_, of=state.of: of(run, commit)):
        new.publish()
    story = Story(new)
    story.intent(*new.live().values())
    for run in new.live().values():
        assert "author" not in run.body
        story.tell(run, *STARTED)
    wanted = lose(story)
    assert new.publish().code == 0
    assert new.tree() == wanted
    settled(story)


def test_one_that_names_somebody_else_does_not(story, taugen):
    """Whoever writes the evidence of a cluster can't change who answers for a run."""
    lose(story)
    with mock.patch.object(Mainline, "brought", lambda _, paths: {path: Brought("Mallory") for path in paths}):
        assert "compiled anew it is another" in story.fleet.refused().findings[0].message


def test_a_failed_run_goes_on_with_its_next_attempt(story):
    """As `advance` would have made it, once the collector has said all."""
    ant = story.run(ANT)
    story.tell(ant, *failed(**LOST))
    story.checkpoints(ant, 4000)
    unrecorded = Story(story.fleet.copy(story.fleet.path.parent / "unrecorded"))
    lose(unrecorded)
    assert "has not written its record" in unrecorded.fleet.refused().findings[0].message
    story.record(ant)
    before = story.fleet.copy(story.fleet.path.parent / "before")
    Story(before).advance()
    lose(story)
    assert story.fleet.publish().code == 0
    assert story.fleet.tree() == before.tree()
    assert (story.run(ANT).attempt, story.env(ant)["TAU_RESUME_FROM"]) == (2, "/checkpoints/x/4000")
    settled(story)


def second(story: Story, *, number: int = 2, cause: dict | None = None) -> RunState:
    """ant fails until `number` is made, resumes from a checkpoint each time, and that attempt is not over."""
    for earlier in range(1, number):
        ant = story.run(ANT)
        story.tell(ant, *STARTED, *failed(**(cause or LOST)), attempt=earlier)
        story.checkpoints(ant, 100 * earlier, attempt=earlier)
        story.record(ant, earlier)
        assert story.advance().commit
    return story.run(ANT)


@pytest.mark.parametrize(("number", "cause"), [(2, LOST), (3, LOST), (2, {"exitCodes": {"main": 7}})])
def test_a_later_attempt_that_is_not_over_comes_back_as_it_was(story, number, cause):
    ant = second(story, number=number, cause=cause)
    story.submitted(ant, number)
    story.checkpoints(ant, 9000, attempt=number)
    tip = story.fleet.git("rev-parse", "deploy^{tree}")
    assert story.env(ant)["TAU_RESUME_FROM"] == f"/checkpoints/x/{100 * (number - 1)}"
    lose(story)
    assert story.fleet.publish().code == 0
    assert story.fleet.git("rev-parse", "deploy^{tree}") == tip
    settled(story)
    assert story.advance().commit is None


@pytest.mark.parametrize("kind", ["jobset", "gang"])
def test_a_later_attempt_of_a_gang(tmp_path, kind):
    """With its Service, and where empty variables have no value; it began anew and never resumed."""
    text = gang("bee") if kind == "gang" else gang("bee").replace("workload_kind: job", "workload_kind: jobset")
    fleet = Fleet.make(tmp_path / "repo", {OTHER: text, "workspaces/protein/d2/fit.py": "print('step')\n"})
    fleet.edit("policy/profiles.yaml", ("kinds: [job, rayjob]\n  gpus: 0", "kinds: [job, rayjob, jobset]\n  gpus: 0"))
    assert fleet.publish().code == 0
    story = Story(fleet)
    story.intent(*fleet.live().values())
    bee = story.run(BEE)
    story.tell(bee, *STARTED, ("index-succeeded", 50, {"index": 0}), ("preempted", 51))
    assert [action.reason for _, action in story.advance().done] == ["Preempted"]
    bee = story.run(BEE)
    story.tell(bee, ("superseded", 60, {"by": 2}))
    story.record(bee)
    early = Story(fleet.copy(tmp_path / "early"))
    lose(early)
    assert "was followed by another, of which evidence says nothing yet" in early.fleet.refused().findings[0].message
    story.submitted(bee, 2)
    tree = fleet.git("rev-parse", "deploy^{tree}")
    lose(story)
    assert fleet.publish().code == 0
    assert fleet.git("rev-parse", "deploy^{tree}") == tree


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"envDigest": None}, "evidence does not hold what its object was started with"),
        ({"resumeFrom": "/checkpoints/y/1"}, "it resumed from what is no checkpoint of this run"),
        ({"resumeFrom": "/checkpoints/x/200"}, "no reason for a retry gives"),
        ({"resumeFrom": ""}, "no reason for a retry gives"),
        ({"envDigest": "0" * 64}, "no reason for a retry gives"),
        ({"command": ["sh"]}, "no reason for a retry gives"),
    ],
)
def test_a_later_attempt_that_evidence_does_not_prove_stands_in_the_way(story, said, why):
    ant = second(story)
    story.submitted(ant, 2, **said)
    lose(story)
    refused = story.fleet.refused()
    assert (refused.code, rules(refused)) == (4, ["restore-unproven"])
    assert f"attempt 2 is not over, and {why}" in refused.findings[0].message


def test_two_objects_of_one_attempt_that_differ_stand_in_the_way(story):
    ant = second(story)
    story.submitted(ant, 2)
    other = Story(story.fleet.copy(story.fleet.path.parent / "other"))
    story.submitted(ant, 2, object_uid="7c2f")
    lose(story)
    assert story.fleet.publish().code == 0, "made anew, the same"
    other.submitted(ant, 2, object_uid="7c2f", envDigest="0" * 64)
    lose(other)
    assert rules(other.fleet.refused()) == ["restore-unproven"]


@pytest.mark.parametrize("who", [None, "fjord"])
def test_a_forged_start_brings_nothing_back(story, keys, who):
    """What says where a later attempt resumed must be signed, too."""
    fleet = Fleet.make(story.fleet.path.parent / f"started-{who}", FILES)
    with_keys(fleet, keys)
    fleet.publish()
    story = Story(fleet)
    for run in fleet.live().values():
        story.intent(run, sign=keys / run.cluster)
    ant = story.run(ANT)
    mesa = keys / "mesa"
    story.tell(ant, *STARTED, *failed(**LOST), sign=mesa)
    story.checkpoints(ant, 100, sign=mesa)
    story.record(ant, sign=mesa)
    story.advance()
    story.tell(ant, ("queued", 61), attempt=2, sign=mesa)
    commit = story.submitted(story.run(ANT), 2, sign=keys / who if who else None)
    lose(story)
    refused = fleet.refused()
    assert set(rules(refused)) == {"evidence-forged", "restore-unproven"}
    assert any(commit[:12] in found.message for found in refused.findings)


def test_a_later_attempt_that_is_not_over_stands_in_the_way(story, taugen):
    """A collector that did not say what it was started with."""
    ant = story.run(ANT)
    story.tell(ant, *failed(**LOST))
    story.record(ant)
    story.tell(ant, *STARTED, attempt=2)
    lose(story)
    for asked in ({}, {"dry_run": True}, {"accept": "none"}):
        refused = story.fleet.refused(**asked)
        assert (refused.code, rules(refused), "restore the branch" in refused.hint) == (4, ["restore-unproven"], True)
    assert "attempt 2 is not over" in refused.findings[0].message
    ran = taugen("publish", "--allow-cancel", ant.run_id, cwd=story.fleet.root)
    assert (ran.code, story.run(ANT).phase, len(story.fleet.live())) == (0, "cancelled", 4)
    settled(story)


def test_a_half_finished_gang_comes_back_and_is_advanced(story):
    bee = story.run(BEE)
    story.tell(bee, ("index-succeeded", 50, {"index": 0}), ("preempted", 51))
    tree = lose(story)
    assert story.fleet.publish().code == 0
    assert story.fleet.tree() == tree
    assert [action.attempt for _, action in story.advance().done] == [2]


def test_runs_come_back_as_they_were_submitted(story):
    """Under older policy and code, edited, moved and vanished since."""
    ant = story.run(ANT)
    story.fleet.edit("policy/profiles.yaml", ("priority: low", "priority: normal"))
    story.fleet.commit({DOC: retried("ant", generation=2, on_edit="wait"), OTHER: None, "workspaces/protein/d2/fit.py": "print('other')\n"})
    assert story.fleet.publish().code == 4
    tree = lose(story)
    outcome = story.fleet.publish()
    assert (outcome.code, rules(outcome)) == (4, ["run-vanished"])
    assert [(wish.name, older.run) for wish, older in outcome.plan.waiting] == [("ant", ant.run)]
    assert story.fleet.tree() == tree


def test_documents_that_say_otherwise_are_heard(story):
    """A run that is not over by its evidence, whose document cancels or replaces it."""
    ant, bee = story.run(ANT), story.run(BEE)
    story.fleet.commit({DOC: retried("ant", cancelled="true"), OTHER: gang("bee", generation=2, on_edit="replace")})
    lose(story)
    assert story.fleet.publish().code == 0
    states = story.fleet.states()
    assert (states[ant.run_id].phase, states[bee.run_id].phase) == ("cancelled", "replaced")
    assert not story.fleet.manifests(ant)
    assert not story.fleet.manifests(bee)
    settled(story)


def test_another_compiler_makes_other_bytes(story):
    ant = story.run(ANT)
    story.tell(ant, ("succeeded", 30))
    lose(story)
    with (
        mock.patch.object(state, "__version__", "9.9"),
        mock.patch.object(load, "__version__", "9.9"),
        mock.patch.object(source, "COMPILER", "9.9"),
    ):
        refused = story.fleet.refused()
        assert len(refused.findings) == 4, "what is over needs no bytes"
        outcome = story.fleet.publish(allow=frozenset({WHISPER, DOWNSCALE, FOLD, BEE}))
    assert outcome.code == 0
    assert {one.phase for one in story.fleet.states().values()} == {"succeeded", "cancelled"}


def test_evidence_without_intent(story):
    """A collector that can't read the deploy branch: an end is believed where a document tells whose it is."""
    ant = story.run(ANT)
    runs = story.fleet.live()
    story.fleet.git("update-ref", "-d", "refs/heads/evidence")
    story.tell(ant, *STARTED, ("succeeded", 30))
    lose(story)
    assert story.fleet.publish().code == 0
    assert (story.run(ANT).phase, len(story.fleet.live())) == ("succeeded", 4)
    lose(story)
    story.tell(runs[BEE], *STARTED)
    assert "what it was meant to be" in story.fleet.refused().findings[0].message
    story.fleet.git("update-ref", "-d", "refs/heads/evidence")
    story.tell(ant, *STARTED, ("succeeded", 30))
    story.fleet.commit({DOC: None})
    assert rules(story.fleet.refused()) == ["restore-unproven"]
    outcome = story.fleet.publish(allow=frozenset({ant.run}))
    assert (outcome.code, len(story.fleet.live())) == (0, 4)


def test_what_a_live_run_needs_must_be_there(story):
    story.fleet.edit("policy/queues.yml", ("kind: Queue\nmetadata:\n  name: batch\n", "kind: Queue\nmetadata:\n  name: bulk\n"))
    lose(story)
    assert set(rules(story.fleet.refused())) == {"in-use"}


@pytest.mark.parametrize("who", [None, "fjord"])
def test_a_forged_end_does_not_keep_a_run_from_coming_back(story, keys, who):
    fleet = Fleet.make(story.fleet.path.parent / f"signed-{who}", FILES)
    with_keys(fleet, keys)
    fleet.publish()
    story = Story(fleet)
    for run in fleet.live().values():
        story.intent(run, sign=keys / run.cluster)
        story.tell(run, *STARTED, sign=keys / run.cluster)
    ant = story.run(ANT)
    commit = story.tell(ant, ("succeeded", 30), sign=keys / who if who else None)
    tree = lose(story)
    outcome = fleet.publish()
    assert (outcome.code, rules(outcome), commit[:12] in outcome.refused[0].message) == (4, ["evidence-forged"], True)
    assert fleet.tree() == tree


def test_nothing_but_forged_evidence(story, keys):
    """It may be evidence of an older key: what is not known to be unfinished is not started again."""
    with_keys(story.fleet, keys)
    lose(story)
    refused = story.fleet.refused()
    assert (refused.code, set(rules(refused))) == (4, {"evidence-forged", "restore-unproven"})


def test_an_end_under_another_cluster(story):
    """Who may write for fjord can't end a run of mesa, whatever he says that it was."""
    ant = story.run(ANT)
    forged = ant.body.replace("cluster: mesa", "cluster: fjord")
    story.commit({story.key(ant, cluster="fjord").of.intent: forged.encode()})
    story.tell(ant, *STARTED, ("succeeded", 30), cluster="fjord")
    tree = lose(story)
    outcome = story.fleet.publish()
    assert (outcome.code, rules(outcome)) == (4, ["evidence-elsewhere"])
    assert story.fleet.tree() == tree


def test_an_intent_of_a_commit_that_is_not_of_these_sources(story):
    """Nothing is compiled from a commit that only a fork has."""
    ant = story.run(ANT)
    fork = story.fleet.git("commit-tree", "-m", "fork", "HEAD^{tree}")
    story.commit({story.key(ant).of.intent: ant.body.replace(ant.commit, fork).encode()})
    lose(story)
    assert "can't be compiled any more" in story.fleet.refused().findings[0].message


def test_evidence_that_this_version_can_not_read(new):
    Story(new).commit({"mesa/runs/odd.json": b"{}"})
    assert "can't read" in new.refused().findings[0].message


def test_a_branch_that_was_set_back_and_accepted(story):
    """Runs that it held later come back as well: they are not published a second time."""
    tip = story.fleet.tip
    story.fleet.commit({"workspaces/protein/d3/tau.yaml": job("cat"), "workspaces/protein/d4/tau.yaml": job("dog")})
    story.fleet.publish()
    cat, dog = story.run("protein/cat"), story.run("protein/dog")
    story.intent(cat, dog)
    story.tell(cat, *STARTED, ("succeeded", 30))
    story.tell(dog, *STARTED)
    wanted = story.fleet.manifests(dog)
    story.fleet.git("update-ref", "refs/heads/deploy", tip)
    assert "was rewritten" in story.fleet.refused().message
    outcome = story.fleet.publish(accept=tip)
    assert (outcome.code, outcome.plan.add, len(outcome.restored)) == (0, [], 2)
    assert (story.run("protein/cat").phase, story.fleet.manifests(dog)) == ("succeeded", wanted)
    assert story.fleet.publish(accept=story.fleet.tip).commit is None
    settled(story)
