"""The collector at work: watching, committing, stopping, and everything around it that fails."""

import pytest

from taugen.collect import loop
from taugen.diag import Refused
from tests import gitkit
from tests.collect import fakeapi, objects
from tests.collect.lab import RUN, Lab, until
from tests.collect.objects import ADMISSION, at, condition, job, note, over, pod, running, workload

ATTEMPT = RUN.attempt(1)
EVICTED = "Preempted to accommodate a workload (UID: w-9, JobUID: j-9) due to prioritization in the ClusterQueue"


@pytest.fixture
def lab(tmp_path):
    store = fakeapi.Store(bookmark=0.1)
    with fakeapi.serving(store) as address:
        yield Lab(tmp_path, store, address)


def play(lab, upto=99):
    """The life of an attempt, one write at a time."""
    admitted = [condition("QuotaReserved", "True", 2), condition("Admitted", "True", 3)]
    writes = [
        job(),
        workload(conditions=[condition("QuotaReserved", "False", 1.5, "Pending", "2 more needed")]),
        workload(conditions=admitted, admission=ADMISSION),
        pod(),
        note(about="p-1", kind="Pod", minute=3.5),
        pod(phase="Running", containerStatuses=[running(4)]),
        workload(conditions=[*admitted, condition("PodsReady", "True", 4.5)], admission=ADMISSION),
        pod(phase="Succeeded", containerStatuses=[over(4, 8)]),
        job(conditions=[condition("Complete", "True", 8.5)]),
    ]
    lab.store.logs[objects.NAMESPACE, f"{objects.RUN}-1-0-abcde", "main"] = f"{at(4)[:-1]}.5Z one\n{at(7.5)} two\n"
    for write in writes[:upto]:
        lab.store.put(write)


WHOLE = [
    "submitted",
    "queued",
    "inadmissible",
    "reserved",
    "admitted",
    "note",
    "pod-started",
    "ready",
    "pod-ended",
    "index-succeeded",
    "succeeded",
]


def test_a_life_is_followed_to_its_record(lab):
    lab.state()
    with lab.running():
        begin(lab)
        play(lab, 5)
        until(lambda: "note" in lab.events())
        play(lab)
        until(lambda: lab.branch().record(ATTEMPT))
    assert sorted(lab.events()) == sorted(WHOLE)
    assert len(lab.branch().logs(ATTEMPT)) == 1
    assert lab.said == []


def begin(lab):
    """Until every stream watches: from now on no state is missed."""
    until(lambda: len({kind for what, kind, _ in lab.store.requests if what == "watch"}) == 8)


def test_stopping_commits_what_came(lab):
    with lab.running(interval=1000.0):
        play(lab, 1)
        until(lambda: lab.commits() == 1)
        play(lab, 6)
        until(lambda: ("watch", "Pod", objects.NAMESPACE) in lab.store.requests)
        wait_for_the_streams(lab)
    assert "pod-started" in lab.events()
    assert lab.commits() == 2


def wait_for_the_streams(lab):
    """Until each stream has begun another watch: what was written before has been delivered."""
    seen = len(lab.store.requests)
    until(lambda: len({kind for what, kind, _ in lab.store.requests[seen:] if what == "watch"}) == 8)


def test_a_restart_goes_on_where_the_last_commit_says(lab):
    lab.state()
    with lab.running():
        play(lab, 4)
        until(lambda: "admitted" in lab.events())
    lab.store.requests.clear()
    play(lab)
    lab.store.delete("Job", objects.NAMESPACE, f"{objects.RUN}-1")
    with lab.running("b"):
        until(lambda: lab.branch().record(ATTEMPT))
    assert sorted(lab.events()) == sorted(WHOLE)


def test_a_gap_that_the_server_forgot_is_bridged_by_a_list(lab):
    with lab.running():
        begin(lab)
        play(lab, 4)
        until(lambda: "admitted" in lab.events())
    play(lab)
    lab.store.compact()
    with lab.running("b"):
        until(lambda: lab.branch().record(ATTEMPT))
    assert set(WHOLE) == set(lab.events())


@pytest.mark.parametrize(
    ("state", "expected", "by"),
    [
        ({}, "deleted", None),
        ({"phase": "cancelled"}, "cancelled", "cancelled"),
        ({"phase": "replaced"}, "cancelled", "replaced"),
        ({"attempt": 2}, "superseded", 2),
    ],
)
def test_why_an_object_is_gone_is_known_from_the_deploy_branch(lab, state, expected, by):
    lab.state()
    with lab.running():
        play(lab, 6)
        until(lambda: "pod-started" in lab.events())
        lab.state(**state) if state else None
        lab.store.delete("Job", objects.NAMESPACE, f"{objects.RUN}-1")
        lab.store.delete("Pod", objects.NAMESPACE, f"{objects.RUN}-1-0-abcde")
        until(lambda: expected in lab.events())
        if expected != "deleted":
            until(lambda: lab.branch().record(ATTEMPT))
    events = {str(one.type): one for one in lab.branch().events(ATTEMPT)}
    assert events[expected].data.get("by") == by
    assert "pod-ended" in events


@pytest.mark.parametrize(("state", "expected"), [({}, "deleted"), ({"phase": "cancelled"}, "cancelled"), ({"attempt": 2}, "superseded")])
def test_what_ended_while_nobody_looked_and_the_server_forgot(lab, state, expected):
    lab.state()
    with lab.running():
        begin(lab)
        play(lab, 6)
        until(lambda: "pod-started" in lab.events())
    lab.state(**state) if state else None
    for kind, name in (("Job", f"{objects.RUN}-1"), ("Pod", f"{objects.RUN}-1-0-abcde"), ("Workload", "job-x")):
        lab.store.delete(kind, objects.NAMESPACE, name)
    lab.store.compact()
    with lab.running("b"):
        until(lambda: expected in lab.events())
        if expected != "deleted":
            until(lambda: lab.branch().record(ATTEMPT))
            assert lab.branch().record(ATTEMPT)["completeness"]["complete"] is False


def test_the_run_that_took_the_place_is_named_whoever_is_seen_first(lab):
    other = job("other-0b1c2d3e-1", "j-9", run="other-0b1c2d3e")
    with lab.running():
        play(lab, 3)
        until(lambda: "admitted" in lab.events())
        conditions = [condition("Evicted", "True", 6, "Preempted", EVICTED), condition("Preempted", "True", 6, "InClusterQueue", EVICTED)]
        lab.store.put(workload(conditions=conditions))
        lab.store.put(other)
        until(lambda: "preempted" in lab.events())
    event = next(one for one in lab.branch().events(ATTEMPT) if one.type == "preempted")
    assert event.data["by"] == {"uid": "w-9", "jobUid": "j-9", "workspace": "speech", "run": "other-0b1c2d3e", "attempt": 1}


def test_a_stranger_that_took_the_place_stays_a_uid(lab):
    with lab.running():
        play(lab, 3)
        lab.store.put(workload(conditions=[condition("Evicted", "True", 6, "Preempted", EVICTED)]))
        until(lambda: "preempted" in lab.events())
    event = next(one for one in lab.branch().events(ATTEMPT) if one.type == "preempted")
    assert event.data["by"] == {"uid": "w-9", "jobUid": "j-9"}


def test_a_remote_that_is_away_is_waited_for(lab):
    away = lab.evidence.with_name("away.git")
    with lab.running():
        play(lab, 4)
        until(lambda: "admitted" in lab.events())
        lab.evidence.rename(away)
        play(lab)
        until(lambda: lab.said)
        away.rename(lab.evidence)
        until(lambda: lab.branch().record(ATTEMPT))
    assert set(WHOLE) == set(lab.events())


def test_more_than_should_wait_is_dropped_and_seen_again(lab, monkeypatch):
    monkeypatch.setattr("taugen.collect.book.MOST_FILES", 3)
    away = lab.evidence.with_name("away.git")
    with lab.running():
        until(lambda: ("watch", "Job", objects.NAMESPACE) in lab.store.requests)
        lab.evidence.rename(away)
        play(lab)
        until(lambda: any("beginning again" in said for said in lab.said))
        away.rename(lab.evidence)
        until(lambda: lab.branch().tip and lab.branch().record(ATTEMPT))
    assert set(WHOLE) >= set(lab.events()) >= {"submitted", "admitted", "pod-ended", "succeeded"}


def rewritten(lab):
    with lab.running():
        play(lab, 3)
        until(lambda: "admitted" in lab.events())
        other = gitkit.make_repo(lab.folder / "other", {"x": "y"})
        gitkit.git(other, "push", "-q", "--force", str(lab.evidence), "main:evidence")
        play(lab)
        until(lambda: lab.failed)


def test_a_branch_that_was_rewritten_is_an_alarm(lab):
    with pytest.raises(Refused, match="rewritten") as refused:
        rewritten(lab)
    assert refused.value.code == 4
    assert lab.branch().paths() == ["x"]


def test_a_burst_loses_nothing(lab, monkeypatch):
    """What came is taken in in portions: where one ends, the next begins."""
    monkeypatch.setattr("taugen.collect.loop._AT_ONCE", 3)
    lab.state()
    with lab.running():
        begin(lab)
        play(lab, 1)
        for number in range(100):
            lab.store.put(note(f"n-{number}", minute=2))
        until(lambda: lab.events().count("note") == 100)


def test_two_collectors_write_the_same_evidence_once(lab):
    lab.state()
    with lab.running(), lab.running("b"):
        begin(lab)
        play(lab)
        until(lambda: lab.branch().tip and lab.branch().record(ATTEMPT))
    assert sorted(lab.events()) == sorted(WHOLE)


def test_a_denied_kind_is_told_once_and_holds_nothing_up(lab):
    lab.store.fault = lambda request: "403" if request.kind == "Node" else None
    with lab.running():
        play(lab)
        until(lambda: lab.branch().tip and lab.branch().record(ATTEMPT))
    assert len(lab.said) == 1
    assert "nodes: the API server answers 403" in lab.said[0]


def test_the_first_commit_names_where_every_stream_goes_on(lab):
    """What a stream that was not listed yet says first, nobody could see again."""
    lab.state()
    refused = []

    def fault(request):
        if request.kind == "Workload" and len(refused) < 3:
            refused.append(request)
            return "500"
        return None

    lab.store.fault = fault
    lab.store.put(job())
    with lab.running():
        until(lambda: lab.commits() > 0)
        said = gitkit.git(lab.evidence, "log", "-1", "--format=%(trailers:key=Tau-Resume,valueonly)", "evidence")
    assert len(refused) == 3
    assert f"workloads/{objects.NAMESPACE}=" in said


def test_a_stream_that_can_not_be_listed_holds_nothing_up_for_long(lab, monkeypatch):
    monkeypatch.setattr(loop, "_PATIENCE", 0.5)
    lab.state()
    lab.store.fault = lambda request: "500" if request.kind == "Workload" else None
    lab.store.put(job())
    with lab.running():
        until(lambda: lab.commits() > 0)
