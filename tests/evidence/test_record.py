"""The record: a fold of everything that is known of an attempt."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taugen.evidence import record, sums
from taugen.evidence.event import Event, EventType
from taugen.evidence.history import fold, order
from taugen.evidence.record import Extras
from taugen.evidence.store import Checkpoint
from tests import evidencekit

ATTEMPT = evidencekit.RUN.attempt(2)
T = "2026-05-04T10:{:02}:00Z".format
EPOCH = 1777888800
"""T(0)"""


def at(minute, kind, uid="w", apart="", **data):
    return Event(EventType(kind), T(minute), uid, data, apart)


def admitted(minute, count="8"):
    sets = [
        {"name": "main", "count": 1, "flavors": {"nvidia.com/gpu": "h100", "cpu": "h100"}, "usage": {"nvidia.com/gpu": count, "cpu": "9"}}
    ]
    return at(minute, "admitted", clusterQueue="shared", podSets=sets, checks=[], borrowed=None)


OBJECT = {"uid": "6b1e", "kind": "Job", "name": ATTEMPT.object, "namespace": "tau-speech", "generation": 1}
STARTED = {
    "envNames": ["HF_TOKEN", "TAU_RUN"], "envDigest": "b" * 64, "secrets": ["hub"], "command": ["sh", "x"], "resumeFrom": "/data/c/5",
}  # fmt: skip
BEFORE = [
    at(0, "submitted", "6b1e", object=OBJECT, image="example.org/train:1", runtime=STARTED),
    at(1, "queued", workload="job-x", queue="speech", tier="prod", priority=100),
    at(1, "inadmissible", apart="WaitingForQuota", reason="WaitingForQuota", message="8 more needed"),
    at(2, "reserved", clusterQueue="shared"),
    admitted(2),
    at(3, "pod-started", "p1", pod="x-0", node="gpu-1", index=0, role="main", images={"main": "example.org/train@sha256:00"}),
    at(3, "ready"),
]
TAKEN = [
    at(12, "preempted", reason="InCohortReclamation", message="m", by={"workspace": "robots", "run": "robots/walk/00c0ffee"}),
    at(12, "pod-ended", "p1", pod="x-0", node="gpu-1", index=0, role="main", phase="Failed", exitCodes={"main": 143}, oom=False),
    admitted(20, "4"),
    at(21, "pod-started", "p2", pod="x-0", node="gpu-2", index=0, role="main", images={"main": "example.org/train@sha256:00"}),
]
FAILED = [
    at(
        30,
        "pod-ended",
        "p2",
        pod="x-0",
        node="gpu-2",
        index=0,
        role="main",
        phase="Failed",
        exitCodes={"main": 7},
        oom=False,
        message="boom",
    ),
    at(30, "failed", "6b1e", reason="BackoffLimitExceeded", message="Job has reached the specified backoff limit"),
]
DONE = [
    at(30, "pod-ended", "p2", pod="x-0", node="gpu-2", index=0, role="main", phase="Succeeded", exitCodes={"main": 0}, oom=False),
    at(30, "succeeded", "6b1e"),
]
INTENT = {
    "run": "speech/quickstart/a87f5b3c",
    "intent": {
        "source": "workspaces/speech/tau.yaml",
        "commit": "c" * 40,
        "digest": "d" * 64,
        "code": "e" * 64,
        "policy": "f" * 64,
        "compiler": "0.1",
    },
    "request": {"kind": "job", "nodes": 1, "gpus": 8, "image": "example.org/train:1"},
    "mounts": {"/data": "speech-data"},
    "output": "/data/out",
    "experiment": {"project": "asr", "group": "sweep-1", "tags": ["a"], "seed": 7},
}
EXTRAS = Extras(
    checkpoints=(Checkpoint(20, "/data/c/20", None, 9, "done"), Checkpoint(10, "/data/c/10", None, 9, "done")),
    metrics={
        "rows": [
            {"_step": 10, "_timestamp": EPOCH + 300, "loss": 3.0, "lr": 0.1},
            {"_step": 20, "_timestamp": EPOCH + 600.5, "loss": 1.0, "note": "x", "bad": float("nan"), "huge": 2**60, "ok": True},
            {"_step": 30, "_timestamp": EPOCH + 660, "loss": 2},
            {"_step": "no"},
            "no",
        ],
        "samples": [
            {"query": "util", "value": 0.5, "labels": {"pod": "x-0"}, "time": T(30)},
            {"query": "power", "value": float("inf"), "labels": {}},
        ],
    },
    logs=(
        {"path": "b.txt", "sha256": "1" * 64, "bytes": 3, "redactions": 1},
        {"path": "a.txt", "sha256": "2" * 64, "bytes": 3, "redactions": 0},
    ),
    platform={"kubernetes": "v1.36.3", "declared": {"kueue": "0.19"}},
    prices={"h100": 3.6},
    collector="0.1",
)


def built(events, extras=EXTRAS, intent=INTENT):
    return record.build(ATTEMPT, intent, events, extras)


def test_every_section_of_a_run_that_failed_after_an_interruption():
    made = built([*BEFORE, *TAKEN, *FAILED])
    assert made["id"] == {
        "run": "speech/quickstart/a87f5b3c",
        "cluster": "fjord",
        "workspace": "speech",
        "object": "quickstart-a87f5b3c-2",
        "attempt": 2,
        "parent": 1,
        "durable": "fjord/tau-speech/6b1e",
        "events": 13,
        "lastEvent": made["id"]["lastEvent"],
    }
    assert made["intent"]["path"] == "workspaces/speech/tau.yaml"
    assert made["runtime"]["imageDigests"] == {"main": ["example.org/train@sha256:00"]}
    assert made["runtime"]["env"] == {"names": ["HF_TOKEN", "TAU_RUN"], "digest": "b" * 64}
    assert (made["runtime"]["secrets"], made["runtime"]["seed"], made["runtime"]["command"]) == (["hub"], 7, ["sh", "x"])
    assert made["execution"]["resumedFrom"] == "/data/c/5"
    assert {"runtime.command", "runtime.env", "runtime.secrets"} <= set(made["verified"])
    assert "runtime.seed" not in made["verified"], "somebody typed it"
    assert (made["request"]["output"], made["request"]["mounts"]) == ("/data/out", {"/data": "speech-data"})
    assert [made["admission"][name] for name in ("queue", "clusterQueue", "tier", "queued", "reserved", "admitted", "ready")] == [
        "speech",
        "shared",
        "prod",
        T(1),
        T(2),
        T(2),
        T(3),
    ]
    assert made["admission"]["waits"] == [{"time": T(1), "reason": "WaitingForQuota"}]
    assert [(one["kind"], one["by"]["workspace"]) for one in made["interruptions"]] == [("preempted", "robots")]
    assert [(pod["pod"], pod["node"], pod["started"], pod["ended"]) for pod in made["execution"]["pods"]] == [
        ("x-0", "gpu-1", T(3), T(12)),
        ("x-0", "gpu-2", T(21), T(30)),
    ]
    assert made["execution"]["firstError"] == {
        "cause": "Error",
        "time": T(30),
        "pod": "x-0",
        "node": "gpu-2",
        "exitCode": 7,
        "message": "boom",
    }
    assert (made["execution"]["nodes"], made["execution"]["exitCodes"]) == (["gpu-1", "gpu-2"], [7, 143])
    assert made["metrics"]["final"] == {"loss": 2, "lr": 0.1}
    assert made["metrics"]["best"]["loss"] == {"min": {"step": 20, "value": 1.0}, "max": {"step": 10, "value": 3.0}}
    assert (made["metrics"]["first"], made["metrics"]["latest"], made["metrics"]["rows"]) == (T(5), T(11), 3)
    assert [sample["value"] for sample in sorted(made["metrics"]["samples"], key=lambda s: s["query"])] == [None, 0.5]
    assert [one["step"] for one in made["checkpoints"]] == [10, 20]
    assert [one["path"] for one in made["logs"]] == ["a.txt", "b.txt"]
    assert made["completeness"] == {"complete": True, "missing": []}
    seen = ["admission", "checkpoints", "execution", "interruptions", "logs", "metrics.samples", "platform.kubernetes", "usage"]
    assert made["verified"] == sorted([*seen, *(f"runtime.{part}" for part in ("command", "env", "imageDigests", "secrets"))])


def test_gpu_time_is_what_quota_was_held_and_waste_what_no_checkpoint_kept():
    usage = built([*BEFORE, *TAKEN, *FAILED])["usage"]
    # 8 GPUs for 10 minutes, then 4 for 10; the checkpoint of step 20 was made 599.5 seconds before minute 20, within the first.
    assert (usage["gpuSeconds"], usage["admittedSeconds"]) == (8 * 600 + 4 * 600, 1200)
    assert usage["wastedGpuSeconds"] == 8 * (720 - 600.5) + 4 * 600
    assert usage["cost"]["amount"] == pytest.approx(7200 / 3600 * 3.6)
    assert len(usage["cost"]["priceTable"]) == 71
    done = built([*BEFORE, *TAKEN, *DONE])["usage"]
    assert (done["wastedGpuSeconds"], done["wastedGpuSecondsAtMost"]) == (8 * (720 - 600.5), 4800)
    assert built([*BEFORE, *DONE])["usage"]["wastedGpuSeconds"] == 0


def test_without_checkpoints_all_is_lost_and_with_unknown_times_it_is_not_said():
    events = [*BEFORE, *TAKEN, *FAILED]
    assert built(events, Extras())["usage"]["wastedGpuSeconds"] == 7200
    made = built(events, Extras(checkpoints=EXTRAS.checkpoints))
    assert (made["usage"]["wastedGpuSeconds"], made["usage"]["wastedGpuSecondsAtMost"]) == (None, 7200)
    assert "usage.wastedGpuSeconds" in [one["what"] for one in made["completeness"]["missing"]]


def test_what_has_no_price_has_no_cost():
    made = built([*BEFORE, *DONE], Extras(prices={"a100": 1.0}))
    assert made["usage"]["cost"] is None
    assert {"what": "usage.cost", "why": "no price of a GPU hour is known for flavor h100"} in made["completeness"]["missing"]


@pytest.mark.parametrize(
    ("events", "what"),
    [
        ([], "end"),
        (BEFORE, "end"),
        (BEFORE, "end of pod x-0"),
        ([*BEFORE[1:], *DONE], "creation of the object"),
        ([*BEFORE[:5], *DONE], "start of pod x-0"),
        ([*BEFORE, *DONE], "logs"),
    ],
)
def test_what_was_not_seen_is_named(events, what):
    made = built(events, Extras())
    assert what in [one["what"] for one in made["completeness"]["missing"]]
    assert made["completeness"]["complete"] is False


@pytest.mark.parametrize(
    ("events", "cohorts", "borrowed", "why"),
    [
        ([*BEFORE, *DONE], {"shared": ""}, False, ""),
        ([*BEFORE, *DONE], {"shared": "lab"}, None, "Kueue does not say"),
        ([*BEFORE, *DONE], {"another": ""}, None, "could not be read"),
        ([*BEFORE, *DONE], None, None, "could not be read"),
        ([*BEFORE, *TAKEN, *DONE], {"shared": "lab"}, True, ""),
        ([*BEFORE, *TAKEN, *DONE], None, True, ""),
        ([BEFORE[0], DONE[-1]], None, None, ""),
    ],
)
def test_whether_quota_was_borrowed_is_said_where_it_can_be_known(events, cohorts, borrowed, why):
    made = built(events, Extras(cohorts=cohorts))
    assert made["admission"]["borrowed"] is borrowed
    assert [why in one["why"] for one in made["completeness"]["missing"] if one["what"] == "borrowed quota"] == [True] * bool(why)


def test_what_the_collector_could_not_capture_is_named():
    lost = ("log of x-0/main", "429")
    made = built([*BEFORE, *DONE], Extras(logs=EXTRAS.logs, prices={"h100": 1.0}, missing=[lost, lost], cohorts={"shared": ""}))
    assert [one["what"] for one in made["completeness"]["missing"]] == ["end of pod x-0", "log of x-0/main", "start of pod x-0"]


ALL = [*BEFORE, *TAKEN, *FAILED]


@given(st.randoms(use_true_random=False), st.lists(st.sampled_from(ALL)))
def test_order_and_repetition_do_not_matter(chance: random.Random, again):
    events = [*ALL, *again]
    chance.shuffle(events)
    checkpoints, logs = list(EXTRAS.checkpoints) * 2, list(EXTRAS.logs)
    rows = list(EXTRAS.metrics["rows"])
    for listed in (checkpoints, logs, rows):
        chance.shuffle(listed)
    extras = Extras(checkpoints, {**EXTRAS.metrics, "rows": rows}, logs, EXTRAS.platform, EXTRAS.prices, "0.1")
    assert record.content(built(events, extras)) == record.content(built(ALL))


@given(st.lists(st.sampled_from([*ALL, *DONE, at(5, "deleted"), at(6, "deactivated", reason="RequeuingLimitExceeded")]), unique_by=id))
def test_any_part_of_the_events_makes_a_record(events):
    made = built(events)
    assert json.loads(record.content(made)) == json.loads(json.dumps(made))
    assert made["execution"]["state"] == (str(fold(events).state) if fold(events) else None)
    spans = sums.spans(order(events), fold(events))
    assert all(span.amount >= 0 for span in spans)
    lost = made["usage"]["wastedGpuSeconds"]
    assert lost is None or 0 <= lost <= made["usage"]["wastedGpuSecondsAtMost"]


def test_an_empty_intent_makes_a_record_too():
    made = built(ALL, Extras(), {})
    assert made["id"]["run"] == "speech/quickstart-a87f5b3c"
    assert made["request"] == {}


COLUMNS = {
    "observed_at": "id.lastEvent.time",
    "observation_id": "id.lastEvent.key",
    "run_id": "id.run",
    "durable_id": "id.durable",
    "workspace_id": "id.workspace",
    "result_scope": "request.output",
    "project": "intent.experiment.project",
    "run_group_id": "intent.experiment.group",
    "tags": "intent.experiment.tags",
    "owning_resource_kind": "execution.object.kind",
    "owning_resource_name": "execution.object.name",
    "namespace": "execution.object.namespace",
    "cluster": "id.cluster",
    "local_queue": "admission.queue",
    "cluster_queue": "admission.clusterQueue",
    "workload_kind": "request.kind",
    "resource_uid": "execution.object.uid",
    "resource_version": "id.lastEvent.key",
    "generation": "execution.object.generation",
    "submit_time": "execution.submitted",
    "created_time": "execution.submitted",
    "kueue_admitted_time": "admission.admitted",
    "pod_start_time": "execution.started",
    "first_metric_time": "metrics.first",
    "latest_metric_time": "metrics.latest",
    "completion_time": "execution.ended",
    "state": "execution.state",
    "reason": "execution.reason",
    "message": "execution.message",
    "artifact_uri": "request.output",
    "checkpoint_uri": "checkpoints.-1.uri",
    "image": "runtime.image",
    "image_digest": "runtime.imageDigests",
    "config_hash": "intent.digest",
    "code_sha": "code.digest",
    "tau_command": "runtime.command",
    "result_path": "request.output",
    "result_pvc": "request.mounts",
    "experiment_tracking": "metrics.rows",
    "experiment_source": "metrics.samples",
    "controller_version": "collector.version",
}
"""The columns of TauGrid's table of lifecycles, and where a record has them."""


@pytest.mark.parametrize("column", COLUMNS)
def test_every_lifecycle_column_has_its_place(column):
    value = built(ALL)
    for part in COLUMNS[column].split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    assert value is not None or column == "tau_command"
