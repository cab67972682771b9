"""The whole loop: what happens in the cluster becomes evidence, evidence becomes attempts and ends, Flux applies them.

`taugen collect` and `taugen advance` are run as a user runs them. A process stands for the pod of the run that is followed, so that its
checkpoints, its logs and its result are real.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import lab, runs, trainer
from tests.e2e.collected import Evidence, bind, names, rebuilt
from tests.e2e.kube import Kube, Object, holds
from tests.e2e.loop import FluxLoop
from tests.e2e.plane import Plane

WITH = ("kueue", "flux")


@pytest.fixture(scope="module")
def loop(plane: Plane, kube: Kube, tmp_path_factory: pytest.TempPathFactory) -> FluxLoop:
    return FluxLoop(tmp_path_factory.mktemp("evidence"), plane, kube, lab.FLUX)


@pytest.fixture(scope="module")
def evidence(loop: FluxLoop, kube: Kube, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    made = Evidence(tmp_path_factory.mktemp("collected"), loop)
    loop.bootstrap()
    bind(kube)
    return made


@pytest.fixture
def started() -> Iterator[list[trainer.Process]]:
    """Processes that stand for pods; none of them stays."""
    found: list[trainer.Process] = []
    yield found
    for process in found:
        if process.process.poll() is None:
            process.kill()


def write(loop: FluxLoop, name: str, **more: object) -> Object:
    """A run that saves checkpoints and is tried again, on the deploy branch and applied."""
    folder = f"workspaces/red/{name}"
    sections: dict[str, object] = {
        "storage": {"mounts": [{"name": "ckpt", "storage": "ckpt", "path": trainer.CLAIM}], "output": f"{trainer.CLAIM}/{name}"},
        "checkpoint": {"path": f"{trainer.CLAIM}/{name}", "resume": "auto"},
        "resilience": {"max_retries": 5, "retry_on": ["NodeFailure", "Error"], "backoff_initial": "1s", "backoff_max": "1s"},
        "runtime": {"env": {"STEPS": str(trainer.STEPS), "E2E_SECONDS": "3600s", "E2E_EXIT": "0", "E2E_SALT": lab.SALT}},
        "run": {"entrypoint": "train.py", "workload_kind": "job"},
    }
    text = lab.tau(name, "h100", cluster=loop.cluster, **(sections | more))  # type: ignore[arg-type]
    loop.fleet.commit({f"{folder}/tau.yaml": text, f"{folder}/train.py": trainer.PROGRAM}, f"run {name}")
    loop.publish()
    loop.sync()
    return loop.object(name)


def start(evidence: Evidence, item: Object, started: list[trainer.Process]) -> tuple[Object, trainer.Process]:
    """The pod of an attempt once it runs, and the process that stands for it."""
    (pod,) = runs.running(evidence.loop.kube, item, 1)
    name, run = item["metadata"]["labels"]["taugen.dev/name"], item["metadata"]["labels"]["taugen.dev/run"]
    files = evidence.loop.files(f"clusters/{evidence.loop.cluster}/runs/red/")
    objects = [found for found in files if found["metadata"].get("labels", {}).get("taugen.dev/run") == run]
    place = evidence.claim / name
    place.mkdir(exist_ok=True)
    if not (place / "may").exists():
        (place / "may").write_text("0", encoding="utf-8")
    process = trainer.Process(evidence.folder / f"{name}-{len(started)}", objects, evidence.claim, name)
    started.append(process)
    return pod, process


def attempt(item: Object) -> int:
    return int(item["metadata"]["labels"]["taugen.dev/attempt"])


def test_a_run_that_is_killed_and_preempted_ends_as_if_nothing_had_been(
    evidence: Evidence, loop: FluxLoop, kube: Kube, started: list[trainer.Process]
):
    first = write(loop, "hardy")
    pod, process = start(evidence, first, started)
    assert process.began() == 0
    process.until(3)
    evidence.collect()

    process.kill()
    runs.end(kube, pod, 1)
    second = next_attempt(evidence, first, "hardy")
    pod, process = start(evidence, second, started)
    assert process.began() == 3
    process.until(5)

    high = write(loop, "urgent", execution={"launcher": "torchrun", "nodes": 4}, policy={"priority": "high", "topology": "unconstrained"})
    runs.evicted(kube, second, "Preempted")
    process.kill()
    process_of_the_same_object(evidence, loop, kube, second, high)
    pod, process = start(evidence, second, started)
    assert process.began() == 5, "the launch script finds the newest checkpoint by itself"
    process.until(8)

    process.kill()
    runs.end(kube, pod, 1, lost=True)
    third = next_attempt(evidence, second, "hardy")
    pod, process = start(evidence, third, started)
    assert process.began() == 8
    process.until(trainer.STEPS)
    assert process.result() == trainer.undisturbed()
    runs.end(kube, pod, 0)
    runs.finished(kube, third)
    retired(evidence, kube, third, "hardy")


def next_attempt(evidence: Evidence, item: Object, name: str) -> Object:
    """The attempt that follows a failed one: a new object, the old one gone, the newest checkpoint in its manifest."""
    kube, loop = evidence.loop.kube, evidence.loop
    runs.finished(kube, item)
    evidence.collect()
    said = evidence.advance()
    while f"red/{name}/" in said and "(not before " in said:  # a retry waits for a second
        said = evidence.advance()
    found = loop.object(name)
    assert attempt(found) == attempt(item) + 1, said
    assert found["metadata"]["name"].rpartition("-")[0] == item["metadata"]["name"].rpartition("-")[0]
    newest = max(path.parent.name for path in (evidence.claim / name).glob("step-*/_TAU_COMPLETE.json"))
    env = {entry["name"]: entry.get("value", "") for entry in found["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert env["TAU_RESUME_FROM"].rpartition("/")[2] == newest
    kube.until(runs.kind(item), item["metadata"]["name"], item["metadata"]["namespace"], lambda old: old is None, "pruned")
    return found


def process_of_the_same_object(evidence: Evidence, loop: FluxLoop, kube: Kube, item: Object, high: Object) -> None:
    """A preemption is no failure: collect and advance leave the attempt as it is, and it comes back when there is room."""
    evidence.collect()
    before = loop.head()
    evidence.advance()
    assert loop.head() == before
    for pod in runs.running(kube, high, 4):
        runs.end(kube, pod, 0)
    runs.finished(kube, high)
    runs.admitted(kube, item)
    assert attempt(loop.object("hardy")) == attempt(item)


def retired(evidence: Evidence, kube: Kube, item: Object, name: str) -> None:
    """What is over leaves the deploy branch and the cluster, and no second call changes anything."""
    evidence.collect()
    evidence.advance()
    with pytest.raises(LookupError):
        evidence.loop.object(name)
    kube.until(runs.kind(item), item["metadata"]["name"], item["metadata"]["namespace"], lambda old: old is None, "pruned")
    before = evidence.loop.head(), evidence.files()
    evidence.collect()
    evidence.advance()
    evidence.loop.publish()
    assert evidence.loop.head() == before[0]
    records = [name for name in evidence.files() if name.endswith("record.json")]
    assert len(records) >= attempt(item)


def test_a_run_without_retries_left_is_retired_as_failed(evidence: Evidence, loop: FluxLoop, kube: Kube):
    item = write(loop, "brittle", resilience={"max_retries": 0})
    (pod,) = runs.running(kube, item, 1)
    runs.end(kube, pod, 1)
    runs.finished(kube, item)
    retired(evidence, kube, item, "brittle")


def test_a_cluster_that_is_rebuilt_from_git_starts_no_finished_run_again(evidence: Evidence, loop: FluxLoop, kube: Kube, tmp_path: Path):
    live = write(loop, "alive")
    runs.running(kube, live, 1)
    done = {"hardy", "urgent", "brittle"}
    with rebuilt(loop, WITH, tmp_path / "rebuilt") as fresh:
        bind(fresh)
        assert runs.running(fresh, live, 1)
        found = names(fresh)
        assert "alive" in found
        assert not found & done
        assert holds(fresh.get("kueue.x-k8s.io/v1beta2/ClusterQueue", "steady"), "Active")
