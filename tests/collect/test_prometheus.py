"""Queries that a real Prometheus answers: Debian's own, over a day of GPU metrics that its promtool wrote for it."""

import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime

import pytest

from taugen.collect import metrics
from tests.collect import fakeapi, objects
from tests.collect.lab import RUN, Lab
from tests.collect.objects import ADMISSION, at, condition, job, over, pod, running, workload

POD, OTHER = f"{objects.RUN}-1-0-abcde", "someone-else-1-0-fghij"
UTIL = 'avg by (gpu) (avg_over_time(DCGM_FI_DEV_GPU_UTIL{namespace="$NAMESPACE",pod=~"$PODS"}[$RANGE])) / 100'
QUERIES = {
    "gpu-use": UTIL,
    "memory": 'max(max_over_time(DCGM_FI_DEV_FB_USED{namespace="$NAMESPACE",pod=~"$PODS"}[$RANGE]))',
    "power": 'sum(DCGM_FI_DEV_POWER_USAGE{namespace="$NAMESPACE",pod=~"$PODS"})',
    "end": "time()",
    "nothing": 'sum(no_such_metric{pod=~"$PODS"})',
    "ratio": 'sum(DCGM_FI_DEV_POWER_USAGE{pod=~"$PODS"}) / 0 - Inf',
}


def openmetrics() -> str:
    """Samples every half minute from minute 4 to 8: two GPUs of ours, one of another run."""
    out = []
    for name, values in {
        "DCGM_FI_DEV_GPU_UTIL": {("0", POD): 75, ("1", POD): 25, ("0", OTHER): 99},
        "DCGM_FI_DEV_FB_USED": {("0", POD): 40000, ("1", POD): 41000, ("0", OTHER): 79000},
        "DCGM_FI_DEV_POWER_USAGE": {("0", POD): 300, ("1", POD): 350.5, ("0", OTHER): 700},
    }.items():
        out.append(f"# TYPE {name} gauge")
        for (gpu, name_of), value in values.items():
            labels = f'gpu="{gpu}",namespace="{objects.NAMESPACE}",pod="{name_of}"'
            out += [f"{name}{{{labels}}} {value} {datetime.fromisoformat(at(4 + n / 2)).timestamp()}" for n in range(9)]
    return "\n".join([*out, "# EOF", ""])


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory) -> Iterator[str]:
    """The address of a Prometheus that knows the samples."""
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        pytest.skip("The test of Prometheus queries needs prometheus and promtool on the path: apt-get install prometheus.")
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "samples").write_text(openmetrics())
    (folder / "config.yml").write_text("global: {}\n")
    load = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(folder / "samples"), str(folder / "data")]
    subprocess.run(load, check=True, capture_output=True)
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["prometheus", f"--config.file={folder / 'config.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
    command += [f"--web.listen-address=127.0.0.1:{port}", "--storage.tsdb.retention.time=100y"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _ready(process, f"http://127.0.0.1:{port}")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def _ready(process: subprocess.Popen, address: str) -> None:
    for _ in range(600):
        assert process.poll() is None, "prometheus ended"
        try:
            with urllib.request.urlopen(f"{address}/-/ready") as answer:
                if answer.status == 200:
                    return
        except OSError:
            pass
        time.sleep(0.1)
    raise AssertionError("prometheus is not ready after a minute")


def asked(address: str, queries: dict[str, str], time: str) -> tuple[list, list[str]]:
    filled = {name: metrics.filled(query, objects.NAMESPACE, {POD}, 240) for name, query in queries.items()}
    samples, failed = metrics.ask(address, filled, time)
    return [(one.name, one.value, dict(one.labels)) for one in samples], failed


def test_what_it_answers_is_of_the_runs_own_pods_as_of_the_end(prometheus):
    samples, failed = asked(prometheus, QUERIES, at(8))
    assert failed == []
    assert samples == [
        ("end", datetime.fromisoformat(at(8)).timestamp(), {}),
        ("gpu-use", 0.75, {"gpu": "0"}),
        ("gpu-use", 0.25, {"gpu": "1"}),
        ("memory", 41000.0, {}),
        ("power", 650.5, {}),
    ]


def test_what_it_refuses_has_failed_and_holds_up_nothing_else(prometheus):
    samples, failed = asked(prometheus, {"bad": "avg(", "matrix": "DCGM_FI_DEV_GPU_UTIL[5m]", "power": QUERIES["power"]}, at(8))
    assert ("bad" in failed, [one for one in samples if one[0] == "power"]) == (True, [("power", 650.5, {})])
    assert [one for one in samples if one[0] == "matrix"] == []


def test_a_record_has_its_samples(prometheus, tmp_path):
    store = fakeapi.Store()
    with fakeapi.serving(store) as address:
        lab = Lab(tmp_path, store, address)
        lab.state(more=f"metrics:\n  prometheus:\n    own: {QUERIES['power']}\n")
        admitted = [condition("QuotaReserved", "True", 2), condition("Admitted", "True", 3)]
        store.put(job(conditions=[condition("Complete", "True", 8)]))
        store.put(workload(conditions=admitted, admission=ADMISSION))
        store.put(pod(phase="Running", containerStatuses=[running(4)]))
        store.put(pod(phase="Succeeded", containerStatuses=[over(4, 8)]))
        lab.collector(prometheus=prometheus, queries={"gpu-use": UTIL}).once()
        record = lab.branch().record(RUN.attempt(1))
    found = {(one["query"], one["labels"].get("gpu", "")): one["value"] for one in record["metrics"]["samples"]}
    assert found == {("gpu-use", "0"): 0.75, ("gpu-use", "1"): 0.25, ("own", ""): 650.5}
    assert "metrics.samples" in record["verified"]
    assert not [one for one in record["completeness"]["missing"] if "metrics query" in one["what"]]
