"""`taugen runs`: what is published, live and waiting, joined with evidence."""

import json
from datetime import timedelta

import yaml

from taugen.cli import clock
from tests.gitkit import git
from tests.publish.kit import job
from tests.readers import kit
from tests.readers.conftest import NOW
from tests.readers.kit import ADMITTED, SUCCEEDED, Evidence, body, crashed


def states(taugen, cwd, *args):
    done = taugen("runs", "-o", "json", *args, cwd=cwd)
    assert done.code == 0, done.err
    return {row["workspace"]: row for row in json.loads(done.out)["runs"]}


def play(lab):
    """climate succeeded, protein waits for quota, speech is not seen yet."""
    fleet, runs, evidence = lab
    evidence.attempt(runs["climate"], 1, crashed(), intent=body(fleet, runs["climate"]))
    evidence.attempt(runs["climate"], 2, SUCCEEDED, intent=body(fleet, runs["climate"]))
    queue = [*ADMITTED[:2], ("12:59:00", "inadmissible", {"reason": "WaitingForQuota", "message": "8 more nvidia.com/gpu are needed"})]
    evidence.attempt(runs["protein"], 1, queue, intent=body(fleet, runs["protein"]))
    return fleet


def test_deploy_branch_and_evidence_are_joined(lab, taugen):
    fleet = play(lab)
    found = states(taugen, fleet.path)
    climate, protein, speech = found["climate"], found["protein"], found["speech"]
    assert (climate["state"], climate["attempt"], climate["attempts"], climate["live"]) == ("succeeded", 2, 2, True)
    assert [climate[key] for key in ("since", "ended", "started")] == [f"{kit.DAY}T{t}Z" for t in ("13:00:05", "13:00:05", "10:05:30")]
    assert (climate["gpus"], climate["queue"], climate["kind"], climate["tier"]) == (16, "research", "job", "urgent")
    assert (protein["state"], protein["reason"], protein["source"]) == ("queued", "WaitingForQuota", "workspaces/protein/fold/tau.yaml")
    assert (speech["state"], speech["cluster"], speech["since"], speech["attempt"]) == ("published", "fjord", None, 1)
    assert speech["object"] == f"{lab[1]['speech'].run}-1"


def test_the_table_fits_and_says_why(lab, taugen):
    fleet = play(lab)
    done = taugen("runs", cwd=fleet.path)
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0].split() == ["RUN", "STATE", "FOR", "ATTEMPT", "GPUS", "QUEUE", "CLUSTER"]
    assert lines[1].split() == ["climate/downscale/7719c4dd", "succeeded", "4", "min", "2", "16", "research", "mesa"]
    assert "    WaitingForQuota: 8 more nvidia.com/gpu are needed" in lines
    assert "\x1b" not in done.out
    assert "\x1b[32msucceeded\x1b[0m" in taugen("runs", "--color", cwd=fleet.path).out


def test_filters(lab, taugen):
    fleet = play(lab)
    for args, workspaces in (
        (["--workspace", "speech", "--workspace", "climate"], {"speech", "climate"}),
        (["--cluster", "mesa"], {"climate", "protein"}),
        (["--state", "succeeded"], {"climate"}),
        (["--state", "queued", "--state", "published"], {"protein", "speech"}),
        (["--name", "fold*"], {"protein"}),
        (["--since", "2h"], {"climate", "speech"}),
        (["--age", "2026-05-04"], {"climate", "protein", "speech"}),
        (["--since", "2026-05-05", "--state", "queued"], set()),
    ):
        assert set(states(taugen, fleet.path, *args)) == workspaces, args
    limited = taugen("runs", "--limit", "1", cwd=fleet.path).out
    assert "1 of 3 runs, newest first" in limited
    wrong = taugen("runs", "--state", "runing", cwd=fleet.path)
    assert (wrong.code, "did you mean running?" in wrong.err) == (2, True)
    assert taugen("runs", "--since", "yesterday", cwd=fleet.path).code == 2


def test_yaml_says_what_json_says(lab, taugen):
    fleet = play(lab)
    assert yaml.safe_load(taugen("runs", "-o", "yaml", cwd=fleet.path).out) == json.loads(taugen("runs", "-o", "json", cwd=fleet.path).out)


def test_stale_is_a_collector_that_is_silent_not_a_run_that_is(lab, taugen, monkeypatch):
    fleet, runs, evidence = lab
    evidence.attempt(runs["climate"], 1, ADMITTED, intent=body(fleet, runs["climate"]))
    evidence.attempt(runs["speech"], 1, SUCCEEDED, intent=body(fleet, runs["speech"]))
    found = states(taugen, fleet.path)
    assert (found["climate"]["state"], found["climate"]["last"]) == ("stale", "running")
    assert found["speech"]["state"] == "succeeded", "what has ended stays as it ended"
    assert "was running; the collector of mesa was last heard of 2 h ago" in taugen("runs", cwd=fleet.path).out
    evidence.attempt(runs["protein"], 1, SUCCEEDED, intent=body(fleet, runs["protein"]))
    assert states(taugen, fleet.path)["climate"]["state"] == "running", "its own cluster's collector was heard of"
    monkeypatch.setattr(clock, "now", lambda: NOW + timedelta(minutes=12))
    assert states(taugen, fleet.path)["climate"]["state"] == "stale"


def test_a_run_whose_manifests_left_unseen_ends_as_its_state_says(lab, taugen):
    fleet, runs, evidence = lab
    evidence.attempt(runs["climate"], 1, ADMITTED, intent=body(fleet, runs["climate"]))
    fleet.edit("workspaces/climate/downscale/tau.yaml", ("name:", "cancelled: true\nname:"))
    fleet.publish()
    found = states(taugen, fleet.path)["climate"]
    assert (found["state"], found["last"], found["live"]) == ("cancelled", "running", False)
    assert set(states(taugen, fleet.path, "--state", "cancelled")) == {"climate"}


def test_evidence_of_another_cluster_does_not_count(lab, taugen):
    fleet, runs, evidence = lab
    evidence.attempt(runs["climate"], 1, ADMITTED, intent=body(fleet, runs["climate"]), day="2026-05-04")
    forged = kit.RunKey("fjord", "climate", runs["climate"].run)
    evidence.attempt(forged, 1, SUCCEEDED, intent=body(fleet, runs["climate"]))
    evidence.commit("mesa", {"mesa/x": b"x"})
    found = states(taugen, fleet.path)["climate"]
    assert (found["state"], found["cluster"]) == ("running", "mesa")
    alone = kit.RunKey("fjord", "protein", runs["protein"].run)
    evidence.attempt(alone, 1, SUCCEEDED, intent=body(fleet, runs["protein"]))
    found = states(taugen, fleet.path)["protein"]
    assert (found["state"], found["cluster"], found["live"], found["attempts"]) == ("published", "mesa", True, 0)


def test_a_clone_asks_its_remote_and_goes_on_without_it(lab, taugen, tmp_path):
    fleet = play(lab)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(fleet.path), str(clone))
    assert states(taugen, clone)["protein"]["state"] == "queued"
    Evidence(fleet.path).attempt(lab[1]["protein"], 1, SUCCEEDED, intent="")
    assert states(taugen, clone, "--no-fetch")["protein"]["state"] == "queued"
    before = git(clone, "for-each-ref", "refs/heads", "refs/remotes")
    assert states(taugen, clone)["protein"]["state"] == "succeeded"
    assert git(clone, "for-each-ref", "refs/heads", "refs/remotes") == before, "no branch of the clone moves"
    fleet.path.rename(tmp_path / "away")
    done = taugen("runs", cwd=clone)
    assert done.code == 0
    assert "as it was fetched last, since origin can't be reached" in done.err


def test_a_url_needs_no_clone_and_few_contents(lab, taugen, tmp_path, home):
    fleet = play(lab)
    git(fleet.path, "config", "uploadpack.allowFilter", "true")
    git(fleet.path, "config", "uploadpack.allowAnySHA1InWant", "true")
    here = states(taugen, fleet.path)
    assert states(taugen, tmp_path, "--from", fleet.path.as_uri()) == here
    (kept,) = (home / ".cache" / "taugen" / "evidence").iterdir()
    held = git(kept, "cat-file", "--batch-check", "--batch-all-objects").count(" blob ")
    every = git(fleet.path, "cat-file", "--batch-check", "--batch-all-objects").count(" blob ")
    assert held < every / 4
    Evidence(fleet.path).attempt(lab[1]["protein"], 1, SUCCEEDED, intent="")
    assert states(taugen, tmp_path, "--from", str(fleet.path))["protein"]["state"] == "succeeded"
    missing = taugen("runs", "--from", (tmp_path / "none").as_uri(), cwd=tmp_path)
    assert (missing.code, "can't be fetched" in missing.err) == (4, True)


def test_evidence_in_a_repository_of_its_own(lab, taugen, tmp_path):
    fleet, runs, _ = lab
    own = tmp_path / "evidence.git"
    git(tmp_path, "init", "-q", "--bare", str(own))
    fleet.edit("taugen.yaml", ("    branch: evidence\n", f"    branch: main\n    url: {own.as_uri()}\n"))
    fleet.publish()
    Evidence(own, "main").attempt(runs["climate"], 1, SUCCEEDED, intent=body(fleet, runs["climate"]))
    assert states(taugen, fleet.path)["climate"]["state"] == "succeeded"
    assert states(taugen, tmp_path, "--from", str(fleet.path))["climate"]["state"] == "succeeded"


def test_what_waits_is_named(lab, taugen):
    fleet = play(lab)
    fleet.commit({"workspaces/protein/new/tau.yaml": "name: broken\nrun: {}\n", "workspaces/protein/other/tau.yaml": job("other")})
    fleet.publish()
    done = taugen("runs", cwd=fleet.path)
    assert "waiting or held back (publish says why): workspaces/protein/new/tau.yaml" in done.out


def test_a_project_that_is_no_yaml_is_refused_with_its_place(lab, taugen):
    fleet, _, _ = lab
    (fleet.path / "taugen.yaml").write_text("a: [")
    done = taugen("runs", cwd=fleet.path)
    assert done.code == 1
    assert "taugen.yaml:1" in done.err


def test_without_branches_there_are_no_runs(tmp_path, taugen):
    from tests.publish.kit import Fleet

    fleet = Fleet.make(tmp_path / "new")
    done = taugen("runs", cwd=fleet.path)
    assert (done.code, done.out) == (0, "no runs\n")
    assert "nothing was collected yet: there is no branch evidence" in done.err
