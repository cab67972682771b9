"""RayJobs on a real Ray: the rendered entrypoint, runtime environment and code, submitted by KubeRay's own command.

Pods are simulated, so a head and a worker run as processes beside the plane; KubeRay reads the job's state from the real dashboard.
"""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import nodes, rayhead, runs
from tests.e2e.kube import Kube, Object
from tests.e2e.lab import Lab
from tests.e2e.plane import Plane
from tests.e2e.ray import ended, outcome, real, release

WITH = ("kuberay", "kueue")
SHARES = "lab"
PROGRAM = """
import os, sys
import ray
import helper
import fromwheel

ray.init(address="auto")

@ray.remote(num_cpus=1)
def work(number):
    import helper
    return helper.double(number), os.environ["TAU_RUN_ID"]

print("results", ray.get([work.remote(number) for number in range(3)]))
print("wheel", fromwheel.WORD, "arguments", sys.argv[1:])
sys.exit(int(os.environ["E2E_EXIT"]))
"""


@pytest.fixture(scope="module")
def lab(plane: Plane, kube: Kube, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    made = Lab(tmp_path_factory.mktemp("head") / "repo", kube)
    yield made
    made.clear()


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a short name: Ray's sockets stand below it, and their paths have 107 bytes."""
    path = Path(tempfile.mkdtemp(prefix="ray"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


def test_a_rayjob_runs_on_a_real_head(lab: Lab, kube: Kube, plane: Plane, short: Path):
    """It fails at its end, so that its state can only be the real one: the small server alone would have it succeed."""
    code, state = 3, "FAILED"
    programs, reason = rayhead.environment()
    if reason:
        pytest.skip(reason)
    name = f"held-real-{state.lower()}"
    outcome(plane, name, "RUNNING")
    item, objects = submit(lab, name, code)
    runs.running(kube, item, 3)
    rayhead.wheel(short / "wheels", "fromwheel", "WORD = 'installed'\n")
    cluster = rayhead.Cluster(plane, short, objects, programs, {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(short / "wheels")})
    try:
        cluster.start()
        real(plane, name, cluster.port)
        (pod,) = (pod for pod in runs.pods(kube, item) if pod["spec"]["containers"][0]["name"] == nodes.SUBMITTER)
        said = cluster.submit(pod)
        live = runs.live(kube, item)
        assert live
        assert ended(plane, live["status"]["jobId"]) == state, said
        release(plane, kube, item)
        runs.finished(kube, item)
    finally:
        cluster.stop()
    run = f"red/{name}/{item['metadata']['annotations']['taugen.dev/digest'][:8]}"
    assert f"results [(0, '{run}'), (2, '{run}'), (4, '{run}')]" in said, said
    assert "wheel installed arguments ['--epochs', '3']" in said
    found = runs.live(kube, item)
    assert found
    assert found["status"]["jobStatus"] == state
    runs.until_no_pods_but_the_submitter(kube, item)


def submit(lab: Lab, name: str, code: int) -> tuple[Object, list[Object]]:
    """The RayJob of a run with a sibling module, pip packages and arguments, and all its objects with the RayJob last."""
    more = {"run": {"entrypoint": "train.py", "args": ["--epochs", "3"]}, "runtime": {"pip": ["fromwheel==1.0"]}}
    files = {"train.py": PROGRAM, "helper.py": "def double(number):\n    return 2 * number\n"}
    item = lab.submit(name, "t4", kind="rayjob", exits=code, files=files, **more)
    return item, sorted(lab.rendered[name], key=lambda found: found["kind"] == "RayJob")
