"""For every leaf of every kind: a misspelling, a wrong type and a value out of its limit are each one finding at its line.

The samples below hold every field there is; a test says so.
"""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any, Literal, get_args, get_origin

import pytest
from annotated_types import Ge, Gt, Le, Lt, MaxLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from taugen.diag import Diagnostic
from taugen.load.nodes import Document, parse
from taugen.policy import model
from taugen.policy.load import load_policy
from taugen.spec.types import Form
from taugen.words.emit import emit
from tests.policykit import MemoryTree

RUNTIME = {
    "image": "registry.tern.example/base@sha256:" + "1" * 64,
    "pip": ["einops"],
    "working_dir": "/work",
    "env": {"A": "b"},
    "env_secret": {"B": "tracker:key"},
    "python": "python3.12",
    "security": {"mode": "restricted"},
}
COMPUTE = {
    "workers": 2,
    "gpus": 1,
    "gpu_class": "l40s-48gb",
    "cpus": "4",
    "memory": "16Gi",
    "cpu_limit": "8",
    "memory_limit": "32Gi",
    "shm_size": "2Gi",
    "disk": "10Gi",
    "head": {"cpus": "2", "memory": "8Gi", "cpu_limit": "2", "memory_limit": "8Gi"},
    "mig_profile": "1g.10gb",
    "rdma": {"enabled": True, "resource": "rdma/ib", "count": 1},
}
STORAGE = {
    "data": "audio",
    "output": "/data/out",
    "mounts": [{"name": "a", "storage": "audio", "path": "/a", "read_only": True}],
}
RESILIENCE = {"max_retries": 2, "retry_on": ["Evicted"], "fatal_exit_codes": [3], "backoff_initial": "1m", "backoff_max": "30m"}
DEFAULTS = {
    "images": {"job": "a/b", "jobset": "a/b", "rayjob": "a/b"},
    "runtime": RUNTIME,
    "compute": COMPUTE,
    "storage": STORAGE,
    "resilience": RESILIENCE,
    "labels": {"tern.example/team": "x"},
    "priority": "low",
    "max_duration": "72h",
    "grace_period": "5m",
}
QUOTAS = [{"flavor": "cpu", "resources": {"cpu": {"nominal": "4", "borrow": "2", "lend": "1"}}}]
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
SAMPLES: dict[str, dict[str, Any]] = {
    "Project": {
        "policy": [{"path": "policy"}, {"git": {"url": "https://git.tern.example/p", "ref": "main", "path": "x"}}],
        "runs": ["workspaces/*/**/tau.yaml"],
        "overlays": "overlays",
        "output": {"url": "https://git.tern.example/fleet", "branch": "deploy", "path": "clusters"},
        "evidence": {"url": "https://git.tern.example/evidence", "branch": "evidence"},
        "safety": {"cancel": "confirm"},
    },
    "Platform": {
        "versions": {"kubernetes": "1.36", "kueue": "0.19", "kuberay": "1.7", "jobset": "0.12", "nodeReadinessController": "0.5"},
        "images": {"allow": ["registry.tern.example"], "digests": "warn"},
        "code": {"allow": ["https://git.tern.example"]},
        "pricing": {"cpu": 0.5},
        "defaults": DEFAULTS,
        "queueing": {"fairSharing": {"enable": True}},
    },
    "Cluster": {
        "gitops": {
            "engine": "argocd",
            "url": "https://git.tern.example/fleet",
            "branch": "deploy",
            "path": "clusters/x",
            "namespace": "argocd",
            "project": "platform",
        },
        "nodePools": [
            {
                "name": "general",
                "count": 2,
                "instanceType": "m7i",
                "labels": {"tern.example/nodes": "general"},
                "taints": [TAINT],
                "allocatable": {"cpu": "62"},
                "gpuClass": "h200-141gb",
                "gpus": 8,
            }
        ],
        "labels": {"region": "north"},
        "overlays": ["eks"],
        "collector": {
            "image": "registry.tern.example/base/taugen:1",
            "url": "https://git.tern.example/evidence",
            "secret": "key",
            "keys": ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDIhz2GK/XCUj4i6Q5yQJNL1MKMY0RxzPV2QrBqfHrDq"],
            "logs": {"every": "10m", "store": "s3://logs"},
            "storages": {"data": "data"},
        },
        "metrics": {"prometheus": "http://prometheus:9090", "queries": {"gpu": "avg(x)"}},
        "role": "standalone",
    },
    "Flavor": {
        "gpuClass": "h200-141gb",
        "nodeLabels": {"tern.example/nodes": "h200"},
        "nodeTaints": [TAINT],
        "topology": "fabric",
        "clusters": ["mesa"],
    },
    "Topology": {"levels": [{"label": "kubernetes.io/hostname", "domain": "same-host"}]},
    "Cohort": {"parent": "top", "quotas": QUOTAS, "fairSharing": {"weight": "2"}},
    "Queue": {
        "cohort": "lab",
        "quotas": QUOTAS,
        "strategy": "StrictFIFO",
        "preemption": {
            "withinClusterQueue": "LowerPriority",
            "reclaimWithinCohort": "Any",
            "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 100},
        },
        "fungibility": {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "MayStopSearch"},
        "fairSharing": {"weight": "2"},
        "admissionChecks": ["provisioning"],
        "stop": "Hold",
        "clusters": ["mesa"],
    },
    "PriorityTier": {"value": 5, "description": "x"},
    "Profile": {
        "applies": {"workspaces": ["speech"], "teams": ["a"], "lanes": ["eval"]},
        "kinds": ["job"],
        "gpus": 1,
        "workers": 1,
        "gpuClass": "l40s-48gb",
        "cpuPerGpu": "4",
        "memoryPerGpu": "16Gi",
        "shm": "1Gi",
        "topology": "same-host",
        "nccl": {"NCCL_DEBUG": "INFO"},
        "rdma": {"resource": "rdma/ib", "count": 1},
        "image": "a/b",
        "queue": "research",
        "priority": "low",
        "override": {"gpus": {"min": "1", "max": "4", "oneOf": ["1"]}},
    },
    "Workspace": {
        "namespace": "lab-x",
        "owners": {"groups": ["a"], "users": ["b"]},
        "viewers": {"groups": ["a"], "users": ["b"]},
        "queues": [{"name": "gpu", "queue": "research", "default": True}],
        "profiles": ["cpu"],
        "identity": {"serviceAccount": "x", "annotations": {"a": "b"}, "token": True},
        "storage": ["audio"],
        "secrets": ["tracker"],
        "limits": {"gpusPerRun": 4},
        "network": {"egress": [{"to": "10.0.0.0/8", "ports": [443]}]},
        "podSecurity": "baseline",
        "defaults": DEFAULTS,
        "on_edit": "wait",
        "clusters": ["mesa"],
    },
    "Storage": {
        "claim": {"existing": "x", "storageClass": "nvme", "size": "1Ti", "accessModes": ["ReadWriteMany"]},
        "path": "/data",
        "readOnly": True,
        "workspaces": ["speech"],
    },
    "HealthPolicy": {
        "gpuClasses": ["h200-141gb"],
        "nodes": {"tern.example/block": "a"},
        "checks": [{"name": "xid", "source": "xid", "threshold": 0.5, "window": "10m"}],
        "actions": [
            {
                "condition": "GpuXid",
                "taint": {"key": "taugen.dev/gpu-health", "effect": "NoSchedule"},
                "event": "Warning",
                "after": "2m",
                "clearAfter": "15m",
            }
        ],
        "maxTainted": "10%",
        "running": "leave",
        "interval": "1m",
        "runtimeClass": "nvidia",
        "driverRoot": "/run/nvidia/driver",
        "dcgm": "localhost:5555",
        "images": {"runner": "a/b", "nodeProblemDetector": "a/b", "dcgmExporter": "a/b"},
    },
}

Path = tuple[str | int, ...]
FREE = {
    "labels", "nodes", "nodeLabels", "annotations", "allocatable", "resources", "pricing", "nccl", "override", "env", "env_secret",
    "storages", "queries",
}  # fmt: skip
"""Mappings whose keys are the user's."""
TEXT_OF_USERS = {"nccl", "env"}
"""Values that arrive as typed, so that a number is no mistake."""


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from leaves(inner, (*path, at))
    else:
        yield path


def keys(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every key that is a field's name."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not path or path[-1] not in FREE:
                yield (*path, key)
            yield from keys(inner, (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from keys(inner, (*path, at))


def put(value: Any, path: Path, new: Any) -> Any:
    copy = deepcopy(value)
    inner = copy
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = new
    return copy


def renamed(value: Any, path: Path, new: str) -> Any:
    copy = deepcopy(value)
    inner = copy
    for part in path[:-1]:
        inner = inner[part]
    items = [(new if key == path[-1] else key, item) for key, item in inner.items()]
    inner.clear()
    inner.update(items)
    return copy


def check(kind: str, spec: Any) -> tuple[list[Diagnostic], Document]:
    text = emit({"apiVersion": model.API_VERSION, "kind": kind, "metadata": {"name": "x"}, "spec": spec})
    file = "taugen.yaml" if kind == "Project" else "policy/x.yaml"
    project = emit({"apiVersion": model.API_VERSION, "kind": "Project", "metadata": {"name": "x"}})
    _, found = load_policy(MemoryTree({"taugen.yaml": project, "policy/y.yaml": "# none\n", file: text}))
    return [d for d in found if d.rule not in {"policy-source", "policy-lock"}], parse(file, text.encode())[0][0]


def told(kind: str, spec: Any, path: Path, *, key: bool = False) -> Diagnostic:
    found, document = check(kind, spec)
    assert len(found) == 1, found
    span = document.span(("spec", *path), key=key)
    assert (found[0].span.file, found[0].span.line) == (span.file, span.line), (found[0], span)
    assert found[0].message
    assert found[0].path.startswith("spec")
    return found[0]


@cache
def info(kind: str) -> dict[Path, FieldInfo]:
    """The field at each generic path (lists and free keys as `*`)."""
    out: dict[Path, FieldInfo] = {}

    def walk(spec: type[BaseModel], path: Path) -> None:
        for name, field in spec.model_fields.items():
            out[(*path, name)] = field
            for inner, more in inside(field.annotation):
                walk(inner, (*path, name, *more))

    walk(model.KINDS[kind], ())
    return out


def inside(annotation: Any) -> Iterator[tuple[type[BaseModel], Path]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation, ()
        return
    args = get_args(annotation)
    step: Path = ("*",) if get_origin(annotation) in {list, dict} else ()
    for arg in args:
        for found, path in inside(arg):
            yield found, (*step, *path)


def generic(path: Path) -> Path:
    out: list[str | int] = []
    for part in path:
        out.append("*" if isinstance(part, int) or (out and out[-1] in FREE) else part)
    return tuple(out)


def limits(annotation: Any, metadata: Any = ()) -> Iterator[Any]:
    """All constraints of a type, those of its members included."""
    yield from metadata
    if get_origin(annotation) is not Literal:
        for arg in get_args(annotation):
            if isinstance(arg, FieldInfo):
                yield from arg.metadata
            else:
                yield arg
                yield from limits(arg)


LEAVES = [(kind, path) for kind, sample in SAMPLES.items() for path in leaves(sample)]
KEYS = [(kind, path) for kind, sample in SAMPLES.items() for path in keys(sample)]


def label(value: Any) -> str:
    return value if isinstance(value, str) else ".".join(map(str, value))


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_samples_are_whole_and_right(kind: str) -> None:
    assert set(info(kind)) == {generic(path) for path in keys(SAMPLES[kind])}
    assert check(kind, SAMPLES[kind])[0] == []
    assert set(SAMPLES) == set(model.KINDS)


@pytest.mark.parametrize("kind", SAMPLES)
def test_every_field_says_what_it_is_for(kind: str) -> None:
    spec_fields = {path for path, field in info(kind).items() if not field.description}
    assert {path for path in spec_fields if "defaults" not in path} == set()


@pytest.mark.parametrize(("kind", "path"), KEYS, ids=label)
def test_a_misspelling(kind: str, path: Path) -> None:
    wrong = f"{path[-1]}q"
    found = told(kind, renamed(SAMPLES[kind], path, wrong), (*path[:-1], wrong), key=True)
    assert found.rule == "unknown-key"
    assert str(path[-1]) in found.hint


@pytest.mark.parametrize(("kind", "path"), LEAVES, ids=label)
def test_a_wrong_type(kind: str, path: Path) -> None:
    found = told(kind, put(SAMPLES[kind], path, {"nonsense": [1]}), path)
    assert found.rule in {"value-type", "value-form", "value-choice"}
    assert found.hint


@pytest.mark.parametrize(("kind", "path"), LEAVES, ids=label)
def test_nothing_where_something_is_needed(kind: str, path: Path) -> None:
    """An empty value is as good as none for what may be left out, and one finding for the rest."""
    found, document = check(kind, put(SAMPLES[kind], path, None))
    assert len(found) <= 1, found
    if found:
        assert found[0].span.line == document.span(("spec", *path)).line


@pytest.mark.parametrize(("kind", "path"), LEAVES, ids=label)
def test_a_value_out_of_its_limit(kind: str, path: Path) -> None:
    field = info(kind).get(generic(path)) or info(kind)[generic(path)[:-1]]
    sample = SAMPLES[kind]
    tried = 0
    for limit in limits(field.annotation, field.metadata):
        for bad in beyond(limit):
            told(kind, put(sample, path, bad), path)
            tried += 1
    if any(get_origin(part) is Literal for part in [field.annotation, *limits(field.annotation)]):
        assert told(kind, put(sample, path, "nonsense"), path).rule == "value-choice"
        tried += 1
    if tried == 0 and isinstance(value_at(sample, path), str) and (len(path) < 2 or path[-2] not in TEXT_OF_USERS):
        for bad in (5, True):
            if bad == 5 and quantity_like(field):
                continue
            told(kind, put(sample, path, bad), path)


def value_at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def quantity_like(field: FieldInfo) -> bool:
    texts = [str(part.schema() if isinstance(part, Form) else part) for part in limits(field.annotation, field.metadata)]
    return any(word in text for text in texts for word in ("Quantity", "_quantity", "_bound", "_share"))


def beyond(limit: Any) -> Iterator[Any]:
    """Values just outside."""
    if isinstance(limit, Form):
        schema: Any = limit.schema()
        yield from (schema[key] + step for key, step in (("ge", -1), ("le", 1)) if key in schema)
        yield from beyond(MaxLen(schema.get("max_length") or 0))
    if isinstance(limit, Ge):
        yield limit.ge - 1
    elif isinstance(limit, Gt):
        yield limit.gt
    elif isinstance(limit, Le):
        yield limit.le + 1
    elif isinstance(limit, Lt):
        yield limit.lt
    elif isinstance(limit, MaxLen) and limit.max_length > 64:
        yield "x" * (limit.max_length + 1)


@pytest.mark.parametrize(
    ("kind", "path", "bad"),
    [
        ("Topology", ("levels",), []),
        ("Topology", ("levels",), [{"label": f"a/l{n}", "domain": "same-host"} for n in range(17)]),
        ("Queue", ("quotas",), []),
        ("Queue", ("quotas", 0, "resources"), {}),
        ("Queue", ("admissionChecks",), [f"c{n}" for n in range(65)]),
        ("Workspace", ("queues",), []),
        ("Storage", ("workspaces",), []),
        ("Storage", ("claim", "accessModes"), []),
        ("Project", ("policy",), []),
        ("Project", ("runs",), []),
        ("Profile", ("override", "gpus", "oneOf"), []),
        ("Platform", ("pricing", "cpu"), "0.5"),
        ("Cluster", ("nodePools", 0, "count"), 1.5),
        ("Cluster", ("nodePools", 0, "labels", "tern.example/nodes"), "-x"),
        ("Cluster", ("nodePools", 0, "labels", "tern.example/nodes"), "x" * 64),
        ("Cluster", ("nodePools", 0, "allocatable", "cpu"), "1.0001"),
        ("Flavor", ("nodeTaints", 0, "key"), "a b"),
        ("Workspace", ("namespace",), "x" * 64),
        ("Workspace", ("identity", "serviceAccount"), "X"),
        ("Workspace", ("secrets", 0), "a..b"),
    ],
)  # fmt: skip
def test_limits_of_lists_and_texts(kind: str, path: Path, bad: Any) -> None:
    assert told(kind, put(SAMPLES[kind], path, bad), path).hint


def test_a_price_is_finite() -> None:
    project = emit({"apiVersion": model.API_VERSION, "kind": "Project", "metadata": {"name": "x"}})
    text = f"apiVersion: {model.API_VERSION}\nkind: Platform\nmetadata: {{name: x}}\nspec: {{pricing: {{cpu: .inf}}}}\n"
    _, found = load_policy(MemoryTree({"taugen.yaml": project, "policy/x.yaml": text}))
    assert [(d.rule, d.path) for d in found] == [("value-form", "spec.pricing.cpu")]
