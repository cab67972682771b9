"""What was read of contents once is kept: the answers stay the same, whatever was kept and however many processes read."""

import json

import pytest

from taugen.evidence.event import Event, EventType
from taugen.evidence.paths import RunKey
from taugen.load import share
from taugen.pipeline import details
from tests.readers.kit import ADMITTED, SUCCEEDED, body, crashed

QUEUED = [*ADMITTED[:2], ("12:59:00", "inadmissible", {"reason": "WaitingForQuota", "message": "8 more are needed"})]


@pytest.fixture(params=[1, 3], ids=["one process", "several"])
def listed(taugen, monkeypatch, request):
    """Lists all runs three ways: from files alone, with what was kept until now, with what this kept."""
    monkeypatch.setattr(share, "processors", lambda: request.param)
    monkeypatch.setattr(details, "_RUNS", 1)
    monkeypatch.setattr(details, "_FOLDERS", 1)
    monkeypatch.setattr(details, "_WORTH", 1)

    def told(cwd, *args):
        monkeypatch.setattr(details, "_MANY", 1000)
        plain = taugen("runs", "-o", "json", *args, cwd=cwd)
        assert plain.code == 0, plain.err
        monkeypatch.setattr(details, "_MANY", 1)
        for _ in range(2):
            assert taugen("runs", "-o", "json", *args, cwd=cwd).out == plain.out
        return {row["workspace"]: row for row in json.loads(plain.out)["runs"]}

    return told


def test_what_was_kept_changes_no_answer(lab, listed):
    fleet, runs, evidence = lab
    assert listed(fleet.path)["climate"]["state"] == "published"
    evidence.attempt(runs["climate"], 1, crashed(), intent=body(fleet, runs["climate"]))
    evidence.attempt(runs["protein"], 1, QUEUED, intent=body(fleet, runs["protein"]))
    found = listed(fleet.path)
    assert [found[name]["reason"] for name in ("climate", "protein", "speech")] == ["BackoffLimitExceeded", "WaitingForQuota", ""]
    assert listed(fleet.path, "--state", "failed").keys() == {"climate"}
    later = [*QUEUED, ("13:01:00", "inadmissible", {"reason": "WaitingForQuota", "message": "4 more are needed"})]
    evidence.attempt(runs["protein"], 1, later, intent=body(fleet, runs["protein"]))
    evidence.attempt(runs["climate"], 2, SUCCEEDED, intent=body(fleet, runs["climate"]))
    found = listed(fleet.path)
    assert (found["protein"]["message"], found["climate"]["reason"]) == ("4 more are needed", "")
    fleet.edit("workspaces/protein/fold/tau.yaml", ("name:", "cancelled: true\nname:"))
    fleet.publish()
    found = listed(fleet.path)["protein"]
    assert (found["state"], found["last"]) == ("cancelled", "queued")


def test_runs_that_only_evidence_knows(lab, listed):
    fleet, runs, evidence = lab
    run = runs["climate"]._replace(workspace="physics")
    evidence.attempt(run, 1, SUCCEEDED, intent=body(fleet, runs["climate"]).replace("run: climate/", "run: physics/"))
    unread = RunKey("mesa", "biology", "fold-0123abcd")
    evidence.attempt(unread, 1, ADMITTED, intent="no state at all\n")
    found = listed(fleet.path)
    assert (found["physics"]["source"], found["physics"]["gpus"]) == ("workspaces/climate/downscale/tau.yaml", 16)
    assert (found["biology"]["name"], found["biology"]["source"], found["biology"]["gpus"]) == ("fold", None, None)


def test_a_run_that_was_cancelled_before_anything_was_seen_of_it(lab, listed):
    fleet, runs, evidence = lab
    evidence.attempt(runs["climate"], 1, SUCCEEDED, intent=body(fleet, runs["climate"]))
    fleet.edit("workspaces/speech/finetune/tau.yaml", ("name:", "cancelled: true\nname:"))
    fleet.publish()
    assert listed(fleet.path)["speech"]["state"] == "cancelled"
    assert listed(fleet.path, "--state", "cancelled").keys() == {"speech"}
    assert listed(fleet.path, "--state", "published").keys() == {"protein"}


def test_what_nobody_should_have_written(lab, listed):
    fleet, runs, evidence = lab
    attempt = evidence.attempt(runs["climate"], 1, QUEUED[:2], intent=body(fleet, runs["climate"]))
    half = Event(EventType.INADMISSIBLE, "2026-05-04T12:59:00Z", "u-1", {"reason": "HALF"}, "1")
    evidence.commit("mesa", {half.path(attempt): half.content().replace(b"HALF", b"\\ud800")})
    found = listed(fleet.path)["climate"]
    assert (found["state"], found["reason"]) == ("queued", "\ud800")


def test_a_listing_of_some_lets_nothing_leave(lab, taugen, monkeypatch):
    fleet, runs, evidence = lab
    monkeypatch.setattr(details, "_MANY", 1)
    monkeypatch.setattr("taugen.evidence.cache._MOST", 0)
    monkeypatch.setattr("taugen.evidence.cache._SPARE", 2)
    for name in ("climate", "protein", "speech"):
        evidence.attempt(runs[name], 1, QUEUED, intent=body(fleet, runs[name]))
    assert taugen("runs", "-o", "json", cwd=fleet.path).code == 0
    evidence.attempt(runs["climate"], 2, crashed(), intent=body(fleet, runs["climate"]))
    assert taugen("runs", "-w", "climate", "-o", "json", cwd=fleet.path).code == 0
    read = []
    whole = details._whys_of
    monkeypatch.setattr(details, "_whys_of", lambda branch, attempts: read.append(len(attempts)) or whole(branch, attempts))
    assert taugen("runs", "-o", "json", cwd=fleet.path).code == 0
    assert read == []
