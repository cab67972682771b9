"""What each field of tau.yaml does: two documents that differ only there, compiled, and what differs in the objects and in the state.

In: the table below, and the small project tests/fixtures/effects. Out: field -> places that changed. A field that is accepted and changes
nothing would be a lie: tests/spec/test_effects.py
holds every field of the model against this table, and docs/fields.md prints it.
"""

import copy
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from taugen.diag import has_errors
from taugen.pipeline.compile import Compiled, Compiler
from taugen.pipeline.project import open_project
from taugen.publish import state
from taugen.spec.read import read_file
from taugen.words import Json

FIXTURE = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "effects"
IMAGE, OTHER = (f"docker.io/library/python:ray2.56.0@sha256:{digit * 64}" for digit in "01")
SHA = "0123456789abcdef0123456789abcdef01234567"
DATA = {
    "mounts": [{"name": "d", "storage": "data", "path": "/data"}, {"name": "m", "storage": "more", "path": "/more"}],
    "output": "/data/out",
}


class Probe(NamedTuple):
    """A base document (by name), changes that the field needs, and its two values; None leaves the field out."""

    base: str
    needs: Mapping[str, Any]
    one: Any
    two: Any


LARGE = {"gpu_class": "h100-80gb", "cpus": 4, "memory": "64Gi"}


def _base(kind: str, compute: dict[str, Any]) -> dict[str, Any]:
    return {"name": "probe", "run": {"entrypoint": "train.py", "workload_kind": kind}, "runtime": {"image": IMAGE}, "compute": compute}


BASES: dict[str, dict[str, Any]] = {
    "job": _base("job", {"gpus": 0, "cpus": 4, "memory": "8Gi"}),
    "gpu": _base("job", {"gpus": 2, **LARGE}),
    "ray": _base("rayjob", {"gpus": 1, **LARGE}),
}
BASES["gang"] = {**BASES["gpu"], "run": {**BASES["gpu"]["run"], "max_duration": "1h"}, "execution": {"launcher": "torchrun", "nodes": 2}}
BASES["tune"] = {**BASES["ray"], "execution": {"launcher": "ray-tune", "metric": "loss", "configs": {"lr": {"uniform": [0, 1]}}}}
BASES["data"] = {**BASES["job"], "storage": DATA}
BASES["model"] = {**BASES["job"], "model": {"name": "m"}}
WORKSPACES = {"shaped": {**BASES["gpu"], "compute": {}}, "both": BASES["job"]}

GIT = {"code.delivery": "git", "run.entrypoint": ["python", "train.py"], "code.git": {"url": "https://git.example.org/a.git", "ref": SHA}}
CHECKPOINT = {"checkpoint.path": "/data/steps"}
AFFINE = {"compute.gpu_class": "a100-80gb", "policy.node_affinity": [{"key": "disk", "operator": "In", "values": ["z1"]}]}
MOUNT = {"storage.mounts": [{"name": "d", "storage": "data", "path": "/x"}]}
ASSET = {"storage.image_assets": [{"name": "a", "image": IMAGE, "source_path": "/in", "mount_path": "/opt/in"}]}
RETRY = {"resilience.max_retries": 2, "checkpoint": {"path": "/data/steps", "every": "30m"}}

PROBES: dict[str, Probe] = {
    "labels": Probe("job", {}, {"a": "b"}, {"a": "c"}),
    "run.entrypoint": Probe("job", {}, "train.py", "other.py"),
    "run.args": Probe("job", {}, ["1"], ["2"]),
    "run.workload_kind": Probe("gang", {}, "job", "jobset"),
    "run.setup": Probe("job", {}, "true", "false"),
    "run.source.image": Probe("job", {"run.source": {"image": IMAGE, "path": "/code"}}, IMAGE, OTHER),
    "run.source.path": Probe("job", {"run.source": {"image": IMAGE, "path": "/code"}}, "/code", "/src"),
    "run.max_duration": Probe("job", {}, "1h", "2h"),
    "run.grace_period": Probe("job", {}, "1m", "2m"),
    "code.path": Probe("job", {}, ".", "sub"),
    "code.include": Probe("job", {}, None, ["train.py"]),
    "code.exclude": Probe("job", {}, None, ["other.py"]),
    "code.delivery": Probe("job", {"run.entrypoint": ["python", "train.py"]}, "configmap", "image"),
    "code.git.url": Probe("job", GIT, "https://git.example.org/a.git", "https://git.example.org/b.git"),
    "code.git.ref": Probe("job", GIT, SHA, SHA[::-1]),
    "code.git.secret": Probe("job", GIT, None, "deploy:key"),
    "runtime.image": Probe("job", {}, IMAGE, OTHER),
    "runtime.pip": Probe("job", {}, None, ["numpy==2.2.0"]),
    "runtime.working_dir": Probe("job", {}, None, "/work"),
    "runtime.env": Probe("job", {}, {"A": "1"}, {"A": "2"}),
    "runtime.env_secret": Probe("job", {}, {"A": "token:one"}, {"A": "token:two"}),
    "runtime.python": Probe("job", {}, None, "/opt/bin/python"),
    "runtime.security.mode": Probe("job", {}, None, "restricted"),
    "compute.workers": Probe("ray", {}, 1, 2),
    "compute.gpus": Probe("gpu", {}, 1, 2),
    "compute.gpu_class": Probe("gpu", {}, "h100-80gb", "a100-80gb"),
    "compute.cpus": Probe("job", {}, 1, 2),
    "compute.memory": Probe("job", {}, "1Gi", "2Gi"),
    "compute.cpu_limit": Probe("job", {}, None, 8),
    "compute.memory_limit": Probe("job", {}, None, "16Gi"),
    "compute.shm_size": Probe("job", {}, None, "2Gi"),
    "compute.disk": Probe("job", {}, None, "2Gi"),
    "compute.head.cpus": Probe("ray", {}, 2, 4),
    "compute.head.memory": Probe("ray", {}, "8Gi", "16Gi"),
    "compute.head.cpu_limit": Probe("ray", {}, None, 6),
    "compute.head.memory_limit": Probe("ray", {}, None, "32Gi"),
    "compute.mig_profile": Probe("gpu", {"compute": {"gpus": 1, "cpus": 4, "memory": "64Gi"}}, "1g.10gb", "2g.20gb"),
    "compute.rdma.enabled": Probe("shaped", {"policy.profile": "fast"}, None, False),
    "compute.rdma.resource": Probe("gang", {"compute.rdma": {"enabled": True, "resource": "rdma/ib"}}, "rdma/ib", "rdma/roce"),
    "compute.rdma.count": Probe("gang", {"compute.rdma": {"enabled": True, "resource": "rdma/ib"}}, 1, 2),
    "policy.profile": Probe("shaped", {}, "small", "large"),
    "policy.queue": Probe("job", {}, "main", "other"),
    "policy.priority": Probe("job", {}, "low", "high"),
    "policy.team": Probe("job", {}, "a", "b"),
    "policy.lane": Probe("job", {}, "eval", "training"),
    "policy.topology": Probe("gang", {}, "same-network-domain", "unconstrained"),
    "policy.preferred_topology": Probe("gang", {}, "same-network-domain", "same-host"),
    "policy.cluster": Probe("both", {}, "near", "far"),
    "policy.node_affinity[].key": Probe("gpu", AFFINE, "disk", "other"),
    "policy.node_affinity[].operator": Probe("gpu", AFFINE, "In", "NotIn"),
    "policy.node_affinity[].values": Probe("gpu", AFFINE, ["z1"], ["z1", "z2"]),
    "storage.data": Probe("job", {}, "data", "more"),
    "storage.output": Probe("data", {}, "/data/out", "/more/out"),
    "storage.mounts[].name": Probe("data", {}, "d", "e"),
    "storage.mounts[].storage": Probe("job", MOUNT, "data", "more"),
    "storage.mounts[].path": Probe("job", MOUNT, "/x", "/y"),
    "storage.mounts[].read_only": Probe("job", MOUNT, None, True),
    "checkpoint.path": Probe("data", {}, "/data/a", "/data/b"),
    "checkpoint.every": Probe("data", CHECKPOINT, "10m", "20m"),
    "checkpoint.keep": Probe("data", CHECKPOINT, 1, 2),
    "checkpoint.resume": Probe("data", CHECKPOINT, "auto", "never"),
    "execution.launcher": Probe("gpu", {}, "python", "torchrun"),
    "execution.nodes": Probe("gang", {}, 2, 3),
    "execution.processes_per_node": Probe("gang", {}, None, 1),
    "execution.configs": Probe("job", {}, {"lr": "0.1"}, {"lr": "0.2"}),
    "execution.metric": Probe("tune", {}, "loss", "error"),
    "execution.mode": Probe("tune", {}, "min", "max"),
    "execution.num_samples": Probe("tune", {}, 1, 2),
    "execution.max_concurrent_trials": Probe("tune", {}, 1, 2),
    "resilience.max_retries": Probe("data", RETRY, 2, 3),
    "resilience.retry_on": Probe("data", RETRY, ["Evicted"], ["Preempted"]),
    "resilience.fatal_exit_codes": Probe("data", RETRY, [1], [2]),
    "resilience.backoff_initial": Probe("data", RETRY, "1m", "2m"),
    "resilience.backoff_max": Probe("data", RETRY, "10m", "20m"),
    "metrics.history": Probe("data", {}, ["a.jsonl"], ["b.jsonl"]),
    "metrics.prometheus": Probe("job", {}, {"util": "up"}, {"util": "down"}),
    "experiment.project": Probe("job", {}, "a", "b"),
    "experiment.name": Probe("job", {}, "a", "b"),
    "experiment.group": Probe("job", {}, "a", "b"),
    "experiment.hyperparameters": Probe("job", {}, {"lr": 1}, {"lr": 2}),
    "experiment.seed": Probe("job", {}, 1, 2),
    "model.name": Probe("model", {}, "a", "b"),
    "model.base": Probe("model", {}, "a", "b"),
    "model.task": Probe("model", {}, "a", "b"),
    "model.tags": Probe("model", {}, ["a"], ["b"]),
    "model.primary_metric": Probe("model", {}, "a", "b"),
    "model.metric_direction": Probe("model", {}, "lower", "higher"),
    "workflow.extra_scripts": Probe("job", {}, None, ["sub/train.py:more.py"]),
    "storage.image_assets[].name": Probe("job", ASSET, "a", "b"),
    "storage.image_assets[].image": Probe("job", ASSET, IMAGE, OTHER),
    "storage.image_assets[].source_path": Probe("job", ASSET, "/in", "/on"),
    "storage.image_assets[].mount_path": Probe("job", ASSET, "/opt/in", "/opt/on"),
}

ELSEWHERE = {
    "schema_version": "which of TauGrid's dialects the file is in, and so what it means to leave GPUs out",
    "name": "the name of every object, and the run's id",
    "description": "for people: never part of the run's identity",
    "generation": "the run's identity: another number is another run",
    "cancelled": "publish ends the run",
    "on_edit": "publish: what happens to the older run",
    "workspace": "must repeat the folder's name",
    "policy.namespace": "must repeat the workspace's namespace",
    "execution.allow_nccl_override": "permits NCCL_* in runtime.env",
    "run.ttl_seconds_after_finished": "none, said in a note",
    "metrics.offload.enabled": "none, said in a note",
    "metrics.offload.image": "none, said in a note",
    "metrics.offload.out": "none, said in a note",
}
"""Fields whose effect is not in an object or the state of the run itself."""


def effects(field: str) -> list[str]:
    """The places that differ between the two documents of a field, shortened for people, in order. Raises ValueError if a document has
    errors."""
    probe = PROBES[field]
    one, two = (_places(_compiled(field, probe, value)) for value in (probe.one, probe.two))
    kinds = [{place.partition(".")[0] for place in places} for places in (one, two)]
    alone = kinds[0] ^ kinds[1]
    changed = [place for place in dict.fromkeys([*one, *two]) if one.get(place) != two.get(place)]
    found = [f"{kind}: the whole object" if (kind := place.partition(".")[0]) in alone else short(place) for place in changed]
    return list(dict.fromkeys(found))


def _compiled(field: str, probe: Probe, value: Any) -> Compiled:
    document = copy.deepcopy(WORKSPACES.get(probe.base) or BASES[probe.base])
    workspace = probe.base if probe.base in WORKSPACES else "lab"
    for path, needed in probe.needs.items():
        _put(document, path, copy.deepcopy(needed))
    if value is not None:
        _put(document, field, value)
    raw = yaml.safe_dump(document, sort_keys=False).encode()
    (doc,), found = read_file(f"workspaces/{workspace}/run/tau.yaml", raw, workspace)
    compiled = compiler().compile(doc)
    if found or has_errors(compiled.findings):
        raise ValueError(f"{field}: {[*found, *compiled.findings]}")
    return compiled


@cache
def compiler() -> Compiler:
    """The fixture, opened once."""
    return Compiler(open_project(FIXTURE))


def _put(document: dict[str, Any], path: str, value: Any) -> None:
    here: Any = document
    *parents, last = path.split(".")
    for part in parents:
        here = here.setdefault(part.removesuffix("[]"), {})
        here = here[0] if part.endswith("[]") else here
    here[last] = value


def _places(compiled: Compiled) -> dict[str, Json]:
    """Place -> value over all objects and the state; what follows from the run's identity alone is left out."""
    assert compiled.run is not None
    digest = compiled.doc.digest
    out: dict[str, Json] = {}
    for item in compiled.rendered:
        out |= dict(leaves(item.obj, item.kind))
    out |= dict(leaves(yaml.safe_load(state.of(compiled.run, "").body), "state"))
    return {k: v.replace(digest, "").replace(digest[:8], "") if isinstance(v, str) else v for k, v in out.items() if not _identity(k)}


def _identity(place: str) -> bool:
    return place.endswith(("taugen.dev/digest", "intent.digest"))


def leaves(node: Json, place: str) -> Iterator[tuple[str, Json]]:
    """(place, value) of everything in an object, elements of a list by their name where they have one."""
    if isinstance(node, dict) and node:
        for key, value in node.items():
            yield from leaves(value, f"{place}.{key}")
    elif isinstance(node, list) and node:
        for at, value in enumerate(node):
            name = value.get("name", at) if isinstance(value, dict) else at
            yield from leaves(value, f"{place}[{name}]")
    else:
        yield place, node


def fields(node: Any, defs: Any, path: str = "") -> Iterator[str]:
    """The fields of a schema that hold a value: lists of mappings by their fields, free mappings as one, if their values have no fields."""
    if "$ref" in node:
        node = {**defs[node["$ref"].removeprefix("#/$defs/")], **{key: value for key, value in node.items() if key != "$ref"}}
    values = node.get("additionalProperties")
    if node.get("type") == "array" and "$ref" in node["items"]:
        yield from fields(node["items"], defs, f"{path}[]")
    elif isinstance(values, dict) and "$ref" in values:
        yield from fields(values, defs, f"{path}.NAME")
    elif node.get("properties"):
        for name, part in node["properties"].items():
            yield from fields(part, defs, f"{path}.{name}" if path else name)
    else:
        yield path


_VARIABLE = re.compile(r"^(\w+)\..*\.(?:env)\[(\w+)\]\.(?:value|valueFrom.*|name)$")


def short(place: str) -> str:
    """`Job: env TAU_WORLD_SIZE`, `RayJob: …resources.requests.cpu`."""
    variable = _VARIABLE.match(place)
    if variable:
        return f"{variable[1]}: env `{variable[2]}`"
    kind, _, rest = place.partition(".")
    kind = kind.partition("[")[0]
    for mark in ("containers[", "initContainers[", "volumes[", "nodeSelectorTerms[", "metadata.labels", "metadata.annotations"):
        at = rest.rfind(mark)
        if at > 0 and not rest.startswith("metadata"):
            rest = rest[at:]
            break
    rest = re.sub(r"^(containers|initContainers)\[[^\]]*\]\.", "", rest)
    rest = re.sub(r"\[([^\]]*)\](\.name\b)?", r"[]", rest)
    return f"{kind}: `{rest.removeprefix('spec.')}`"
