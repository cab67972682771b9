"""What follows from evidence, as a pure function."""

import random
from datetime import timedelta

import pytest

from taugen.advance.decide import PATIENCE, End, Retry, Tried, Wait, decide, moment, newest
from taugen.advance.settings import Settings
from taugen.evidence.history import fold
from taugen.evidence.store import Checkpoint
from tests.advance.kit import LATER, LOST, STARTED, at, event, failed

NODE = Settings(max_retries=2, retry_on=frozenset({"NodeFailure"}), fatal=frozenset({42}), checkpoints="/ckpt")
GANG = Settings(max_retries=0, gang=True, checkpoints="/ckpt")
HALF = (*STARTED, ("index-succeeded", 150, {"index": 2}), ("preempted", 151, {"reason": "InCohortReclamation"}))


def tried(*attempts, recorded=True):
    """Each attempt's events -> what is known of them, from 1."""
    return [Tried(n, fold(map(event, events)), recorded) for n, events in enumerate(attempts, 1)]


def lost(minute=10):
    return (*STARTED, *failed(minute, **LOST))


def once(*events, settings=NODE, attempt=1, checkpoints=(), now=LATER, recorded=True):
    return decide(attempt, settings, tried(events, recorded=recorded), checkpoints, now)


def test_nothing_follows_while_it_goes_on():
    for n in range(len(STARTED) + 1):
        events = STARTED[:n]
        found = [Tried(1, history)] if (history := fold(map(event, events))) is not None else []
        assert decide(1, NODE, found, (), LATER) is None


def test_a_lost_node_is_followed_by_the_next_attempt():
    action = once(*lost(), checkpoints=[Checkpoint(1000, "/ckpt/1000"), Checkpoint(4000, "/ckpt/4000")])
    assert isinstance(action, Retry)
    assert (action.attempt, action.resume_from, action.reason) == (2, "/ckpt/4000", "NodeFailure")
    assert action.why == "attempt 2 of 3 starts from step 4000: node h100-7 was lost"
    assert action.time == at(10, 30)


@pytest.mark.parametrize(
    ("pod", "retry_on", "why"),
    [
        (LOST, {"NodeFailure"}, None),
        (LOST, {"Error"}, "failed: node h100-7 was lost; NodeFailure is not in retry_on (Error)"),
        ({"exitCodes": {"main": 3}}, {"Error"}, None),
        ({"exitCodes": {"main": 3}}, set(), "failed: ant-0 ended with exit code 3; Error is not in retry_on (empty)"),
        ({"exitCodes": {"main": 42}}, {"Error"}, "failed: ant-0 ended with exit code 42; exit code 42 is one of fatal_exit_codes"),
        ({"exitCodes": {"main": 137}, "oom": True}, {"OOMKilled"}, None),
        (
            {"exitCodes": {"main": 137}, "oom": True},
            {"Error", "Preempted"},
            "failed: ant-0 ran out of memory on node h100-7; OOMKilled is not in retry_on (Error, Preempted)",
        ),
        ({"disruption": "PreemptionByScheduler", "exitCodes": {}}, {"Preempted"}, None),
        ({"reason": "Evicted", "exitCodes": {}}, {"Evicted"}, None),
    ],
)
def test_what_is_tried_again(pod, retry_on, why):
    settings = Settings(max_retries=1, retry_on=frozenset(retry_on), fatal=frozenset({42}))
    action = once(*STARTED, *failed(**pod), settings=settings)
    if why is None:
        assert isinstance(action, Retry)
    else:
        assert isinstance(action, End)
        assert (action.phase, action.attempt, action.why, action.time) == ("failed", 1, why, at(10))


def test_another_pod_with_a_fatal_exit_code_ends_it():
    second = ("pod-ended", 10, {"pod": "ant-1", "phase": "Failed", "exitCodes": {"main": 42}})
    events = (*STARTED, ("pod-ended", 9, {"pod": "ant-0", "phase": "Failed", **LOST}), second, ("failed", 11))
    assert isinstance(once(*events), End)


def test_retries_are_bounded_and_back_off():
    settings = Settings(max_retries=5, retry_on=frozenset({"NodeFailure"}), backoff_initial=30, backoff_max=100)
    waits = []
    for n in range(1, 8):
        action = decide(n, settings, tried(*[lost()] * n), (), LATER)
        waits.append((moment(action.time) - moment(at(10))).seconds if isinstance(action, Retry) else action.why)
    end = "failed: node h100-7 was lost; no retries are left (5 of 5 used)"
    assert waits == [30, 60, 100, 100, 100, end, end.replace("5 of 5", "6 of 5")]
    assert "max_retries is 0" in once(*lost(), settings=Settings(retry_on=frozenset({"NodeFailure"}))).why


def test_an_attempt_of_which_nothing_is_known_counts_as_a_retry():
    assert isinstance(decide(3, NODE, [Tried(3, tried(lost())[0].history, recorded=True)], (), LATER), End)


def test_it_waits_until_the_backoff_is_over():
    end = moment(at(10))
    action = once(*lost(), now=end + timedelta(seconds=29))
    assert isinstance(action, Wait)
    assert (action.until, action.why) == (
        at(10, 30),
        f"attempt 2 of 3 starts from the beginning: node h100-7 was lost (not before {at(10, 30)})",
    )
    assert isinstance(once(*lost(), now=end + timedelta(seconds=30)), Retry)


def test_it_waits_for_the_record_but_not_for_ever():
    end = moment(at(10))
    for events in ((*STARTED, ("succeeded", 10)), lost()):
        early = once(*events, recorded=False, now=end + timedelta(minutes=5))
        assert isinstance(early, Wait)
        assert (early.until, "waits for the collector's record of attempt 1" in early.why) == (at(25), True)
        assert once(*events, recorded=False, now=end + PATIENCE) == once(*events)
        assert not isinstance(once(*events, now=end + timedelta(minutes=5)), Wait)


@pytest.mark.parametrize(
    ("kind", "data", "phase", "why"),
    [
        ("succeeded", {}, "succeeded", "succeeded"),
        ("deactivated", {"reason": "MaximumExecutionTimeExceeded"}, "deactivated", "deactivated: MaximumExecutionTimeExceeded"),
        (
            "validation-failed",
            {"reason": "ValidationFailed", "message": "x"},
            "validation-failed",
            "validation-failed: ValidationFailed: x",
        ),
        ("cancelled", {}, "cancelled", "cancelled"),
    ],
)
def test_an_end_for_good(kind, data, phase, why):
    settings = Settings(max_retries=9, retry_on=frozenset({"Error", "NodeFailure", "Preempted", "Evicted", "OOMKilled"}))
    assert once(*STARTED, (kind, 20, data), settings=settings) == End(phase, 1, at(20), why, (1, event((kind, 20)).type, at(20)))


def test_what_kueue_takes_back_goes_on_in_its_object():
    taken = (*STARTED, ("preempted", 9, {"reason": "InClusterQueue"}), ("admitted", 12), ("evicted", 14), ("requeued", 15))
    for settings in (NODE, GANG):
        for n in range(len(STARTED), len(taken) + 1):
            assert once(*taken[:n], settings=settings) is None


def test_a_half_finished_gang_begins_anew_and_uses_no_retry():
    """A public report: an index succeeded, Kueue preempts the gang, and admits its object again."""
    again = (*HALF, ("admitted", 161))
    for events in (HALF, again, (*again, ("pod-started", 162)), (*again, ("superseded", 170))):
        action = once(*events, settings=GANG, checkpoints=[Checkpoint(7, "/ckpt/7")])
        assert isinstance(action, Retry)
        assert (action.attempt, action.resume_from, action.reason, action.time) == (2, "/ckpt/7", "Preempted", at(151))
    assert action.why.startswith("attempt 2 starts from step 7: Kueue took the gang back (InCohortReclamation) after index 2 had succeeded")
    assert once(*HALF, settings=NODE) is None, "no gang"
    late = (*STARTED, ("preempted", 5), ("admitted", 6), ("index-succeeded", 7, {"index": 0}))
    assert once(*late, settings=GANG) is None, "evicted before that, the same object goes on"
    assert once(*again, ("succeeded", 170), settings=GANG).phase == "succeeded"
    assert isinstance(once(*again, ("deactivated", 170), settings=GANG), End)
    assert isinstance(once(*again, *failed(180, exitCodes={"main": 1}), settings=GANG), Retry), "it waited for peers for ever"


def test_a_restart_of_a_gang_is_no_retry():
    settings = Settings(max_retries=1, retry_on=frozenset({"NodeFailure"}), gang=True)
    attempts = tried((*HALF, ("superseded", 152)), lost(), lost())
    first = decide(2, settings, attempts[:2], (), LATER)
    assert isinstance(first, Retry)
    assert first.why.startswith("attempt 3 of 3 starts")
    assert isinstance(decide(3, settings, attempts, (), LATER), End)


def test_names_hold_999_attempts():
    settings = Settings(max_retries=998, retry_on=frozenset({"NodeFailure"}), gang=True)
    history = tried(lost())[0].history
    action = decide(999, settings, [Tried(999, history, recorded=True)], (), LATER)
    assert isinstance(action, End)
    assert isinstance(decide(998, settings, [Tried(998, history, recorded=True)], (), LATER), Retry)
    half = Tried(999, fold(map(event, HALF)), recorded=True)
    assert isinstance(decide(999, settings, [half], (), LATER), End)


def test_evidence_of_a_later_attempt_than_the_branch_holds():
    """The deploy branch was set back: no name is used twice, and what is over is over."""
    assert decide(1, NODE, tried(lost(), (*STARTED, ("succeeded", 20))), (), LATER).attempt == 2
    unfinished = decide(1, NODE, tried(lost(), STARTED), (), LATER)
    assert isinstance(unfinished, Retry)
    assert (unfinished.attempt, "set back" in unfinished.why) == (3, True)
    assert decide(3, NODE, tried(lost(), lost()), (), LATER) is None, "nothing is known of attempt 3"


def test_the_newest_checkpoint():
    found = [
        Checkpoint(5, "/ckpt/a/5"),
        Checkpoint(9, "/elsewhere/9"),
        Checkpoint(8, "/ckpt/../8"),
        Checkpoint(7, "/ckpt/7\n"),
        Checkpoint(6, "/ckpt/6"),
    ]
    random.Random(2).shuffle(found)
    assert newest(NODE, found) == Checkpoint(6, "/ckpt/6")
    assert newest(Settings(checkpoints="/ckpt", resumes=False), found) is None
    assert newest(Settings(), found) is None


def test_what_is_decided_does_not_depend_on_order():
    events = [*map(event, (*HALF, ("admitted", 161), *failed(180)))]
    wanted = decide(1, GANG, [Tried(1, fold(events), recorded=True)], (), LATER)
    for seed in range(20):
        random.Random(seed).shuffle(events)
        assert decide(1, GANG, [Tried(1, fold(events * 2), recorded=True)], (), LATER) == wanted
