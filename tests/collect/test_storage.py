"""Checkpoints, histories and samples: what stands beside the cluster's API."""

import json
import os
import threading
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from taugen.collect import checkpoints, finish, metrics, stores
from taugen.collect.config import Settings
from taugen.render.scripts import tau_checkpoint
from tests.collect import fakeapi, objects
from tests.collect.lab import RUN, Lab, body
from tests.collect.objects import condition, job, over, pod

RUN_ID = "speech/quickstart/a87f5b3c"


def checkpoint(folder: Path, step: int, run: str = RUN_ID, monkeypatch=None) -> Path:
    """A complete checkpoint, marked by the helper that training programs use."""
    folder.mkdir(parents=True)
    (folder / "weights").write_bytes(b"w" * step)
    monkeypatch.setenv("TAU_RUN_ID", run)
    tau_checkpoint.complete(str(folder), step)
    return folder


@pytest.fixture
def output(tmp_path, monkeypatch):
    """Storage with two complete checkpoints, and everything that is none."""
    top = tmp_path / "storage"
    for step in (5, 12):
        checkpoint(top / f"step-{step}", step, monkeypatch=monkeypatch)
    checkpoint(top / "deep" / "er" / "step-20", 20, monkeypatch=monkeypatch)
    checkpoint(top / "a" / "b" / "c" / "d" / "too-deep", 99, monkeypatch=monkeypatch)
    checkpoint(top / "other", 50, "speech/other/00000000", monkeypatch=monkeypatch)
    (checkpoint(top / "cut", 60, monkeypatch=monkeypatch) / "weights").write_bytes(b"half")
    (checkpoint(top / "gone", 61, monkeypatch=monkeypatch) / "weights").unlink()
    (top / "plain").mkdir()
    (checkpoint(top / "rubbish", 62, monkeypatch=monkeypatch) / checkpoints.MARKER).write_text('{"step": "x"')
    (checkpoint(top / "half-step", 63, monkeypatch=monkeypatch) / checkpoints.MARKER).write_text(
        json.dumps({"run": RUN_ID, "step": 1.5, "files": {}})
    )
    return top


def test_only_complete_checkpoints_of_the_run_count(output):
    found = checkpoints.complete(stores.Folder(output), RUN_ID, "/mnt/out/ckpt")
    assert [(one.step, one.uri, one.bytes) for one in found] == [
        (5, "/mnt/out/ckpt/step-5", 5),
        (12, "/mnt/out/ckpt/step-12", 12),
        (20, "/mnt/out/ckpt/deep/er/step-20", 20),
    ]
    assert found[0].marker == "/mnt/out/ckpt/step-5/_TAU_COMPLETE.json"
    assert found[0].digest.startswith("sha256:")


def test_the_launch_script_would_choose_the_newest_of_them(output):
    newest = tau_checkpoint.newest(str(output), RUN_ID)
    assert checkpoints.complete(stores.Folder(output), RUN_ID, str(output))[-1].uri == newest


def test_links_lead_nowhere(output, tmp_path, monkeypatch):
    outside = checkpoint(tmp_path / "outside", 70, monkeypatch=monkeypatch)
    (output / "link").symlink_to(outside)
    (output / "plain" / checkpoints.MARKER).symlink_to(outside / checkpoints.MARKER)
    assert len(checkpoints.complete(stores.Folder(output), RUN_ID, "x")) == 3


def test_an_object_store_gives_the_same(output):
    pytest.importorskip("obstore")
    inside = checkpoints.complete(stores.Bucket(f"file://{output}"), RUN_ID, "x")
    assert inside == checkpoints.complete(stores.Folder(output), RUN_ID, "x")


def test_whole_files_go_into_stores(tmp_path):
    pytest.importorskip("obstore")
    for store in (stores.opened(f"file://{tmp_path}"), stores.Bucket(f"file://{tmp_path}")):
        digest, size = store.put("a/b.log", iter([b"one\n", b"two\n"]))
        assert (tmp_path / "a" / "b.log").read_bytes() == b"one\ntwo\n"
        assert (size, len(digest)) == (8, 64)
    with pytest.raises(OSError, match="nowhere://"):
        stores.opened("nowhere://bucket")
    with pytest.raises(OSError, match="No such file"):
        stores.opened(str(tmp_path / "missing"))


# --------------------------------------------------------------------------------------------------------------------------- mounts


def settings(**mounts: Path) -> Settings:
    return Settings("fjord", "meridian", {"team-speech": "speech"}, mounts={key.replace("__", "/"): path for key, path in mounts.items()})


MEANT = {"mounts": {"/mnt/out": "speech-out", "/mnt/out/deep": "other", "/data": "data"}}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/mnt/out/ckpt", "out/ckpt"),
        ("/mnt/out", "out"),
        ("/mnt/out/deep/x", None),
        ("/mnt/outside", None),
        ("/mnt/out/../../etc", None),
        ("rel", None),
    ],
)
def test_a_path_is_found_through_the_claim_that_holds_it(tmp_path, path, expected):
    (tmp_path / "out").mkdir()
    found = finish.mounted(path, MEANT, settings(**{"team-speech/speech-out": tmp_path / "out"}), "team-speech")
    assert found == (tmp_path / expected if expected else None)
    assert finish.mounted(path, MEANT, settings(**{"team-robots/speech-out": tmp_path / "out"}), "team-speech") is None


def test_a_link_in_storage_does_not_lead_to_the_collectors_own_files(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "out" / "ckpt").symlink_to(tmp_path / "secret")
    assert finish.mounted("/mnt/out/ckpt", MEANT, settings(**{"speech-out": tmp_path / "out"}), "team-speech") is None


# --------------------------------------------------------------------------------------------------------------------------- metrics


def test_rows_of_histories(tmp_path):
    good = [{"_step": 1, "_timestamp": 1.5, "loss": 2}, {"_step": 2, "_timestamp": 2.5, "loss": 1}]
    bad = [
        "",
        "no",
        "[]",
        '{"_step": 1}',
        '{"_step": 1.5, "_timestamp": 1}',
        '{"_step": true, "_timestamp": 1}',
        '{"_step": 1, "_timestamp": NaN}',
    ]
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "b.jsonl").write_text("\n".join([*bad, json.dumps(good[1])]))
    (tmp_path / "logs" / "a.jsonl").write_text(json.dumps(good[0]) + "\n")
    (tmp_path / "other.txt").write_text(json.dumps(good[0]))
    os.symlink("/etc", tmp_path / "logs" / "etc")
    assert list(metrics.history(tmp_path, ["logs/*.jsonl"])) == good
    with pytest.raises(FileNotFoundError):
        list(metrics.history(tmp_path / "missing", ["*"]))


def test_pieces_are_small_and_hold_no_nan():
    rows = [{"_step": n, "_timestamp": 1, "note": "x" * 1000} for n in range(3000)]
    out = metrics.pieces(rows)
    assert len(out) > 1
    assert max(map(len, out)) <= metrics.MOST
    assert sum(piece.count(b"\n") for piece in out) == 3000
    assert metrics.pieces([{"_step": 1, "loss": float("nan")}]) == [b'{"_step":1}\n']


@contextmanager
def prometheus(answers: dict):
    """A Prometheus that knows some answers; yields its address and what it was asked."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args):
            pass

        def do_GET(self):
            query = {key: values[0] for key, values in parse_qs(urlsplit(self.path).query).items()}
            asked.append(query)
            found = answers.get(query["query"])
            self.send_response(200 if found is not None else 422)
            self.end_headers()
            self.wfile.write(json.dumps(found or {"status": "error", "error": "bad query"}).encode())

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def vector(*series):
    return {"status": "success", "data": {"resultType": "vector", "result": [{"metric": m, "value": [1, v]} for m, v in series]}}


def test_queries_are_asked_as_of_the_end():
    answers = {
        "util": vector(({"gpu": "0"}, "0.75"), ({"gpu": "1"}, "NaN")),
        "one": {"status": "success", "data": {"resultType": "scalar", "result": [1, "3"]}},
    }
    with prometheus(answers) as (url, asked):
        samples, failed = metrics.ask(url + "/", {"b": "util", "a": "one", "c": "bad("}, "2026-05-04T10:00:00Z")
    assert [(sample.name, sample.value, dict(sample.labels)) for sample in samples] == [("a", 3.0, {}), ("b", 0.75, {"gpu": "0"})]
    assert failed == ["c"]
    assert {query["time"] for query in asked} == {"2026-05-04T10:00:00Z"}
    assert metrics.ask("http://127.0.0.1:1", {"a": "x"}, "t") == ([], ["a"])


def test_what_a_query_may_name():
    assert metrics.filled("avg(x{ns='$NAMESPACE',pod=~'$PODS'}[$RANGE])", "n", {"b", "a"}, 90) == "avg(x{ns='n',pod=~'a|b'}[90s])"


# ------------------------------------------------------------------------------------------------------------------------ all of it


@pytest.fixture
def lab(tmp_path):
    store = fakeapi.Store()
    with fakeapi.serving(store) as address:
        yield Lab(tmp_path, store, address)


MORE = """mounts:
  /mnt/out: speech-out
output: /mnt/out
checkpoint:
  path: /mnt/out/ckpt
metrics:
  history:
  - logs/*.jsonl
  prometheus:
    loss: min(loss{pod=~"$PODS"})
"""


def test_a_record_has_what_storage_and_prometheus_know(lab, tmp_path, monkeypatch):
    out = tmp_path / "out"
    checkpoint(out / "ckpt" / "5", 5, monkeypatch=monkeypatch)
    (out / "logs").mkdir()
    (out / "logs" / "a.jsonl").write_text('{"_step": 1, "_timestamp": 1.5, "loss": 2}\n')
    lab.state(more=MORE)
    lab.store.put(job(conditions=[condition("Complete", "True", 9)]))
    lab.store.put(pod(phase="Succeeded", containerStatuses=[over(4, 8)]))
    name = f"{objects.RUN}-1-0-abcde"
    lab.store.logs[objects.NAMESPACE, name, "main"] = ""
    with prometheus({f'min(loss{{pod=~"{name}"}})': vector(({}, "0.5"))}) as (url, _):
        lab.collector(prometheus=url, mounts={"team-speech/speech-out": out}).once()
    branch = lab.branch()
    assert [one.uri for one in branch.checkpoints(RUN.attempt(1))] == ["/mnt/out/ckpt/5"]
    (content,) = branch.read_many([RUN.attempt(1).series("metrics", 0)])
    assert [json.loads(row).get("loss", json.loads(row).get("value")) for row in content.splitlines()] == [2, 0.5]
    record = branch.record(RUN.attempt(1))
    assert record["checkpoints"][0]["step"] == 5
    assert record["metrics"]
    assert lab.collector(mounts={"speech-out": out}).once() == ""


def test_whole_logs_go_where_policy_says(lab, tmp_path):
    lab.state()
    lab.store.put(job(conditions=[condition("Complete", "True", 9)]))
    lab.store.put(pod(phase="Succeeded", containerStatuses=[over(4, 8)]))
    secret = "ghp_" + "a1B2" * 10
    log = f"{objects.at(4)} hello\n{objects.at(5)} token={secret}\n"
    lab.store.logs[objects.NAMESPACE, f"{objects.RUN}-1-0-abcde", "main"] = log
    (tmp_path / "whole").mkdir()
    lab.collector(log_store=f"file://{tmp_path / 'whole'}").once()
    kept = [one for one in lab.branch().record(RUN.attempt(1))["logs"] if one["path"].startswith("file://")]
    content = Path(kept[0]["path"].removeprefix("file://")).read_bytes()
    assert content == log.replace(secret, "[redacted]").encode()
    assert (kept[0]["sha256"], kept[0]["bytes"], kept[0]["redactions"]) == (sha256(content).hexdigest(), len(content), 1)


def test_a_store_that_is_away_is_named(lab):
    lab.state()
    lab.store.put(job(conditions=[condition("Complete", "True", 9)]))
    lab.store.put(pod(phase="Succeeded", containerStatuses=[over(4, 8)]))
    lab.store.logs[objects.NAMESPACE, f"{objects.RUN}-1-0-abcde", "main"] = f"{objects.at(4)} hello\n"
    lab.collector(log_store="file:///nowhere/at/all").once()
    missing = lab.branch().record(RUN.attempt(1))["completeness"]["missing"]
    assert [entry["what"] for entry in missing if "whole" in entry["what"]] == [f"whole log of {objects.RUN}-1-0-abcde/main"]
    assert len(lab.branch().logs(RUN.attempt(1))) == 1


def test_what_can_not_be_read_is_named(lab):
    lab.state(more=MORE)
    lab.store.put(job(conditions=[condition("Complete", "True", 9)]))
    lab.store.put(pod(phase="Succeeded", containerStatuses=[over(4, 8)]))
    lab.collector().once()
    missing = {entry["what"]: entry["why"] for entry in lab.branch().record(RUN.attempt(1))["completeness"]["missing"]}
    assert missing["checkpoints"] == "no storage of the collector holds /mnt/out/ckpt"
    assert missing["metrics history"] == "no storage of the collector holds /mnt/out"
    assert missing["metrics query loss"] == "the cluster names no Prometheus"
    assert "gone" in missing[f"log of {objects.RUN}-1-0-abcde/main"]
    assert body(more=MORE).encode() == lab.branch().read_many([RUN.intent])[0]
