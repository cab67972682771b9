"""Lists and watches against a server that fails in every way a real one does."""

import queue
import threading
from contextlib import contextmanager

import pytest

from taugen.collect import api
from taugen.collect.clock import Clock
from taugen.collect.runs import JOBS, PODS, WORKLOADS, Where
from taugen.collect.watch import Following, Stream
from tests.collect import fakeapi, objects

WHERE = Where("fjord", {objects.NAMESPACE: objects.WORKSPACE})


@pytest.fixture
def store():
    return fakeapi.Store(bookmark=0.05)


@pytest.fixture
def server(store, tmp_path):
    with fakeapi.serving(store) as address:
        yield api.connect(fakeapi.kubeconfig(tmp_path / "kubeconfig", address))


def fill(store, count, start=0):
    for n in range(start, start + count):
        store.put(objects.job(f"{objects.RUN}-{n + 1}", f"j-{n}", attempt=n + 1))


@contextmanager
def following(server, resource=JOBS, since=""):
    """A stream in its thread; yields it and the queue of what it says."""
    out, clock = queue.Queue(1000), Clock()
    stream = Stream(resource, objects.NAMESPACE, Following(server, WHERE, out, clock, seconds=1), since)
    thread = threading.Thread(target=stream.follow, daemon=True)
    thread.start()
    try:
        yield out
    finally:
        clock.stopped.set()
        thread.join(5)
        assert not thread.is_alive()


def until(out, count, kinds=("object", "gone")):
    """Items until `count` different objects' states have come."""
    seen, items = set(), []
    while len(seen) < count:
        item = out.get(timeout=10)
        items.append(item)
        assert item.type != "failed", item.error
        if item.type in kinds:
            seen.add((item.found.uid, item.found.version, item.type))
    return items


def test_a_list_has_pages_and_says_what_its_items_are(server, store, monkeypatch):
    monkeypatch.setattr(api, "PAGE", 3)
    fill(store, 8)
    pages = list(server.list(JOBS, objects.NAMESPACE))
    assert [len(items) for items, _ in pages] == [3, 3, 2]
    assert {obj["kind"] for items, _ in pages for obj in items} == {"Job"}
    assert {version for _, version in pages} == {str(store.version)}


def test_a_watch_delivers_what_follows_a_version_and_marks_where_it_is(server, store):
    fill(store, 2)
    since = store.version
    fill(store, 2, 2)
    store.delete("Job", objects.NAMESPACE, f"{objects.RUN}-1")
    changes = list(server.watch(JOBS, objects.NAMESPACE, str(since), 1))
    assert [c.type for c in changes if c.type != "BOOKMARK"] == ["ADDED", "ADDED", "DELETED"]
    assert {c.version for c in changes if c.type == "BOOKMARK"} == {str(store.version)}


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("410", api.Gone),
        ("429", api.Throttled),
        ("500", api.Unreachable),
        ("503", api.Unreachable),
        ("drop", api.Unreachable),
        ("garbage", api.Unreachable),
        ("403", api.Denied),
        ("404", api.Missing),
    ],
)
def test_each_fault_is_an_error_of_its_kind(server, store, fault, error):
    store.fault = lambda request: fault
    with pytest.raises(error):
        list(server.list(JOBS, objects.NAMESPACE))


def test_a_server_that_is_not_there(tmp_path):
    with pytest.raises(api.Unreachable):
        list(api.connect(fakeapi.kubeconfig(tmp_path / "kubeconfig", "http://127.0.0.1:1")).list(JOBS, "x"))


def test_a_kubeconfig_that_is_wrong(tmp_path):
    (tmp_path / "bad").write_text("nothing: here")
    for name in ("bad", "missing"):
        with pytest.raises(api.Denied, match="no access to a cluster"):
            api.connect(tmp_path / name)


@pytest.mark.parametrize("fault", ["truncate", "cut"])
def test_a_watch_that_is_cut_off_is_an_error(server, store, fault):
    fill(store, 5)
    store.fault = lambda request: fault
    with pytest.raises(api.Unreachable):
        list(server.watch(JOBS, objects.NAMESPACE, "1", 2))


def test_a_stream_lists_then_watches(server, store):
    fill(store, 3)
    with following(server) as out:
        items = until(out, 3)
        assert items[0].type == "listing"
        fill(store, 2, 3)
        until(out, 2)


def test_a_stream_goes_on_where_a_commit_stopped(server, store):
    fill(store, 3)
    since = str(store.version)
    fill(store, 2, 3)
    with following(server, since=since) as out:
        items = until(out, 2)
    assert {item.found.uid for item in items if item.type == "object"} == {"j-3", "j-4"}
    assert {item.found.uid for item in items if item.type == "known"} == {f"j-{n}" for n in range(5)}


def test_a_stream_lists_anew_when_the_server_has_forgotten(server, store):
    fill(store, 3)
    store.compact()
    with following(server, since="2") as out:
        items = until(out, 3)
    assert [item.type for item in items if item.type == "listing"] == ["listing"]


@pytest.mark.parametrize("fault", ["truncate", "cut", "drop", "429", "500", "410", "duplicate", "reorder", "garbage"])
def test_nothing_is_lost_whatever_fails(server, store, fault):
    store.fault = lambda request: fault if request.number % 2 else None
    with following(server) as out:
        for n in range(12):
            fill(store, 1, n)
            until(out, 0)
        got = set()
        while len(got) < 12:
            item = out.get(timeout=20)
            assert item.type != "failed", item.error
            if item.type == "object":
                got.add(item.found.uid)


@pytest.mark.parametrize("fault", [None, "reorder"])
def test_a_promise_comes_after_all_that_it_covers(server, store, fault):
    store.fault = lambda request: fault if request.what == "watch" else None
    with following(server) as out:
        seen = set()
        for n in range(30):
            fill(store, 1, n)
        while True:
            item = out.get(timeout=10)
            if item.found is not None:
                seen.add(item.found.version)
            if item.type in ("promise", "listed"):
                covered = {w.version for w in store.history if w.version <= int(item.version)}
                assert covered <= seen
                if int(item.version) >= store.version:
                    return


def test_a_kind_that_is_not_installed_is_no_fault(server, store):
    store.absent = frozenset({"Workload"})
    with following(server, WORKLOADS) as out:
        assert [out.get(timeout=5).type for _ in range(2)] == ["listing", "absent"]


def test_a_bug_is_not_silent(server, store, monkeypatch):
    monkeypatch.setattr("taugen.collect.watch.reduce", lambda *a, **k: 1 / 0)
    fill(store, 1)
    with following(server) as out:
        items = [out.get(timeout=5) for _ in range(2)]
    assert isinstance(items[-1].error, ZeroDivisionError)


def test_logs_come_with_times_from_a_time_on(server, store):
    key = (objects.NAMESPACE, "p", "main")
    store.date = "2026-05-04T10:02:00Z"
    store.logs[key] = "2026-05-04T10:00:00.5Z one\n2026-05-04T10:01:00.5Z two\nhalf"
    assert list(server.log(objects.NAMESPACE, "p", "main"))[:2] == [b"2026-05-04T10:00:00.5Z one", b"2026-05-04T10:01:00.5Z two"]
    assert next(iter(server.log(objects.NAMESPACE, "p", "main", "2026-05-04T10:01:00Z"))).endswith(b"two")
    with pytest.raises(api.Missing):
        list(server.log(objects.NAMESPACE, "gone", "main"))


def test_only_what_belongs_to_a_run_is_asked_for(server, store):
    store.put({**objects.pod(), "metadata": {**objects.pod()["metadata"], "labels": {}}})
    assert next(iter(server.list(PODS, objects.NAMESPACE)))[0] == []
