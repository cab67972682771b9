"""Whether what records point to is still there."""

from hashlib import sha256

import pytest

from taugen.collect import stores
from taugen.evidence import fsck
from taugen.evidence.fsck import Fate
from tests import evidencekit

ATTEMPT = evidencekit.RUN.attempt(1)


def record(*checkpoints, logs=(), inputs=()):
    return {"checkpoints": list(checkpoints), "logs": list(logs), "inputs": list(inputs)}


def fates(said, storage, **more):
    return [(one.pointer.what, one.fate, one.why) for one in fsck.look(fsck.pointers(ATTEMPT, said), storage, stores.opened, **more)]


@pytest.fixture
def data(tmp_path):
    for step in (10, 20):
        (tmp_path / f"speech/c/{step}").mkdir(parents=True)
        (tmp_path / f"speech/c/{step}/done").touch()
    (tmp_path / "speech/log.txt").write_bytes(b"step 1\n")
    return tmp_path


def test_what_is_there_what_is_gone_and_what_nobody_can_tell(data):
    checkpoints = [{"step": step, "uri": f"/data/c/{step}", "marker": "done"} for step in (10, 20, 30)]
    (data / "speech/c/20/done").unlink()
    said = record(*checkpoints, {"uri": "/other/c/1"}, inputs=[{"uri": "/data/c/10"}, "no mapping", {"name": "no uri"}])
    assert fates(said, {"/data": data / "speech"}) == [
        ("checkpoint", Fate.THERE, ""),
        ("checkpoint", Fate.GONE, "done is not there"),
        ("checkpoint", Fate.GONE, "done is not there"),
        ("checkpoint", Fate.UNREADABLE, "no storage of this machine holds it (--storage)"),
        ("input", Fate.THERE, ""),
    ]


def test_contents_are_compared_where_that_is_asked_for(data):
    good = {"uri": "/data/log.txt", "sha256": sha256(b"step 1\n").hexdigest()}
    bad = {"uri": "/data/log.txt", "digest": f"sha256:{'0' * 64}"}
    storage = {"/data/": data / "speech", "/": data / "nowhere"}
    assert [fate for _, fate, _ in fates(record(logs=[good, bad]), storage)] == [Fate.THERE, Fate.THERE]
    assert [fate for _, fate, _ in fates(record(logs=[good, bad]), storage, contents=True)] == [Fate.THERE, Fate.CHANGED]


def test_nothing_outside_of_the_storage_is_looked_at(data):
    (data / "speech/out").symlink_to(data)
    (data / "secret").write_text("x")
    said = record({"uri": "/data/../secret"}, {"uri": "/data/out/secret"}, {"uri": "/datax"})
    assert {fate for _, fate, _ in fates(said, {"/data": data / "speech"})} == {Fate.UNREADABLE}


@pytest.mark.parametrize("said", [{}, {"checkpoints": None, "logs": {}, "inputs": "x"}, {"checkpoints": [1, None, {"uri": 3}]}])
def test_a_record_of_another_form_points_to_nothing(said):
    assert list(fsck.pointers(ATTEMPT, said)) == []


class Bucket:
    """Objects in memory, by URL of their folder."""

    def __init__(self, objects):
        self._objects = objects

    def sizes(self, folder):
        return {path: len(content) for path, content in self._objects.items() if path.startswith(folder)}

    def read(self, path, most):
        return self._objects[path][:most]


def test_objects_of_a_store():
    buckets = {"s3://b/c/10": Bucket({"done": b""}), "s3://b/c/20": Bucket({}), "s3://b/logs": Bucket({"a.txt": b"abc"})}

    def opened(url):
        if url not in buckets:
            raise OSError("no credentials\nsecond line")
        return buckets[url]

    said = record(
        {"uri": "s3://b/c/10", "marker": "done"},
        {"uri": "s3://b/c/20/", "marker": "done"},
        {"uri": "s3://b/c/30", "marker": "done"},
        logs=[{"uri": "s3://b/logs/a.txt", "sha256": sha256(b"abc").hexdigest()}, {"uri": "s3://b/logs/a.txt", "sha256": "0" * 64}],
    )
    found = list(fsck.look(fsck.pointers(ATTEMPT, said), {}, opened, contents=True))
    assert [(one.fate, one.why) for one in found] == [
        (Fate.THERE, ""),
        (Fate.GONE, "done is not there"),
        (Fate.UNREADABLE, "no credentials"),
        (Fate.THERE, ""),
        (Fate.CHANGED, "its sha256 is another"),
    ]
