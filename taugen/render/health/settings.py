"""The ConfigMaps of the runner: its program, and what it checks on the nodes of one class.

In: a policy and a GPU class. Out: immutable ConfigMaps whose names carry a hash of their data: a change is a new name, and so a new rollout
of the DaemonSet; nodes that have not come to it yet keep what they run.
"""

import hashlib
import json
from functools import cache

from taugen.policy.health import CONDITION_PREFIX, TAINT_PREFIX
from taugen.policy.health_checks import TIMEOUT, Chosen, chosen, conditions, family
from taugen.policy.health_nodes import Watched, by_readiness, taint_key
from taugen.policy.health_xids import codes
from taugen.policy.model import HealthAction, HealthPolicy
from taugen.policy.set import Policy
from taugen.render.health import names
from taugen.render.types import Object
from taugen.words import Json, durations, package

PACKAGE = "gpuhealth"
CHECKS = "checks"
SETTINGS = "checks.json"
_HASH = 10


@cache
def sources() -> dict[str, str]:
    """The runner's files by path: its package, and the scripts."""
    root = package.FOLDER / "render" / "health" / "scripts"
    found = {}
    for folder, suffix in ((PACKAGE, ".py"), (CHECKS, ".sh")):
        for file in (root / folder).iterdir():
            if file.name.endswith(suffix):
                found[f"{folder}/{file.name}"] = file.read_text(encoding="utf-8")
    return {path: found[path] for path in sorted(found)}


def key(path: str) -> str:
    """The key of a file in the ConfigMap: keys have no slash."""
    return path.replace("/", ".")


def items() -> list[Json]:
    """Where the files of the ConfigMap go in the mounted folder."""
    return [{"key": key(path), "path": path} for path in sources()]


def scripts() -> Object:
    """The ConfigMap with the runner's program, one for all classes."""
    return _configmap("gpu-health-runner", {key(path): text for path, text in sources().items()})


def checks(policy: Policy, watched: Watched) -> Object:
    """The ConfigMap with what is checked on the nodes of a class."""
    text = json.dumps(document(policy, watched), indent=1, ensure_ascii=False) + "\n"
    return _configmap(names.named(names.RUNNER, watched), {SETTINGS: text})


def document(policy: Policy, watched: Watched) -> dict[str, Json]:
    """What checks.json says. Its reader is `scripts/gpuhealth/config.py`."""
    spec = watched.item.spec
    mine = family(watched.gpu_class)
    found = chosen(spec, watched.gpu_class, rdma=watched.rdma)
    rules: dict[str, Json] = {name: _rule(policy, spec, name) for name in _conditions(found)}
    return {
        "gpu_class": watched.gpu_class,
        "policy": watched.item.name,
        "lease": names.named(names.RUNNER, watched),
        "interval": durations.parse(spec.interval),
        "share": spec.maxTainted,
        "gates": by_readiness(policy),
        "prefix": CONDITION_PREFIX,
        "taint_prefix": TAINT_PREFIX,
        "targets": [{"labels": {k: t.labels[k] for k in sorted(t.labels)}, "gpus": t.gpus} for t in watched.targets],
        "checks": [_check(one, mine) for one in found],
        "conditions": rules,
    }


def _conditions(found: list[Chosen]) -> list[str]:
    mine = {one.check.condition for one in found}
    return [name for name in conditions() if name in mine]


def _check(one: Chosen, mine: str) -> dict[str, Json]:
    check = one.check
    arguments: list[Json] = list(check.arguments)
    if check.kernel_log:
        arguments = [str(code) for code in codes(mine, fatal=check.arguments == ("fatal",))]
    return {
        "name": check.name,
        "script": check.script,
        "arguments": arguments,
        "measure": check.measure,
        "unit": check.unit,
        "threshold": int(one.threshold) if one.threshold == int(one.threshold) else one.threshold,
        "window": one.window,
        "timeout": TIMEOUT,
        "condition": check.condition,
    }


def _rule(policy: Policy, spec: HealthPolicy, condition: str) -> dict[str, Json]:
    action = next((a for a in spec.actions if a.condition == condition), None) or HealthAction(condition=condition)
    out: dict[str, Json] = {
        "after": durations.parse(action.after),
        "clear_after": durations.parse(action.clearAfter),
        "event": action.event,
    }
    if action.taint is not None:
        out["taint"] = {"key": taint_key(policy, action.taint), "effect": action.taint.effect}
    return out


def _configmap(name: str, data: dict[str, str]) -> Object:
    body = json.dumps(data, sort_keys=True, ensure_ascii=False).encode()
    hashed = f"{name}-{hashlib.sha256(body).hexdigest()[:_HASH]}"
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": names.metadata(hashed), "immutable": True, "data": {**data}}
