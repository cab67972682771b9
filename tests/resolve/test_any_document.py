"""Whatever a document says, it becomes a run or an error, never a traceback, and the same each time."""

from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taugen.diag import has_errors
from taugen.resolve.explain import explain
from taugen.validate import engine
from tests.resolve.kit import IMAGE, PYTHON, RAY, play

AMOUNTS = ["0", "1", "500m", "64", "2Gi", "64Gi", "8Pi", "1e3", "-1", "many"]
FIELDS: dict[str, dict[str, list[Any]]] = {
    "run": {
        "entrypoint": ["train.py", "lib/x.sh", "nope.py", ["python", "-m", "x"], "../..", "."],
        "workload_kind": ["job", "rayjob", "jobset", "cron"],
        "max_duration": ["1h", "0s", "900h"],
        "grace_period": ["1m", "30h"],
        "args": [["--x", "1"]],
        "source": [{"image": IMAGE, "path": "/src"}],
    },
    "compute": {
        "gpus": [0, 1, 2, 4, 8, 9, 100000, "x"],
        "workers": [1, 2, 7, 100000],
        "cpus": AMOUNTS,
        "memory": AMOUNTS,
        "cpu_limit": AMOUNTS,
        "memory_limit": AMOUNTS,
        "shm_size": AMOUNTS,
        "disk": AMOUNTS,
        "gpu_class": ["any", "l40s-48gb", "h200-141gb", "none"],
        "mig_profile": ["1g.10gb", "half"],
        "rdma": [{"enabled": True}, {"resource": "rdma/ib", "count": 2}, {"enabled": False}],
        "head": [{"cpus": "1", "memory": "4Gi"}, {"memory_limit": "1Gi"}],
    },
    "policy": {
        "profile": ["l40s-small", "h200-node", "cpu", "other"],
        "queue": ["gpu", "cpu", "auto", "research"],
        "priority": ["low", "normal", "urgent", "none"],
        "cluster": ["fjord", "mesa", "moon"],
        "topology": ["same-host", "unconstrained", "same-site"],
        "preferred_topology": ["same-network-domain"],
        "node_affinity": [[{"key": "tern.example/nodes", "values": ["l40s"]}], [{"key": "a", "operator": "Gt", "values": ["x"]}]],
        "team": ["asr"],
        "lane": ["training"],
    },
    "storage": {
        "data": ["audio", "grids", "pvc:speech-audio"],
        "output": ["/data/out", "/tmp", "x"],
        "mounts": [
            [{"name": "ckpt", "storage": "checkpoints", "path": "/checkpoints"}],
            [{"name": "d", "storage": "audio", "path": "/tau"}],
        ],
    },
    "checkpoint": {"path": ["ckpt", "/checkpoints/x", "../x"], "every": ["30m", "100h"], "resume": ["auto", "speech/x/01234567", "foo"]},
    "execution": {
        "launcher": ["python", "torchrun", "ray-train", "ray-tune"],
        "nodes": [1, 2, 9],
        "processes_per_node": [1, 8],
        "configs": [{"lr": 0.1}, {"a": ""}],
    },
    "code": {
        "delivery": ["auto", "configmap", "git", "image"],
        "path": ["lib", "..", "gone"],
        "include": [["*.py"]],
        "exclude": [["lib/"]],
        "git": [{"url": "https://git.tern.example/research/x.git", "ref": "a" * 40}],
    },
    "runtime": {
        "image": [IMAGE, RAY, "docker.io/rayproject/ray"],
        "env": [{"A": "1"}, {"PYTHONPATH": "/x"}],
        "pip": [["torch"]],
        "security": [{"mode": "restricted"}],
        "working_dir": ["/data"],
    },
    "resilience": {"max_retries": [0, 3]},
    "metrics": {"history": [["m.jsonl"]]},
    "workflow": {"extra_scripts": [["lib/x.sh"], ["lib/x.sh:train.py"]]},
}
FILES = {"train.py": PYTHON + "import util\n", "lib/x.sh": "#!/bin/sh\n", "lib/util.py": "", "../lib/train.py": PYTHON}


def section(fields: dict[str, list[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in fields.items()})


DOCUMENTS = st.fixed_dictionaries(
    {"name": st.just("small"), "run": section(FIELDS["run"]), "runtime": section(FIELDS["runtime"]), "compute": section(FIELDS["compute"])},
    optional={"schema_version": st.just(1)} | {name: section(FIELDS[name]) for name in FIELDS if name not in {"run", "runtime", "compute"}},
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, st.sampled_from(["speech", "climate", "protein"]))
def test_any_document(document: dict[str, Any], workspace: str) -> None:
    text = yaml.safe_dump(document, sort_keys=False)
    played = play(text, workspace=workspace, files=FILES)
    again = play(text, workspace=workspace, files=FILES)
    assert played.findings == again.findings
    if played.run is None:
        assert has_errors(played.findings), text
        return
    assert again.run is not None
    assert (played.run.placement, played.run.worker, played.run.env) == (again.run.placement, again.run.worker, again.run.env)
    if not has_errors(played.findings):
        engine.check_run(played.run, played.policy)
        assert explain(played.run, played.policy)
        assert played.run.image
        assert played.run.placement.flavors
        assert bool(played.run.gpus) == bool(played.run.placement.tolerations)
