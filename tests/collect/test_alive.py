"""A cluster in which nothing happens: its collector says that it lives, and a collector that is dead does not."""

from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from taugen.evidence import sink as sinks
from taugen.evidence import verify
from taugen.pipeline import runs, view
from tests import gitkit
from tests.collect import fakeapi, objects
from tests.collect.lab import CLUSTER, RUN, Lab
from tests.collect.objects import at, pod, running
from tests.collect.test_loop import begin, play

START, STEP = 5.0, 5


@pytest.fixture
def lab(tmp_path):
    store = fakeapi.Store(bookmark=0.1)
    with fakeapi.serving(store) as address:
        yield Lab(tmp_path, store, address)


def moment(minute: float) -> datetime:
    return datetime.fromisoformat(at(minute))


def stale(lab, minute: float) -> bool:
    """What `taugen runs` says of the cluster at a minute of the recorded clock."""
    return runs.stale(view.of(lab.folder, lab.evidence.as_uri()), CLUSTER, moment(minute))


def alone(lab) -> list[str]:
    """The dates of the commits without files, oldest first."""
    said = gitkit.git(lab.evidence, "log", "--reverse", "--format=%ct %T %H", "evidence").splitlines()
    rows = [line.split() for line in said]
    empty = [int(row[0]) for before, row in pairwise(rows) if before[1] == row[1]]
    return [datetime.fromtimestamp(date, moment(0).tzinfo) for date in empty]


def quiet(lab, minutes: int) -> None:
    """Let the server's clock go on while nothing happens."""
    for minute in range(0, minutes + 1, STEP):
        lab.store.date = at(START + minute)
        seen = len(lab.store.requests)
        lab.until(lambda seen=seen: len({kind for what, kind, _ in lab.store.requests[seen:] if what == "watch"}) == 8)
        if minute % 10 == 0:
            lab.until(lambda minute=minute: not stale(lab, START + minute + 4))


def test_a_quiet_hour_is_no_stale_cluster(lab):
    lab.state()
    with lab.running():
        begin(lab)
        play(lab, 7)
        lab.until(lambda: "ready" in lab.events())
        before = lab.tree()
        quiet(lab, 60)
        dates = alone(lab)
    assert lab.tree() == before
    assert 4 <= len(dates) <= 7
    assert all(later - earlier >= timedelta(seconds=sinks.BEAT) for earlier, later in pairwise(dates))
    proof = verify.verify(lab.branch())
    assert proof.findings == []
    # Dead from here on: nobody says anything any more.
    assert not stale(lab, START + 60)
    assert stale(lab, START + 60 + 26)


def test_where_nothing_lives_nothing_is_said(lab):
    lab.state()
    with lab.running():
        begin(lab)
        play(lab)
        lab.until(lambda: lab.branch().record(RUN.attempt(1)))
        count = lab.commits()
        lab.store.date = at(600)
        seen = len(lab.store.requests)
        lab.until(lambda: len([1 for what, *_ in lab.store.requests[seen:] if what == "watch"]) >= 16)
    assert lab.commits() == count


def test_a_collector_that_begins_again_does_not_say_it_sooner(lab):
    lab.state()
    with lab.running():
        begin(lab)
        play(lab, 7)
        lab.until(lambda: "ready" in lab.events())
        lab.store.date = at(30)
        lab.until(lambda: len(alone(lab)) == 1)
    lab.store.date = at(39)
    for name in ("a", "b"):  # its own folder, and one that is empty
        seen = len(lab.store.requests)
        with lab.running(name):
            lab.until(lambda seen=seen: len([1 for what, *_ in lab.store.requests[seen:] if what == "watch"]) >= 16)
    assert len(alone(lab)) == 1
    with lab.running("a"), lab.running("b"):
        lab.store.date = at(41)
        lab.until(lambda: len(alone(lab)) == 2)
        seen = len(lab.store.requests)
        lab.until(lambda: len([1 for what, *_ in lab.store.requests[seen:] if what == "watch"]) >= 32)
    assert len(alone(lab)) == 2


def test_a_server_that_answers_only_errors_is_no_sign_of_life(lab):
    lab.state()
    with lab.running():
        begin(lab)
        play(lab, 7)
        lab.until(lambda: "ready" in lab.events())
        lab.store.fault = lambda request: "500"
        lab.until(lambda: lab.store.requests[-1] is not None)
        seen = len(lab.store.requests)
        lab.store.date = at(60)
        lab.until(lambda: len(lab.store.requests) > seen + 10)
    assert alone(lab) == []


def test_logs_alone_are_dated_by_the_server(lab):
    lab.state()
    with lab.running(log_every=1):
        begin(lab)
        play(lab, 7)
        lab.until(lambda: "ready" in lab.events())
        lab.store.date = at(20)
        lab.store.logs[objects.NAMESPACE, f"{objects.RUN}-1-0-abcde", "main"] = f"{at(4)} one\n{at(15)} two\n{at(19)} three\n"
        lab.until(lambda: len(lab.branch().logs(RUN.attempt(1))) >= 2)
        lab.until(lambda: not stale(lab, 34))


def test_the_pods_of_a_ray_cluster_have_their_tails_while_they_run(lab):
    lab.state()
    for kind in ("head", "worker"):
        one = pod(f"{objects.RUN}-1-{kind}-x", f"p-{kind}", index=None, phase="Running", containerStatuses=[running(4, f"ray-{kind}")])
        one["metadata"]["labels"]["ray.io/node-type"] = kind
        lab.store.put(one)
        lab.store.logs[objects.NAMESPACE, one["metadata"]["name"], f"ray-{kind}"] = f"{at(4.1)} listening\n"
    with lab.running(log_every=2):
        lab.until(lambda: lab.branch().tip)
        lab.store.date = at(8)
        lab.until(lambda: len(lab.branch().logs(RUN.attempt(1))) == 2)
    assert {path.rpartition("+")[2] for path in lab.branch().logs(RUN.attempt(1))} == {"ray-head.3.txt", "ray-worker.3.txt"}


def test_once_says_it_too(lab):
    lab.state()
    play(lab, 7)
    lab.collector().once()
    lab.store.date = at(30)
    assert lab.collector().once() != ""
    assert len(alone(lab)) == 1
    assert lab.collector().once() == ""
