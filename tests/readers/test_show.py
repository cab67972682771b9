"""`taugen show` and `taugen logs`."""

import json

import pytest

from taugen.cli import clock
from tests.readers.kit import ADMITTED, ENDED, SUCCEEDED, Evidence, body, crashed

PREEMPTED = [
    *ADMITTED,
    ("10:30:00", "preempted", {
        "reason": "InCohortReclamation", "message": "reclaimed",
        "by": {"uid": "w", "jobUid": "j", "workspace": "robots", "run": "gripper-0a1b2c3d"},
    }),
    ("10:30:01", "requeued", {"count": 1}),
    ("10:30:02", "inadmissible", {"reason": "WaitingForQuota", "message": "16 more nvidia.com/gpu are needed"}),
]  # fmt: skip


@pytest.fixture
def played(lab):
    """climate failed once and is preempted in its second attempt; it has checkpoints, logs and a record."""
    fleet, runs, evidence = lab
    run = runs["climate"]
    intent = body(fleet, run)
    first = run.attempt(1)
    mark = {"digest": None, "bytes": 10, "complete": True, "marker": "m"}
    marks = [{**mark, "step": n, "uri": f"/checkpoints/downscale/{n}"} for n in (100, 200)]
    more = {
        first.series("checkpoints", 200): "".join(json.dumps(mark) + "\n" for mark in marks).encode(),
        first.log("x-0", "main", 0): b"epoch 1\nepoch 2\n",
        first.log("x-0", "main", 1): b"epoch 3\nCUDA error\x1b[31m\n",
        first.record: json.dumps({
            "usage": {"gpuSeconds": 52320, "wastedGpuSeconds": 1200},
            "completeness": {"complete": False, "missing": [{"what": "end of pod x-1", "why": "it was not seen"}]},
        }).encode(),
    }  # fmt: skip
    evidence.attempt(run, 1, crashed(), intent=intent, more=more)
    evidence.attempt(run, 2, PREEMPTED, intent=intent)
    evidence.attempt(runs["protein"], 1, SUCCEEDED, intent=body(fleet, runs["protein"]))
    return fleet, run, evidence


def test_show_tells_the_whole_story(played, taugen):
    fleet, run, _ = played
    done = taugen("show", "climate/downscale", cwd=fleet.path)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert [line for line in lines if len(line) > 100 and len(line.split()) > 2] == [], "but for what is one word"
    assert lines[0] == "climate/downscale/7719c4dd  queued for 2 h, attempt 2 on mesa"
    text = " ".join(done.out.split())
    for part in (
        "why WaitingForQuota: 16 more nvidia.com/gpu are needed",
        "document workspaces/climate/downscale/tau.yaml at",
        f"object job lab-climate/{run.run}-2",
        "asked for 2 x 8 GPUs, class h200-141gb, profile h200-node, queue research, tier urgent",
        "attempt 1 failed since 2026-05-04T11:00:05Z (2 h ago), ran 54 min",
        "admission queue research, flavor h200, waited 4 min, borrowed 4 nvidia.com/gpu",
        "failed of Error, exit code 3: pod x-0 on gpu-7 was first",
        "checkpoint step 200 at /checkpoints/downscale/200, 10 bytes",
        "usage GPU seconds 52320, of them lost 1200",
        "not seen end of pod x-1: it was not seen",
        "logs x-0+main",
        "interrupted 2026-05-04T10:30:00Z preempted: InCohortReclamation, for robots/gripper-0a1b2c3d",
        "taugen logs climate/downscale/7719c4dd prints the logs",
    ):
        assert part in text, part


def test_what_advance_does_next_is_told(lab, taugen):
    fleet, runs, evidence = lab
    evidence.attempt(runs["climate"], 1, crashed(), intent=body(fleet, runs["climate"]), more={runs["climate"].attempt(1).record: b"{}\n"})
    out = " ".join(taugen("show", "climate/downscale", cwd=fleet.path).out.split())
    assert "next the run ends: failed: x-0 ended with exit code 3; Error is not in retry_on" in out


def test_show_as_json_has_every_event(played, taugen):
    fleet, run, _ = played
    found = json.loads(taugen("show", run.run, "-o", "json", cwd=fleet.path).out)
    assert (found["state"], found["attempt"], found["namespace"]) == ("queued", 2, "lab-climate")
    first, second = found["tries"]
    assert (first["failure"]["exitCode"], first["failure"]["node"], first["usage"]["gpuSeconds"]) == (3, "gpu-7", 52320)
    assert [event["type"] for event in second["timeline"]][-3:] == ["preempted", "requeued", "inadmissible"]
    assert [mark["step"] for mark in first["checkpoints"]] == [100, 200]
    assert first["logs"] == [run.attempt(1).log("x-0", "main", n) for n in (0, 1)]


@pytest.mark.parametrize(
    "name", ["climate/downscale", "climate/downscale/7719c4dd", "downscale-7719c4dd", "downscale-7719c4dd-1",
             "workspaces/climate/downscale/tau.yaml", "workspaces/climate/downscale"]
)  # fmt: skip
def test_a_run_is_named_in_every_way(played, taugen, name):
    fleet, _, _ = played
    assert taugen("show", name, cwd=fleet.path).out.startswith("climate/downscale/7719c4dd  queued")


def test_an_unknown_run_is_answered_with_what_was_meant(played, taugen):
    fleet, _, _ = played
    for name, hint in (("climate/downscael", "did you mean climate/downscale?"), ("downscale", "did you mean climate/downscale?")):
        done = taugen("show", name, cwd=fleet.path)
        assert (done.code, hint in done.err) == (2, True), done.err


def test_a_run_that_was_not_seen_yet_is_shown(played, taugen):
    fleet, _, _ = played
    out = taugen("show", "speech/whisper-finetune", cwd=fleet.path).out
    assert "published, attempt 1 on fjord" in out
    assert "nothing was seen of it in the cluster yet" in out


def test_the_newest_of_a_name_is_shown_and_the_others_named(played, taugen):
    fleet, run, evidence = played
    older = type(run)("mesa", "climate", "downscale-00000000")
    evidence.attempt(older, 1, SUCCEEDED, intent="", day="2026-05-03")
    out = taugen("show", "climate/downscale", cwd=fleet.path).out
    assert out.startswith("climate/downscale/7719c4dd")
    assert "climate/downscale-00000000" in out.partition("OTHER RUNS")[2]


def test_logs_are_printed_whole_or_their_tail(played, taugen):
    fleet, _, _ = played
    done = taugen("logs", "climate/downscale", "--attempt", "1", cwd=fleet.path)
    assert done.out.splitlines() == ["epoch 1", "epoch 2", "epoch 3", "CUDA error\\x1b[31m"]
    assert taugen("logs", "downscale-7719c4dd-1", "--tail", "2", cwd=fleet.path).out.splitlines()[0] == "epoch 3"
    none = taugen("logs", "climate/downscale", cwd=fleet.path)
    assert (none.out, "no log of climate/downscale-7719c4dd is committed yet" in none.err) == ("", True)
    wrong = taugen("logs", "climate/downscale", "--attempt", "7", cwd=fleet.path)
    assert (wrong.code, "attempts: 1, 2" in wrong.err) == (2, True)
    pod = taugen("logs", "downscale-7719c4dd-1", "--pod", "y", cwd=fleet.path)
    assert (pod.code, "x-0 main" in pod.err) == (2, True)


def test_tabs_and_progress_bars_are_readable(played, taugen):
    fleet, run, evidence = played
    evidence.commit("mesa", {run.attempt(2).log("x-0", "main", 0): "a\tb\r\n10%\r20%\r\n\u2028é\n\nend\n".encode()})
    shown = taugen("logs", "climate/downscale", cwd=fleet.path).out.splitlines()
    assert shown == ["a       b", "10%", "20%", "\\u2028é", "", "end"]


def test_what_somebody_wrote_by_hand_breaks_nothing(played, taugen):
    fleet, run, evidence = played
    attempt = run.attempt(2)
    bad = b'{"apiVersion": "taugen.dev/evidence.v1", "type": "evicted", "time": "soon", "uid": "u", "data": {"by": [], "reason": 7}}'
    evidence.commit("mesa", {
        f"{attempt.folder}/events/20269999T999999Z-failed-0123456789abcdef.json": b"{}",
        f"{attempt.folder}/events/20260504T110000Z-evicted-0123456789abcdef.json": bad,
        attempt.record: b'{"usage": [], "completeness": {"missing": [1]}, "admission": 3}',
        attempt.series("checkpoints", 1): b"junk\n[]\n{}\n",
    })  # fmt: skip
    for form in ("text", "json", "yaml"):
        done = taugen("show", "climate/downscale", "-o", form, cwd=fleet.path)
        assert done.code == 0, done.err
    for form in ("table", "json", "yaml"):
        assert taugen("runs", "-o", form, cwd=fleet.path).code == 0
    assert taugen("evidence", "export", "--all", "--as", "mlflow", "-o", str(fleet.path / "out"), cwd=fleet.path).code == 0


def test_lines_of_several_containers_name_theirs(played, taugen):
    fleet, run, evidence = played
    evidence.commit("mesa", {run.attempt(2).log(f"x-{n}", "main", 0): f"rank {n}\n".encode() for n in (0, 1)})
    assert taugen("logs", "climate/downscale", cwd=fleet.path).out.splitlines() == ["x-0 main  rank 0", "x-1 main  rank 1"]
    assert taugen("logs", "climate/downscale", "--pod", "x-1", cwd=fleet.path).out.splitlines() == ["rank 1"]


def test_following_ends_with_the_attempt(lab, taugen, monkeypatch):
    fleet, runs, _ = lab
    run = runs["climate"]
    attempt = run.attempt(1)
    evidence = Evidence(fleet.path)
    evidence.attempt(run, 1, ADMITTED, intent=body(fleet, run), more={attempt.log("x-0", "main", 0): b"epoch 1\n"})
    steps = iter([
        {attempt.log("x-0", "main", 1): b"epoch 2\n"},
        {},
        {attempt.log("x-0", "main", 2): b"epoch 3\n", attempt.record: b"{}\n"},
    ])  # fmt: skip

    def waited(seconds):
        assert seconds > 0
        files = next(steps)
        if attempt.record in files:
            evidence.attempt(run, 1, [*ADMITTED, ENDED, SUCCEEDED[-1]], intent=body(fleet, run), more=files)
        elif files:
            evidence.commit("mesa", files)

    monkeypatch.setattr(clock, "wait", waited)
    done = taugen("logs", "-f", "climate/downscale", cwd=fleet.path)
    assert done.out.splitlines() == ["epoch 1", "epoch 2", "epoch 3"]
    assert next(steps, None) is None
