"""`taugen advance` on real Git repositories: what it commits, and that it commits nothing without news."""

import os
import subprocess
import sys
from unittest import mock

import pytest

from taugen.advance.decide import moment
from taugen.publish import state
from taugen.publish.target import Target
from taugen.render import file
from tests.advance.kit import LOST, STARTED, Story, at, failed, gang, retried
from tests.gitkit import git, make_bare
from tests.publish.kit import DOWNSCALE, Fleet, job

ANT, BEE = "protein/ant", "protein/bee"
DOC, OTHER = "workspaces/protein/d1/tau.yaml", "workspaces/protein/d2/tau.yaml"
HALF = (*STARTED, ("index-succeeded", 150, {"index": 1}), ("preempted", 151, {"reason": "InCohortReclamation"}))


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Two runs published beside acme's: one that is tried again, one that is a gang."""
    files = {DOC: retried("ant"), OTHER: gang("bee"), "workspaces/protein/d2/fit.py": "print('step')\n"}
    fleet = Fleet.make(tmp_path_factory.mktemp("advance") / "repo", files)
    assert fleet.publish().code == 0
    return fleet


@pytest.fixture
def story(base, tmp_path):
    return Story(base.copy(tmp_path / "repo"))


def test_a_failed_run_gets_its_next_attempt(story, taugen):
    ant = story.run(ANT)
    before, config = story.objects(ant), story.fleet.manifests(ant)
    story.tell(ant, *STARTED, *failed(**LOST))
    story.checkpoints(ant, 1000, 4000)
    ran = taugen("advance", cwd=story.fleet.root)
    assert ran.code == 0
    assert f"retry  {ant.run_id}  attempt 2 of 3 starts from step 4000: node h100-7 was lost" in ran.err
    assert ran.out.strip() == story.fleet.tip
    again = story.run(ANT)
    assert (again.attempt, again.phase, again.live) == (2, "live", True)
    assert "\nresumeFrom: /checkpoints/x/4000\n" in again.body
    after = story.objects(ant)
    assert after["Job"]["metadata"]["name"] == f"{ant.run}-2"
    env = story.env(ant)
    assert [env[name] for name in ("TAU_ATTEMPT", "TAU_RESUME_FROM", "TAU_RETRY_ATTEMPT", "TAU_RETRY_REASON")] == [
        "2", "/checkpoints/x/4000", "1", "NodeFailure",
    ]  # fmt: skip
    assert after["ConfigMap"] == before["ConfigMap"]
    changed = {path for path, blob in story.fleet.manifests(ant).items() if config[path] != blob}
    assert changed == {f"clusters/{ant.folder}/job.yaml"}
    for path in changed:
        assert file.verify(story.fleet.show(path), "tern") == "ok"


def test_the_second_time_nothing_changes(story, taugen):
    ant = story.run(ANT)
    story.tell(ant, *STARTED, *failed(**LOST))
    for _ in range(3):
        ran = taugen("advance", cwd=story.fleet.root)
        assert ran.code == 0
    assert ran.err.strip() == "nothing to advance on branch deploy: 5 live runs"
    assert story.fleet.git("rev-list", "--count", "deploy") == "2"
    assert story.fleet.publish().commit is None
    assert story.fleet.publish(full=True).commit is None


def test_a_run_that_is_over_is_retired(story, taugen):
    ant, bee = story.run(ANT), story.run(BEE)
    story.tell(ant, *STARTED, ("succeeded", 30))
    story.record(ant)
    story.tell(bee, *STARTED, *failed(40, exitCodes={"main": 42}))
    ran = taugen("advance", cwd=story.fleet.root)
    assert (ran.code, ran.err.count("retire  "), "2 runs retired" in ran.err) == (0, 2, True)
    assert (story.run(ANT).phase, story.run(BEE).phase) == ("succeeded", "failed")
    assert not story.fleet.manifests(ant)
    assert not story.fleet.manifests(bee)
    told = story.fleet.git("log", "-1", "--format=%B%n%at %ct", "deploy")
    assert f"Tau-Record: {story.key(ant).record} " in told
    assert "exit code 42 is one of fatal_exit_codes" in told
    assert told.endswith(f"{int(moment(at(40)).timestamp())} {int(moment(at(40)).timestamp())}")
    assert not Fleet.live(story.fleet).keys() & {ANT, BEE}
    outcome = story.fleet.publish()
    assert (outcome.commit, outcome.code) == (None, 0), "a finished run never starts again"
    outcome = story.fleet.publish(full=True)
    assert (outcome.commit, outcome.code) == (None, 0)


def test_a_half_finished_gang_begins_anew(story):
    bee = story.run(BEE)
    story.tell(bee, *HALF, ("admitted", 161))
    story.checkpoints(bee, 300)
    outcome = story.advance()
    assert [(state.run_id, action.attempt) for state, action in outcome.done] == [(bee.run_id, 2)]
    objects = story.objects(bee)
    name = f"{bee.run}-2"
    assert {kind: one["metadata"]["name"] for kind, one in objects.items()} == {"ConfigMap": bee.run, "Service": name, "Job": name}
    env = story.env(bee)
    assert (env["PET_RDZV_ID"], env["TAU_RESUME_FROM"], env["TAU_RETRY_REASON"]) == (name, "/checkpoints/x/300", "Preempted")
    assert objects["Job"]["spec"]["template"]["spec"]["subdomain"] == name
    assert story.advance().commit is None
    story.tell(bee, ("superseded", 170))
    assert story.advance().commit is None


def test_a_gang_taken_back_before_any_index_was_done_goes_on(story):
    bee = story.run(BEE)
    story.tell(bee, *STARTED, ("preempted", 9), ("admitted", 12))
    assert (story.advance().done, story.fleet.git("rev-list", "--count", "deploy")) == ([], "1")


def test_attempts_follow_each_other_until_none_is_left(story):
    ant = story.run(ANT)
    for n in (1, 2, 3):
        story.tell(ant, *STARTED, *failed(10 * n, **LOST), attempt=n)
        story.checkpoints(ant, 100 * n, attempt=n)
        story.advance()
        if n < 3:
            assert (story.run(ANT).attempt, story.env(ant)["TAU_RESUME_FROM"]) == (n + 1, f"/checkpoints/x/{100 * n}")
    assert (story.run(ANT).phase, story.run(ANT).attempt) == ("failed", 3)


def test_the_newest_checkpoint_of_all_attempts_and_of_no_other_run(story):
    ant, bee = story.run(ANT), story.run(BEE)
    story.checkpoints(ant, 500, attempt=1)
    story.checkpoints(ant, 400, attempt=2)
    story.checkpoints(bee, 9000)
    story.tell(ant, *STARTED, *failed(**LOST))
    story.advance()
    story.tell(ant, *STARTED, *failed(20, **LOST), attempt=2)
    story.advance()
    assert (story.run(ANT).attempt, story.env(ant)["TAU_RESUME_FROM"]) == (3, "/checkpoints/x/500")


def test_a_document_that_waits_is_published_once_its_older_run_is_over(story):
    """Also by an incremental publish of the commit that was published already."""
    ant = story.run(ANT)
    story.fleet.commit(
        {
            DOC: retried("ant", generation=2, on_edit="wait"),
            OTHER: gang("bee", generation=2, on_edit="wait"),
            "workspaces/protein/d3/tau.yaml": job("cat"),
        }
    )
    first = story.fleet.publish()
    assert [(wish.name, older.run) for wish, older in first.plan.waiting] == [("ant", ant.run), ("bee", story.run(BEE).run)]
    assert story.fleet.publish().commit is None
    story.tell(ant, *STARTED, ("succeeded", 30))
    story.advance()
    full = story.fleet.copy(story.fleet.path.parent / "full").publish(full=True)
    second = story.fleet.publish()
    assert [wish.name for wish in second.plan.add] == ["ant"]
    assert [wish.name for wish, _ in second.plan.waiting] == ["bee"]
    assert second.commit == full.commit
    assert story.fleet.publish().commit is None


def test_what_the_tip_remembers_is_repeated(story):
    """Vanished and moved documents: an incremental publish after advance gives the same commit as a full one."""
    ant, bee = story.run(ANT), story.run(BEE)
    moved = "workspaces/protein/d7/tau.yaml"
    story.fleet.commit(
        {
            DOC: None,
            OTHER: None,
            moved: gang("bee"),
            "workspaces/protein/d7/fit.py": "print('step')\n",
            "workspaces/protein/d3/tau.yaml": job("cat"),
        }
    )
    assert story.fleet.publish().code == 4
    memory = story.fleet.memory()
    assert (memory.adrift, dict(memory.moved)) == (("/".join(ant.key),), {"/".join(bee.key): moved})
    story.tell(ant, *STARTED, ("succeeded", 30))
    story.tell(bee, *STARTED, ("succeeded", 30))
    story.advance()
    assert story.fleet.memory().source == memory.source
    assert story.fleet.memory().adrift == ("/".join(bee.key),)
    for files in ({}, {"workspaces/protein/d4/tau.yaml": job("dog")}, {moved: None, "workspaces/protein/d5/tau.yaml": job("eel")}):
        story.fleet.commit(files)
        full = story.fleet.copy(story.fleet.path.parent / f"full-{len(files)}").publish(full=True)
        outcome = story.fleet.publish()
        assert (outcome.commit, outcome.code) == (full.commit, 0)


def test_states_of_every_phase_are_read_the_short_way(story, monkeypatch):
    ant = story.run(ANT)
    every = [ant.ended(phase).at(17, '/a b/#1: "x"') for phase in sorted(state.PHASES)]
    raw = [one.content("tern") for one in every]
    assert [state.read(text, "tern") for text in raw] == every
    assert [state.read(text, "tern") for text in raw if state._USUAL.match(text.partition(b"\n")[2]) is None] == []
    monkeypatch.setattr(state, "_USUAL", state.re.compile(rb"(?!)"))
    assert [state.read(text, "tern") for text in raw] == every


def test_dry_run_says_and_does_nothing(story, taugen):
    story.tell(story.run(ANT), *STARTED, *failed(**LOST))
    refs = story.fleet.git("for-each-ref")
    ran = taugen("advance", "--dry-run", cwd=story.fleet.root)
    assert (ran.code, ran.out) == (0, "")
    assert "dry run: branch deploy: 1 run retried" in ran.err
    assert story.fleet.git("for-each-ref") == refs


def test_what_waits_is_listed(story, taugen):
    story.tell(story.run(ANT), ("submitted", "2200-01-01T00:00:00Z"), *[("failed", "2200-01-01T00:00:05Z")])
    ran = taugen("advance", cwd=story.fleet.root)
    assert ran.code == 0
    assert "wait  protein/ant" in ran.err
    assert "not before 2200-01-01T00:00:35Z" in ran.err
    assert "nothing to advance on branch deploy: 5 live runs, 1 waiting" in ran.err


def test_nothing_is_published(tmp_path, taugen):
    fleet = Fleet.make(tmp_path / "repo")
    ran = taugen("advance", cwd=fleet.root)
    assert (ran.code, ran.err.strip()) == (0, "nothing to advance on branch deploy: 0 live runs")


def test_a_branch_edited_by_hand_is_refused(story, taugen):
    ant = story.run(ANT)
    path = f"clusters/{ant.folder}/job.yaml"
    story.tell(ant, *STARTED, *failed(**LOST))
    edited = story.fleet.deploy({path: story.fleet.show(path).replace("parallelism: 1", "parallelism: 2")})
    ran = taugen("advance", cwd=story.fleet.root)
    assert (ran.code, "deploy-edited" in ran.err, story.fleet.tip) == (4, True, edited)


def test_files_of_others_on_the_branch_do_no_harm(story):
    ant = story.run(ANT)
    story.tell(ant, *STARTED, *failed(**LOST))
    story.fleet.deploy({"clusters/mesa/theirs/x.yaml": "a: 1\n"})
    assert len(story.advance().done) == 1
    assert story.fleet.memory().unsettled, "the next publish looks at everything"
    assert story.fleet.publish().code == 0


def test_a_lost_race_is_answered_by_looking_anew(story):
    ant = story.run(ANT)
    story.tell(ant, *STARTED, *failed(**LOST))
    move, left = Target.move, [1]

    def late(target, new, old):
        if left[0]:
            left[0] = 0
            story.fleet.deploy({"clusters/mesa/theirs/x.yaml": "a: 1\n"})
        return move(target, new, old)

    with mock.patch.object(Target, "move", late):
        outcome = story.advance()
    assert outcome.commit == story.fleet.tip
    assert (story.run(ANT).attempt, story.fleet.show("clusters/mesa/theirs/x.yaml")) == (2, "a: 1\n")


def test_two_advances_make_one_commit(story):
    """The same tip and evidence give the same commit, wherever it is made."""
    ant = story.run(ANT)
    story.tell(ant, *STARTED, *failed(**LOST))
    story.checkpoints(ant, 4000)
    other = Story(story.fleet.copy(story.fleet.path.parent / "other"))
    env = os.environ | {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONHASHSEED": "77", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "taugen", "advance"], cwd=other.fleet.root, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == story.advance().commit


def test_evidence_commits_and_repetition_leave_one_deploy_commit(story, taugen):
    """A public report: tools that answer their own commits with the next one."""
    root = story.fleet.root
    tip = story.fleet.tip
    for zone in ("Pacific/Kiritimati", "America/St_Johns", "UTC"):
        env = os.environ | {"TZ": zone, "LC_ALL": "C.UTF-8", "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-m", "taugen", "publish"], cwd=root, env=env, capture_output=True, check=True)
    story.fleet.commit({"README.note": "docs only\n"}, "docs only")
    assert taugen("publish", cwd=root).code == 0
    for minute in range(3):
        story.tell(story.run(ANT), ("note", minute, {"reason": "Pulled"}), *STARTED)
        assert taugen("advance", cwd=root).code == 0
    assert story.fleet.tip == tip


def test_remote_branches(base, tmp_path, taugen):
    """Deploy branch and evidence on a server, the sources in a clone of their own."""
    fleet = base.copy(tmp_path / "repo")
    server, records = make_bare(tmp_path / "deploy.git"), make_bare(tmp_path / "records.git")
    fleet.git("push", "-q", str(server), "deploy")
    fleet.git("update-ref", "-d", "refs/heads/deploy")
    git(tmp_path, "clone", "-q", "--bare", str(server), "seen")
    url = "url: " + records.as_uri()
    fleet.edit("taugen.yaml", ("  evidence:\n", f"  evidence:\n    {url}\n"))
    story = Story(fleet, records)
    ant = next(s for s in base.states().values() if s.name == "ant")
    story.tell(ant, *STARTED, *failed(**LOST))
    for count in ("2", "2"):
        ran = taugen("advance", "--to", str(server), cwd=fleet.root)
        assert ran.code == 0, ran.err
        assert git(server, "rev-list", "--count", "deploy") == count
    assert f"{ant.run}-2" in git(server, "show", f"deploy:clusters/{ant.folder}/job.yaml")


def test_evidence_on_the_remote_of_the_deploy_branch(base, tmp_path):
    fleet = base.copy(tmp_path / "repo")
    server = make_bare(tmp_path / "server.git")
    fleet.git("push", "-q", str(server), "deploy")
    story = Story(fleet, server)
    story.tell(story.run(ANT), *STARTED, *failed(**LOST))
    assert len(story.advance(to=str(server)).done) == 1


def test_the_run_of_the_fleet_that_has_nothing_to_say(story):
    """Without `resilience` nothing is tried again."""
    run = story.run(DOWNSCALE)
    story.tell(run, *STARTED, *failed(**LOST))
    [(_, action)] = story.advance().done
    assert (action.phase, "max_retries is 0" in action.why or "not in retry_on" in action.why) == ("failed", True)
