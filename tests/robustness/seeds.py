"""What the mutants are made from: the documents of the examples and of the fixture, and shapes that neither has.

In: the repository. Out: run documents with their place, policy files by project, and the places where fields can stand.
"""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from taugen.pipeline import schemas

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = {"examples": ROOT / "examples", "acme": ROOT / "tests" / "fixtures" / "acme"}
IMAGE = "registry.meridian.example/ml/ray:2.56.0-py312@sha256:" + "c" * 64
TREE = {
    "train.py": "import lib.model\n",
    "lib/__init__.py": "",
    "lib/model.py": "X = 1\n",
    "run.sh": "#!/bin/sh\necho hi\n",
    "data.bin": b"\0\1\2",
}
"""Code that stands beside every run document."""


class Run(NamedTuple):
    """A run document of the project `examples`: its workspace and its data."""

    workspace: str
    data: dict[str, Any]


_EXTRA = (
    ("speech", """
name: direct-ray
engine: rayjob
entrypoint: train.py
image: docker.io/library/x-ray2.50.0@sha256:1111111111111111111111111111111111111111111111111111111111111111
labels: {a: b, c: 3}
compute: {workers: 2, gpus_per_worker: 1, worker_cpu_request: 8, worker_memory_request: 64Gi, head_cpu_request: 2, head_memory_limit: 16Gi}
policy: {profile: a100, queue: auto, gpu_class: a100-80gb, topology: independent, priority_tier: batch, mode: fixed, disable_default_priorities: false}
storage: {data_pvc: speech-corpora, output: /data/x}
resilience: {max_retries: 2, checkpoint_path: /data/x/steps, retry_on: [OOMKilled]}
run: {working_dir: lib, ttl_seconds_after_finished: 600}
"""),
    ("speech", """
schema_version: 1
name: managed
run: {main_script: train.py, workload_kind: ray}
compute: {gpus: 1, workers: 2, cpus: 11, cpu_limit: 12, worker_memory: 100Gi, worker_memory_limit: 120Gi}
runtime:
  pip: [torch>=2, "numpy==2.0"]
  env: [{name: A, value: "1"}, {name: B, valueFrom: {secretKeyRef: {name: tracking, key: api}}}]
  rdma: {enabled: false}
storage: {mounts: [{name: d, mountPath: /more, pvc: speech-corpora, readOnly: false}]}
artifacts: {checkpoint: steps}
model: {name: m, base: b, task: t, tags: [x], primary_metric: wer, metric_direction: lower}
research: {experiment: e}
policy: {profile: a100}
eval: {}
workflow: {extra_scripts: ["run.sh", "lib/model.py:other.py"]}
experiment: {project: p, title: some title}
"""),
    ("robots", """
name: from-image
run:
  entrypoint: src/go.py
  workload_kind: job
  source: {image: registry.meridian.example/robots/code@sha256:1111111111111111111111111111111111111111111111111111111111111111, path: /src}
runtime: {image: registry.meridian.example/ml/torch@sha256:1111111111111111111111111111111111111111111111111111111111111111, python: /usr/bin/python3, security: {mode: restricted}}
compute: {gpus: 2, cpus: 4, memory: 8Gi, cpu_limit: 8, memory_limit: 8Gi}
policy: {profile: a100, cluster: fjord, lane: training, team: t, node_affinity: [{key: kubernetes.io/arch, values: [amd64]}]}
storage:
  image_assets: [{name: tok, image: registry.meridian.example/ml/tok@sha256:2222222222222222222222222222222222222222222222222222222222222222, source_path: /t, mount_path: /opt/tok}]
execution: {launcher: python, configs: {lr: 1e-3, flag: "", n: 3}}
"""),
    ("protein", """
name: ring
run: {entrypoint: train.py, workload_kind: jobset, args: [--a, 1.50, yes-please], setup: "echo hi\\n"}
generation: 3
cancelled: false
on_edit: beside
workspace: protein
code: {path: ., include: ["**/*.py"], exclude: [lib/old], delivery: configmap}
compute: {gpus: 8, rdma: {enabled: true, resource: rdma/ib, count: 8}}
policy: {profile: h100-node, preferred_topology: same-network-domain, namespace: team-protein}
execution: {launcher: torchrun, nodes: 2, processes_per_node: 4, allow_nccl_override: true}
runtime: {image: docker.io/library/torch@sha256:3333333333333333333333333333333333333333333333333333333333333333, env: {NCCL_DEBUG: INFO, A: $x}, env_secret: {}}
metrics: {history: [m.jsonl], prometheus: {gpu: 'avg(x)'}, offload: {enabled: false}}
budget: {}
checkpoint: {path: steps, every: 10m, keep: 1, resume: protein/ring/01234567}
storage: {mounts: [{name: c, storage: checkpoints, path: /checkpoints, read_only: false}], output: /checkpoints/ring}
"""),
    ("speech", "{name: sliced, script: run.sh, image: docker.io/library/x@sha256:" + "1" * 64 + ", compute: {gpus: 0, cpus: 1, memory: 1Gi}, policy: {profile: cpu}}"),
)  # fmt: skip


@cache
def runs() -> tuple[Run, ...]:
    """All run documents."""
    found = []
    for path in sorted((PROJECTS["examples"] / "workspaces").rglob("tau.yaml")):
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        entry = data.get("run", {}).get("entrypoint", data.get("script"))
        if isinstance(entry, str) and entry not in TREE:
            (data["run"] if "script" not in data else data)["entrypoint" if "script" not in data else "script"] = "train.py"
        found.append(Run(path.relative_to(PROJECTS["examples"]).parts[1], data))
    return (*found, *(Run(workspace, yaml.safe_load(text)) for workspace, text in _EXTRA))


@cache
def policy_files(project: str) -> dict[str, list[Any]]:
    """The policy files of a project as lists of documents, taugen.yaml among them."""
    root = PROJECTS[project]
    files = [root / "taugen.yaml", *sorted((root / "policy").rglob("*.y*ml"))]
    return {str(path.relative_to(root)): [d for d in yaml.safe_load_all(path.read_text(encoding="utf-8")) if d] for path in files}


@cache
def fields(kind: str) -> tuple[tuple[str, ...], ...]:
    """The paths of every field of a schema, lists left out."""
    schema = schemas.schema(kind)
    return tuple(_fields(schema, schema.get("$defs", {}), ()))


def _fields(node: Any, defs: Any, path: tuple[str, ...]) -> Any:
    for option in (node, *node.get("anyOf", ()), *node.get("allOf", ())):
        target = defs[option["$ref"].removeprefix("#/$defs/")] if "$ref" in option else option
        for name, part in target.get("properties", {}).items():
            yield (*path, name)
            yield from _fields(part, defs, (*path, name))
