"""`taugen evidence verify` and `fsck`, as an auditor runs them: in a clone of a project, and on a repository of evidence alone."""

import json
import subprocess

import pytest

from taugen.evidence import record
from taugen.evidence.record import Extras
from taugen.evidence.sink import Sink
from taugen.evidence.store import Checkpoint
from tests.gitkit import git, make_bare
from tests.readers import kit
from tests.readers.kit import body, crashed, events

IMAGE = "registry.tern.example/base/taugen@sha256:" + "1" * 64


@pytest.fixture
def signed(lab, tmp_path):
    """(fleet, the run of speech on fjord, its sink with the key that policy lists)."""
    fleet, runs, _ = lab
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(key)], check=True)
    public = key.with_suffix(".pub").read_text().strip()
    text = (fleet.root / "policy/clusters.yaml").read_text()
    fleet.commit(
        {"policy/clusters.yaml": text.replace("  gitops:\n", f"  collector: {{image: {IMAGE}, keys: [{public}]}}\n  gitops:\n", 1)}
    )
    sink = Sink(tmp_path / "state", str(fleet.path), "evidence", "taugen collector fjord", sign=key)
    run = runs["speech"]
    collect(sink, fleet, run, 1)
    return fleet, run, sink


def collect(sink, fleet, run, number):
    attempt = run.attempt(number)
    happened = events(crashed(), uid=f"u-{number}")
    checkpoint = Checkpoint(10, "/data/c/10", None, 3, "done")
    made = record.build(attempt, {}, happened, Extras(checkpoints=[checkpoint], collector="0.1"))
    files = {event.path(attempt): event.content() for event in happened}
    files |= {run.intent: body(fleet, run).encode(), attempt.record: record.content(made)}
    sink.append(files, "an attempt", [("Tau-Collector", "fjord taugen 0.1")], happened[-1].time)


def test_a_sound_branch_is_proven_against_policy_and_sources(signed, taugen):
    fleet, _, _ = signed
    done = taugen("evidence", "verify", cwd=fleet.path)
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("1 commit signed by keys of policy: nothing was changed, and everything is whose it claims to be\n")


def test_findings_name_the_file_and_the_commit(signed, taugen):
    fleet, run, _ = signed
    record_path = run.attempt(1).record
    forged = kit.Evidence(fleet.path).commit("fjord", {record_path: b"{}\n"})
    done = taugen("evidence", "verify", cwd=fleet.path)
    assert done.code == 1
    assert f"{record_path}:1:1: error: it was changed in commit {forged} by taugen collector fjord [evidence-changed]" in done.out
    got = json.loads(taugen("evidence", "verify", "--format", "json", cwd=fleet.path).out)
    assert {one["rule"] for one in got["findings"]} == {"evidence-changed"}
    assert got["summary"]["errors"] == 1


def test_whoever_lacks_the_key_is_found(signed, taugen):
    fleet, run, _ = signed
    attempt = run.attempt(2)
    happened = events(crashed(), uid="u-2")
    kit.Evidence(fleet.path).commit("fjord", {event.path(attempt): event.content() for event in happened})
    rules = {one["rule"] for one in json.loads(taugen("evidence", "verify", "--format", "json", cwd=fleet.path).out)["findings"]}
    assert rules == {"evidence-signature", "evidence-trailer"}


def test_a_branch_that_is_rewritten_after_it_was_proven_is_noticed(signed, taugen):
    fleet, run, sink = signed
    collect(sink, fleet, run, 2)
    assert taugen("evidence", "verify", cwd=fleet.path).code == 0
    git(fleet.path, "update-ref", "refs/heads/evidence", "evidence~1")
    done = taugen("evidence", "verify", cwd=fleet.path)
    assert done.code == 1
    assert "known from before, is not in its history" in done.out
    git(fleet.path, "update-ref", "-d", "refs/heads/evidence")
    assert "the branch is gone" in taugen("evidence", "verify", cwd=fleet.path).out


def test_a_repository_of_evidence_alone_is_proven_from_anywhere(signed, taugen, tmp_path):
    fleet, _, _ = signed
    server = make_bare(tmp_path / "server.git")
    git(server, "config", "uploadpack.allowFilter", "true")
    git(fleet.path, "push", "-q", str(server), "evidence")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    tip = git(fleet.path, "rev-parse", "evidence")
    for _ in range(2):
        done = taugen("evidence", "verify", "--from", f"file://{server}", cwd=elsewhere)
        assert (done.code, done.err) == (0, "")
    assert f"at {tip[:12]}: 1 commit" in done.out
    assert taugen("evidence", "verify", "--from", f"file://{server}", "--since", tip, cwd=elsewhere).code == 0
    assert taugen("evidence", "verify", "--from", f"file://{server}", "--since", "1" * 40, cwd=elsewhere).code == 1
    assert taugen("evidence", "verify", "--from", f"file://{server}-not", cwd=elsewhere).code == 4


def test_what_is_gone_is_a_fact(signed, taugen, tmp_path):
    fleet, run, _ = signed
    name = f"fjord/speech/{run.attempt(1).object}"
    done = taugen("evidence", "fsck", cwd=fleet.path)
    assert done.code == 0
    assert done.out.splitlines()[0] == f"unreadable  checkpoint /data/c/10 of {name}: no storage of this machine holds it (--storage)"
    storage = tmp_path / "storage"
    storage.mkdir()
    assert "1 gone" in taugen("evidence", "fsck", "--storage", f"/data={storage}", cwd=fleet.path).out
    (storage / "c/10").mkdir(parents=True)
    (storage / "c/10/done").touch()
    got = json.loads(taugen("evidence", "fsck", "--format", "json", "--storage", f"/data={storage}", cwd=fleet.path).out)
    assert got["objects"] == [{"attempt": name, "what": "checkpoint", "uri": "/data/c/10", "fate": "there", "why": ""}]
    assert got["summary"] == {"there": 1, "gone": 0, "changed": 0, "unreadable": 0}


@pytest.mark.parametrize("mount", ["/data", "data=/x", "/data=", "/data=/nowhere"])
def test_storage_that_says_nothing_is_a_usage_error(signed, taugen, mount):
    done = taugen("evidence", "fsck", "--storage", mount, cwd=signed[0].path)
    assert done.code == 2
    assert f"--storage {mount}" in done.err
