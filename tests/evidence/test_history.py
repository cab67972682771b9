"""The fold of an attempt's events."""

import random

import pytest

from taugen.evidence import event, paths
from taugen.evidence.event import Event, EventType
from taugen.evidence.history import RANK, STATES, Cause, State, deciding, fold

RUN = paths.RunKey("fjord", "speech", "quickstart-a87f5b3c")
T = "2026-05-04T10:{:02}:00Z".format


def happened(*events):
    return [Event(EventType(kind), T(minute), "u", data, str(minute)) for minute, kind, data in events]


PREEMPTED = happened(
    (0, "submitted", {}),
    (1, "queued", {}),
    (2, "inadmissible", {"reason": "WaitingForQuota", "message": "8 more needed"}),
    (3, "admitted", {}),
    (4, "pod-started", {}),
    (5, "index-succeeded", {"index": 2}),
    (6, "preempted", {"reason": "InCohortReclamation", "by": {"workspace": "robots"}}),
)


def test_states_follow_the_last_event():
    seen = [fold(PREEMPTED[: n + 1]).state for n in range(len(PREEMPTED))]
    assert seen == ["submitted", "queued", "queued", "admitted", "running", "running", "queued"]
    assert fold(PREEMPTED[:3]).reason == "WaitingForQuota"
    assert fold([]) is None


def test_an_interruption_knows_which_indexes_were_done():
    history = fold(PREEMPTED)
    assert [(i.reason, i.succeeded, i.by["workspace"]) for i in history.interruptions] == [
        ("InCohortReclamation", frozenset({2}), "robots")
    ]


def test_order_and_repetition_do_not_matter():
    mixed = PREEMPTED * 2
    random.Random(4).shuffle(mixed)
    assert fold(mixed) == fold(PREEMPTED)


@pytest.mark.parametrize("seed", range(300))
def test_a_few_names_tell_which_events_decide(seed):
    """Where many attempts are listed, the others need not be read."""
    dice = random.Random(seed)
    kinds = dice.sample(list(EventType), dice.randint(1, len(EventType)))
    times = [f"2026-05-04T10:00:{dice.randint(0, 6):02}{dice.choice(('', '.25'))}Z" for _ in range(9)]
    some = [
        Event(kind, times[n], "u", {"reason": str(n), "message": str(-n)}, str(n))
        for n, kind in enumerate(dice.choices(kinds, k=dice.randint(0, 9)))
    ]
    names = deciding([one.name for one in some])
    whole, part = fold(some), fold([one for one in some if one.name in names])
    assert (whole is None) == (part is None)
    if whole is not None and part is not None:
        assert (part.state, part.since, part.reason, part.message) == (whole.state, whole.since, whole.reason, whole.message)
    assert {*STATES, *RANK} | {EventType.INADMISSIBLE} >= {one.type for one in some if one.name in names}


def test_a_terminal_state_does_not_change():
    over = [*PREEMPTED, *happened((7, "failed", {"reason": "BackoffLimitExceeded"}), (8, "admitted", {}), (9, "succeeded", {}))]
    history = fold(over)
    assert (history.state, history.ended, history.state.terminal) == (State.FAILED, T(7), True)


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        ({"exitCodes": {"main": 137}, "oom": True}, Cause.OOM),
        ({"phase": "Failed", "disruption": "PreemptionByScheduler"}, Cause.PREEMPTED),
        ({"phase": "Failed", "disruption": "DeletionByTaintManager"}, Cause.NODE),
        ({"phase": "Failed", "disruption": "TerminationByKubelet"}, Cause.EVICTED),
        ({"phase": "Failed", "reason": "Evicted"}, Cause.EVICTED),
        ({"phase": "Failed", "reason": "NodeShutdown"}, Cause.NODE),
        ({"phase": "Failed", "exitCodes": {"main": 3}}, Cause.ERROR),
    ],
)
def test_the_pod_that_failed_first_tells_the_cause(data, cause):
    events = happened((0, "submitted", {}), (3, "admitted", {}), (4, "pod-ended", data), (5, "pod-ended", {"exitCodes": {"main": 143}}))
    failure = fold([*events, *happened((6, "failed", {}))]).failure
    assert (failure.cause, failure.time) == (cause, T(4))


def test_pods_that_ended_before_the_last_admission_do_not_count():
    events = [*PREEMPTED, *happened((7, "pod-ended", {"exitCodes": {"main": 143}, "phase": "Failed"}), (8, "admitted", {}))]
    events += happened((9, "pod-ended", {"exitCodes": {"main": 7}, "phase": "Failed"}), (10, "failed", {}))
    failure = fold(events).failure
    assert (failure.exit_code, failure.exit_codes) == (7, {7})


def test_files_and_paths_go_both_ways():
    attempt = RUN.attempt(2)
    for one in PREEMPTED:
        path = one.path(attempt)
        place = paths.parse(path)
        assert (place.attempt, place.kind, place.time, place.type) == (attempt, "event", one.time, one.type)
        assert event.read(one.content()) == one
    kinds = [paths.parse(p).kind for p in (RUN.intent, attempt.record, attempt.log("a-1-x", "main", 3), attempt.series("metrics", 0))]
    assert kinds == ["run", "record", "log", "metrics"]
    for bad in ("fjord/runs/speech/a8/quickstart-b87f5b3c/run.yaml", RUN.intent + "x", "fjord/runs/speech/a8/../run.yaml", "x"):
        assert paths.parse(bad) is None


def test_the_same_event_has_the_same_file():
    one = Event(EventType.ADMITTED, T(1), "u", {"b": 1, "a": 2})
    assert one.content() == Event(EventType.ADMITTED, T(1), "u", {"a": 2, "b": 1}).content()
    assert one.key != Event(EventType.ADMITTED, T(1), "v").key


def test_events_of_nodes_stand_by_day():
    one = Event(EventType.NODE, "2026-05-04T10:00:07Z", "n-1", {"node": "gpu-7"})
    path = one.path_of_node("fjord")
    assert path.startswith("fjord/nodes/2026/05/04/20260504T100007Z-node-")
    assert paths.node_event(path) == ("fjord", "2026-05-04T10:00:07Z")
    assert paths.parse(path) is None
    for bad in (path.replace("/04/", "/05/"), path.replace("-node-", "-note-"), path + "x", one.path(RUN.attempt(1))):
        assert paths.node_event(bad) is None


@pytest.mark.parametrize("time", ["", "2026", "2026-13-04T10:00:00Z", "2026-05-04T10:00:00", "2026-05-04T10:00:00+02:00"])
def test_what_has_no_time_is_no_event(time):
    content = Event(EventType.ADMITTED, T(1), "u").content()
    assert event.read(content) is not None
    assert event.read(content.replace(T(1).encode(), time.encode())) is None
