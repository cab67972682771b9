"""The JSON Schema of tau.yaml: what editors complete and check.

In: the models and the tables of older spellings. Out: one document of draft 2020-12. Canonical fields come from the models alone; older
spellings are allowed and marked deprecated. What is refused is not in it.
"""

from typing import Any

from taugen.spec.model import RunSpec
from taugen.spec.spellings import RENAMES, VALUES
from taugen.words import Json, Path, dotted

SCHEMA_ID = "https://taugen.dev/schemas/run.json"

DEFAULTS: dict[str, Json] = {
    "generation": 1,
    "on_edit": "wait",
    "run.grace_period": "10m",
    "code.path": ".",
    "code.delivery": "auto",
    "compute.workers": 1,
    "compute.head.cpus": "2",
    "compute.head.memory": "8Gi",
    "compute.rdma.count": 1,
    "checkpoint.resume": "auto",
    "execution.nodes": 1,
    "execution.mode": "min",
    "execution.num_samples": 1,
    "execution.max_concurrent_trials": 1,
    "execution.allow_nccl_override": False,
    "resilience.max_retries": 0,
    "resilience.retry_on": ["Preempted", "Evicted"],
    "resilience.backoff_initial": "30s",
    "resilience.backoff_max": "5m",
}
"""What holds where neither the run nor policy says anything."""

EXAMPLES: dict[str, list[Json]] = {
    "name": ["pretrain-7b"],
    "labels": [{"cost-center": "vision"}],
    "run.entrypoint": ["train.py", ["python", "-m", "package.train"]],
    "run.args": [["--config", "config.json"]],
    "run.setup": ["pip install -e ."],
    "run.source.path": ["/src"],
    "code.path": ["../lib"],
    "code.include": [["*.py", "configs/"]],
    "code.exclude": [["*.ipynb"]],
    "code.git.url": ["https://git.example.org/team/train.git"],
    "runtime.image": ["registry.example.org/team/torch:2.9@sha256:…"],
    "runtime.pip": [["torch>=2.4.0"]],
    "runtime.working_dir": ["/data"],
    "runtime.env": [{"TOKENIZERS_PARALLELISM": "false"}],
    "runtime.env_secret": [{"WANDB_API_KEY": "wandb:api-key"}],
    "compute.gpu_class": ["h100-80gb", "any"],
    "compute.mig_profile": ["1g.10gb"],
    "compute.rdma.resource": ["rdma/ib"],
    "policy.node_affinity": [[{"key": "example.org/rack", "operator": "In", "values": ["r1"]}]],
    "storage.output": ["/data/results"],
    "storage.mounts": [[{"name": "ckpt", "storage": "checkpoints", "path": "/checkpoints"}]],
    "checkpoint.path": ["/checkpoints/pretrain-7b"],
    "execution.configs": [{"max_restarts": 0}, {"lr": {"loguniform": [0.0001, 0.1]}}],
    "resilience.fatal_exit_codes": [[42]],
    "metrics.history": [["metrics.jsonl"]],
    "metrics.prometheus": [{"gpu_utilisation": "avg(DCGM_FI_DEV_GPU_UTIL)"}],
    "experiment.hyperparameters": [{"lr": 0.0003}],
    "workflow.extra_scripts": [["../tools/report.py:report.py"]],
}

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
_SWITCH: dict[str, Any] = {"type": "boolean", "const": False}
_MOUNT_NAME = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SPECIAL: dict[str, tuple[dict[str, Any], str]] = {
    "engine": ({"enum": ["job", "rayjob", "ray"]}, "run.workload_kind"),
    "resource_naming.prefix": (_TEXT, "name"),
    "experiment.title": (_TEXT, "experiment.name"),
    "policy.mode": ({"enum": ["fixed"]}, "nothing: every run is"),
    "policy.shape": ({"type": "string", "pattern": "^[0-9]{1,3}x[a-z0-9][-a-z0-9.]*$"}, "compute.gpus and compute.gpu_class"),
    "policy.node_selector": ({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}}, "policy.node_affinity"),
    "policy.clear_node_selector": (_SWITCH, "nothing"),
    "policy.disable_default_priorities": (_SWITCH, "nothing"),
    "compute.gpu_resource_mode": ({"enum": ["device-plugin", "nvidia", "mig"]}, "compute.mig_profile, or nothing"),
    "run.smoke_pairs": ({"type": "integer"}, "run.args: [--smoke-pairs, N]"),
    "storage.data_pvc": (_TEXT, "storage.data"),
    "storage.result_pvc": (_TEXT, "storage.data and storage.output"),
    "storage.volumes": ({"type": "array", "items": {"type": "string", "pattern": f"^{_MOUNT_NAME}=pvc:\\S+$"}}, "storage.mounts"),
    "storage.publish": ({"const": ""}, "nothing"),
    "eval": ({"type": "object", "maxProperties": 0}, "nothing"),
}
"""Older spellings whose value is not that of one canonical field."""


def run_schema() -> dict[str, Any]:
    """The schema of one run document."""
    raw = RunSpec.model_json_schema()
    schema = _inlined(raw, raw.get("$defs", {}))
    del schema["title"]
    for name, value in DEFAULTS.items():
        _leaf(schema, name)["default"] = value
    for name, examples in EXAMPLES.items():
        _leaf(schema, name)["examples"] = examples
    _older(schema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, "title": "tau.yaml", **schema}


def _inlined(node: Any, defs: dict[str, Any]) -> Any:
    """Without references, without null for what may be left out, without pydantic's titles and defaults."""
    if isinstance(node, list):
        return [_inlined(item, defs) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = defs[node["$ref"].rpartition("/")[2]]
        return {**_inlined(target, defs), **_inlined({k: v for k, v in node.items() if k != "$ref"}, defs)}
    if "anyOf" in node:
        kept = [option for option in node["anyOf"] if option != {"type": "null"}]
        rest = {k: v for k, v in node.items() if k not in {"anyOf", "default", "title"}}
        return {**_inlined(kept[0], defs), **rest} if len(kept) == 1 else {"anyOf": _inlined(kept, defs), **rest}
    out = {}
    for key, value in node.items():
        if key == "properties":
            out[key] = {name: _untitled(_inlined(item, defs)) for name, item in value.items()}
        elif key != "$defs" and not (key == "default" and value is None):
            out[key] = _inlined(value, defs)
    return out


def _untitled(node: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key != "title"}


def _leaf(schema: dict[str, Any], name: str) -> dict[str, Any]:
    here = schema
    for part in name.split("."):
        here = here["properties"][part]
    return here


def _older(schema: dict[str, Any]) -> None:
    canonical = {rename.new: _leaf(schema, dotted(rename.new)) for rename in RENAMES}
    for rename in RENAMES:
        kept = {key: value for key, value in canonical[rename.new].items() if key not in {"description", "default", "examples"}}
        _put(schema, rename.old, kept, dotted(rename.new))
    for name, (kind, instead) in _SPECIAL.items():
        _put(schema, tuple(name.split(".")), kind, instead)
    for path, words in VALUES.items():
        leaf = _leaf(schema, dotted(path))
        if "enum" in leaf:
            leaf["anyOf"] = [{"enum": leaf.pop("enum")}, {"enum": list(words), "deprecated": True}]
            leaf.pop("type", None)
    env = _leaf(schema, "runtime.env")
    maps = {key: env.pop(key) for key in [key for key in env if key not in {"description", "examples"}]}
    env["anyOf"] = [maps, {"type": "array", "items": _ENTRY, "deprecated": True, "description": "Older spelling: write a map."}]
    items = _leaf(schema, "storage.mounts")["items"]
    _leaf(schema, "storage.mounts")["items"] = {"anyOf": [items, *_MOUNTS]}


def _put(schema: dict[str, Any], path: Path, kind: dict[str, Any], instead: str) -> None:
    here = schema
    for part in path[:-1]:
        section = {"type": "object", "properties": {}, "additionalProperties": False, "deprecated": True, "description": "Older section."}
        here = here["properties"].setdefault(str(part), section)
    here["properties"][str(path[-1])] = {**kind, "deprecated": True, "description": f"Older spelling: write {instead}."}


_SECRET: dict[str, Any] = {
    "type": "object",
    "properties": {"name": _TEXT, "key": _TEXT},
    "required": ["name", "key"],
    "additionalProperties": False,
}
_SOURCE: dict[str, Any] = {
    "type": "object",
    "properties": {"secretKeyRef": _SECRET},
    "required": ["secretKeyRef"],
    "additionalProperties": False,
}
_ENTRY: dict[str, Any] = {
    "type": "object",
    "properties": {"name": _TEXT, "value": {"type": ["string", "number", "boolean"]}, "valueFrom": _SOURCE},
    "required": ["name"],
    "additionalProperties": False,
}
_MOUNTS: tuple[dict[str, Any], ...] = (
    {"type": "string", "pattern": f"^{_MOUNT_NAME}:/\\S*$", "deprecated": True, "description": "Older spelling: NAME:/path."},
    {
        "type": "object",
        "properties": {"name": _TEXT, "pvc": _TEXT, "mountPath": _TEXT, "readOnly": {"type": "boolean"}},
        "required": ["name", "pvc", "mountPath"],
        "additionalProperties": False,
        "deprecated": True,
        "description": "Older spelling: {name, storage, path, read_only}.",
    },
)
