"""What the runner was told: checks, conditions, bounds.

In: the text of checks.json, made by the compiler. Out: frozen data. Raises KeyError or TypeError for what the compiler does not
write.
"""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Check:
    """A check: `arguments` go to `script`; more than `threshold` is a fault; `window` and `timeout` are seconds."""

    name: str
    script: str
    arguments: tuple[str, ...]
    measure: str
    unit: str
    threshold: float
    window: int
    timeout: int
    condition: str


@dataclass(frozen=True)
class Taint:
    """A taint of the node."""

    key: str
    effect: str


@dataclass(frozen=True)
class Rule:
    """What follows from a condition: seconds until it holds and until it ends, the type of its event, the taint."""

    after: float
    clear_after: float
    event: str
    taint: Taint | None


@dataclass(frozen=True)
class Target:
    """Nodes of the class: their labels, and how many GPUs each has (0: not known)."""

    labels: tuple[tuple[str, str], ...]
    gpus: int


@dataclass(frozen=True)
class Config:
    """Everything. `share` is a number of nodes or a percentage; `gates`: conditions by which another controller taints."""

    gpu_class: str
    policy: str
    lease: str
    interval: int
    share: str
    gates: bool
    checks: tuple[Check, ...]
    rules: dict[str, Rule]
    targets: tuple[Target, ...]
    prefix: str
    taint_prefix: str


def read(text: str) -> Config:
    """The configuration from the text of checks.json."""
    data: dict[str, Any] = json.loads(text)
    checks = tuple(Check(**{**entry, "arguments": tuple(entry["arguments"])}) for entry in data["checks"])
    rules = {name: _rule(entry) for name, entry in data["conditions"].items()}
    targets = tuple(Target(tuple(sorted(entry["labels"].items())), entry["gpus"]) for entry in data["targets"])
    plain = {key: data[key] for key in ("gpu_class", "policy", "lease", "interval", "share", "gates", "prefix", "taint_prefix")}
    return Config(checks=checks, rules=rules, targets=targets, **plain)


def _rule(entry: dict[str, Any]) -> Rule:
    taint = entry.get("taint")
    return Rule(entry["after"], entry["clear_after"], entry["event"], Taint(**taint) if taint else None)


def gpus(config: Config, labels: dict[str, str]) -> int:
    """How many GPUs a node with these labels has to have; 0 where policy does not say."""
    fitting = [target for target in config.targets if all(labels.get(key) == value for key, value in target.labels)]
    return max(fitting, key=lambda target: len(target.labels)).gpus if fitting else 0
