"""Checkpoints and logs in a real S3 server: what the collector finds there, writes there, and says when it can't.

The server is Versity's gateway, which serves a folder by the whole of S3's protocol: signatures, pages of 1,000 keys, uploads in parts.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from taugen.collect import checkpoints, stores
from tests.collect import fakeapi, objects
from tests.collect.lab import RUN, Lab
from tests.collect.objects import condition, job, over, pod
from tests.collect.test_storage import RUN_ID, checkpoint
from tests.e2e import build

BUCKET, USER, PASSWORD = "lab-runs", "made-up-user", "made-up-password"
SHARDS = 1200
"""More files in one checkpoint than a page of S3's list holds."""


@pytest.fixture(scope="module")
def gateway() -> Path:
    """The server's program."""
    pytest.importorskip("obstore", reason="the client of object stores is not installed: pip install 'taugen[store]'")
    if not build.binary("versitygw").exists():
        if shutil.which("go") is None:
            pytest.skip("The S3 server is built from its Go module and needs Go 1.26 or newer on the path.")
        try:
            build.build(("versitygw",))
        except build.Unbuildable as error:
            pytest.skip(f"The S3 server can't be built here: {error}")
    return build.binary("versitygw")


@contextmanager
def serving(program: Path, folder: Path) -> Iterator[str]:
    """The server over `folder`; its address."""
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**os.environ, "ROOT_ACCESS_KEY": USER, "ROOT_SECRET_KEY": PASSWORD}
    command = [str(program), "--port", f"127.0.0.1:{port}", "--quiet", "posix", "--sidecar", str(folder / "meta"), str(folder / "data")]
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(300):
                with closing(socket.socket()) as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert process.poll() is None, "the S3 server ended"
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGKILL)


@pytest.fixture
def s3(gateway, tmp_path, monkeypatch) -> Iterator[Path]:
    """A bucket, and the environment by which the collector finds its server; the folder that the bucket shows."""
    (tmp_path / "s3" / "meta").mkdir(parents=True)
    (tmp_path / "s3" / "data" / BUCKET).mkdir(parents=True)
    with serving(gateway, tmp_path / "s3") as address:
        credentials = {"ACCESS_KEY_ID": USER, "SECRET_ACCESS_KEY": PASSWORD, "ENDPOINT_URL": address, "REGION": "us-east-1"}
        for name, value in {**credentials, "ALLOW_HTTP": "true"}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        yield tmp_path / "s3" / "data" / BUCKET


def put(folder: Path, prefix: str) -> None:
    """Upload a folder as a training program does, marker last."""
    bucket = stores.opened(f"s3://{BUCKET}/{prefix}")
    for path in sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.name == checkpoints.MARKER):
        bucket.put(path.relative_to(folder).as_posix(), iter([path.read_bytes()]))


def shards(folder: Path, count: int, monkeypatch) -> Path:
    """A complete checkpoint of many files."""
    top = checkpoint(folder, 12, monkeypatch=monkeypatch)
    marker = json.loads((top / checkpoints.MARKER).read_bytes())
    for number in range(count):
        (top / f"shard-{number:05}").write_bytes(b"s")
    listed = marker["files"]
    more = {f"shard-{number:05}": 1 for number in range(count)}
    marker["files"] = {**listed, **more} if isinstance(listed, dict) else [*listed, *({"path": name, "size": 1} for name in more)]
    (top / checkpoints.MARKER).write_text(json.dumps(marker))
    return top


def test_only_complete_checkpoints_of_the_run_count(s3, tmp_path, monkeypatch):
    top = tmp_path / "local"
    checkpoint(top / "step-5", 5, monkeypatch=monkeypatch)
    shards(top / "step-12", SHARDS, monkeypatch)
    checkpoint(top / "deep" / "er" / "step 20+a", 20, monkeypatch=monkeypatch)
    checkpoint(top / "other", 50, "speech/other/00000000", monkeypatch=monkeypatch)
    (checkpoint(top / "cut", 60, monkeypatch=monkeypatch) / "weights").write_bytes(b"half")
    (checkpoint(top / "gone", 61, monkeypatch=monkeypatch) / "weights").unlink()
    # Written past the server, as a file system that S3 shows; then one through it.
    shutil.copytree(top, s3 / "ckpt")
    checkpoint(tmp_path / "late" / "step-30", 30, monkeypatch=monkeypatch)
    put(tmp_path / "late", "ckpt")
    shutil.copytree(tmp_path / "late", top, dirs_exist_ok=True)
    checkpoint(s3 / "ckpt-of-another" / "step-99", 99, monkeypatch=monkeypatch)
    uri = f"s3://{BUCKET}/ckpt"
    found = checkpoints.complete(stores.files(uri), RUN_ID, uri)
    assert [one.step for one in found] == [5, 12, 20, 30]
    assert found == checkpoints.complete(stores.Folder(top), RUN_ID, uri)


def test_a_record_has_the_checkpoints_and_the_whole_log(s3, tmp_path, monkeypatch):
    checkpoint(tmp_path / "local" / "step-5", 5, monkeypatch=monkeypatch)
    put(tmp_path / "local", "ckpt")
    log = "".join(f"{objects.at(4 + n / 100)} line {n} {'word ' * 250}\n" for n in range(8_000))
    store = fakeapi.Store()
    with fakeapi.serving(store) as address:
        lab = Lab(tmp_path / "lab", store, address)
        lab.state(more=f"checkpoint:\n  path: s3://{BUCKET}/ckpt\n")
        store.put(job(conditions=[condition("Complete", "True", 120)]))
        store.put(pod(phase="Succeeded", containerStatuses=[over(4, 119)]))
        store.logs[objects.NAMESPACE, f"{objects.RUN}-1-0-abcde", "main"] = log
        lab.collector(log_store=f"s3://{BUCKET}/logs", log_every=7200).once()
        record = lab.branch().record(RUN.attempt(1))
    assert [(one["step"], one["uri"]) for one in record["checkpoints"]] == [(5, f"s3://{BUCKET}/ckpt/step-5")]
    (whole,) = [one for one in record["logs"] if one["path"].startswith("s3://")]
    content = (s3 / whole["path"].removeprefix(f"s3://{BUCKET}/")).read_bytes()
    assert (content == log.encode(), len(content) > 8 << 20) == (True, True)
    assert (whole["sha256"], whole["bytes"]) == (sha256(content).hexdigest(), len(content))
    assert record["completeness"]["missing"] == [one for one in record["completeness"]["missing"] if "s3" not in one["why"]]


@pytest.mark.parametrize(
    ("name", "value"), [("SECRET_ACCESS_KEY", "wrong"), ("ENDPOINT_URL", "http://127.0.0.1:1"), ("", "s3://no-such-bucket/ckpt")]
)
def test_a_store_that_refuses_or_is_away_is_named_with_its_reason(s3, tmp_path, monkeypatch, name, value):
    uri = value if not name else f"s3://{BUCKET}/ckpt"
    if name:
        monkeypatch.setenv(f"AWS_{name}", value)
    store = fakeapi.Store()
    with fakeapi.serving(store) as address:
        lab = Lab(tmp_path / "lab", store, address)
        lab.state(more=f"checkpoint:\n  path: {uri}\n")
        store.put(job(conditions=[condition("Complete", "True", 9)]))
        store.put(pod(phase="Succeeded", containerStatuses=[over(4, 8)]))
        store.logs[objects.NAMESPACE, f"{objects.RUN}-1-0-abcde", "main"] = f"{objects.at(4)} hello\n"
        lab.collector(log_store=f"{uri}/logs").once()
        missing = {one["what"]: one["why"] for one in lab.branch().record(RUN.attempt(1))["completeness"]["missing"]}
        logs = lab.branch().logs(RUN.attempt(1))
    assert missing["checkpoints"].startswith(f"{uri} can't be read: ")
    assert f"whole log of {objects.RUN}-1-0-abcde/main" in missing
    assert PASSWORD not in json.dumps(missing)
    assert len(logs) == 1
