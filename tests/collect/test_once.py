"""`taugen collect --once`: one look, one commit."""

import json

import pytest

from taugen.diag import Refused
from tests.collect import fakeapi, objects
from tests.collect.lab import RUN, Lab, body
from tests.collect.objects import ADMISSION, at, condition, job, note, over, pod, running, workload


@pytest.fixture
def lab(tmp_path):
    store = fakeapi.Store()
    with fakeapi.serving(store) as address:
        yield Lab(tmp_path, store, address)


ADMITTED = [condition("QuotaReserved", "True", 2), condition("Admitted", "True", 3)]


def finished(lab):
    lab.state()
    lab.store.put(objects.cluster_queue())
    lab.store.put(job(conditions=[condition("Failed", "True", 9, "BackoffLimitExceeded", "x")]))
    lab.store.put(workload(conditions=ADMITTED, admission=ADMISSION))
    lab.store.put(pod(phase="Failed", containerStatuses=[over(4, 8, 3)]))
    lab.store.put(note())
    lab.store.put(note("late", minute=20, message="after the end"))
    lab.store.put(note("n-2", about="p-1", kind="Pod", about_name="whatever", minute=4, reason="Pulled"))
    lab.store.put(note("n-3", about="somebody-else", about_name="other-job", minute=4))
    lab.store.logs[objects.NAMESPACE, f"{objects.RUN}-1-0-abcde", "main"] = (
        f"{at(4)[:-1]}.5Z hello\n{at(7.9)[:-1]}.5Z token=ghp_{'a1B2' * 10} bye\n"
    )


def test_a_finished_attempt_is_written_at_once(lab):
    finished(lab)
    commit = lab.collector(prices={"h100": 2.5}, versions={"kueue": "0.19"}).once()
    assert commit
    branch = lab.branch()
    assert branch.tip == commit
    attempt = RUN.attempt(1)
    kinds = lab.events()
    assert sorted(kinds) == sorted(["submitted", "queued", "reserved", "admitted", "pod-started", "pod-ended", "failed", *["note"] * 3])
    history = branch.history(attempt)
    assert (history.state, history.failure.exit_code) == ("failed", 3)
    record = branch.record(attempt)
    assert record["completeness"]["missing"] == []
    assert (record["platform"], record["admission"]["borrowed"]) == ({"kubernetes": "v1.36.3", "declared": {"kueue": "0.19"}}, False)
    assert branch.intent(RUN)["attempt"] == 1
    log = branch.read_many(branch.logs(attempt))
    assert b"hello" in log[0]
    assert b"ghp_" not in log[0]


def test_no_news_no_commit(lab):
    finished(lab)
    assert lab.collector().once()
    assert lab.collector().once() == ""
    assert lab.collector("another").once() == ""
    assert lab.commits() == 1


def test_what_is_still_under_way_has_no_record(lab):
    lab.state()
    lab.store.put(job())
    lab.store.put(workload(conditions=ADMITTED, admission=ADMISSION))
    lab.store.put(pod(phase="Running", containerStatuses=[running(4)]))
    assert lab.collector().once()
    assert lab.branch().record(RUN.attempt(1)) is None
    lab.store.put(job(conditions=[condition("Complete", "True", 9)]))
    assert lab.collector().once()
    assert lab.branch().record(RUN.attempt(1)) is None, "its pod runs on"
    lab.store.put(pod(phase="Succeeded", containerStatuses=[over(4, 8)]))
    assert lab.collector().once()
    assert lab.branch().record(RUN.attempt(1)) is not None


def test_kinds_that_are_not_installed_are_no_fault(lab):
    lab.store.absent = frozenset({"JobSet", "RayJob", "RayCluster", "Workload"})
    lab.store.put(job())
    assert lab.collector().once()


def test_an_account_that_may_not_read_is_told(lab):
    lab.store.fault = lambda request: "403" if request.kind == "Pod" else None
    with pytest.raises(Refused, match=r"pods/team-speech can't be listed: the API server answers 403"):
        lab.collector().once()
    assert lab.commits() == 0


def test_nodes_may_be_closed_to_it(lab):
    lab.store.fault = lambda request: "403" if request.kind == "Node" else None
    lab.store.put(job())
    assert lab.collector().once()
    assert [said.partition(":")[0] for said in lab.said] == ["nodes"]


def test_a_run_without_state_is_recorded_and_says_so(lab):
    lab.store.put(job(conditions=[condition("Complete", "True", 9)]))
    assert lab.collector().once()
    record = lab.branch().record(RUN.attempt(1))
    assert "the deploy branch has no state of the run" in json.dumps(record)
    assert lab.branch().intent(RUN) is None


def test_the_intent_is_what_was_meant_at_first(lab):
    lab.state(phase="cancelled", attempt=3)
    lab.store.put(job())
    lab.collector().once()
    assert lab.branch().read_many([RUN.intent])[0].decode() == body()


def test_state_of_another_cluster_is_not_ours(lab):
    lab.state(cluster="mesa")
    lab.store.put(job())
    lab.collector().once()
    assert lab.branch().intent(RUN) is None


def test_health_of_nodes_is_written_by_day(lab):
    conditions = [condition("taugen.dev/GpuFault", "True", 5, "Xid79", "fell off the bus")]
    lab.store.put({"kind": "Node", "metadata": {"name": "gpu-7", "uid": "n"}, "status": {"conditions": conditions}})
    lab.collector().once()
    assert [path[:22] for path in lab.branch().paths()] == ["fjord/nodes/2026/05/04"]
    assert lab.collector().once() == ""


@pytest.mark.parametrize(("fault", "reason"), [("403", "the API server does not tell"), ("404", "the API server does not tell")])
def test_what_stands_around_and_may_not_be_seen_is_named(lab, fault, reason):
    finished(lab)
    lab.store.fault = lambda request: fault if request.what == "version" or request.kind == "ClusterQueue" else None
    lab.collector().once()
    record = lab.branch().record(RUN.attempt(1))
    missing = {one["what"]: one["why"] for one in record["completeness"]["missing"]}
    assert (record["platform"], record["admission"]["borrowed"]) == ({}, None)
    assert missing["version of Kubernetes"].startswith(reason)
    assert missing["borrowed quota"] == "the cohort of the ClusterQueue could not be read"


def test_a_fault_of_a_moment_is_nothing_that_can_not_be_known(lab):
    """The same record as without it: a watching collector tries again, one that looks once says so."""
    finished(lab)
    failed = iter(["500", "503", "429", "drop"] * 2)
    lab.store.fault = lambda request: next(failed, None) if request.what == "version" or request.kind == "ClusterQueue" else None
    with pytest.raises(Refused, match="what stands around the runs"):
        lab.collector().once()
    with lab.running():
        lab.until(lambda: lab.branch().tip and lab.branch().record(RUN.attempt(1)))
    assert lab.branch().record(RUN.attempt(1))["platform"] == {"kubernetes": "v1.36.3"}
