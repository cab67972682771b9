"""From conditions that hold to what the node should look like.

In: the conditions' states, the rules, the node, what the class's share allows. Out: conditions, taints, events. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import patches
from .config import Config, Taint
from .settle import OPEN, TRUE, Track
from .share import Grant

Node = Mapping[str, Any]
NO_FAULT = "no fault"
REASONS = {"True": "CheckFailed", "False": "ChecksPassed", "Unknown": "ChecksUnclear"}


@dataclass(frozen=True)
class Event:
    """An event to be told: `kind` is Warning or Normal."""

    kind: str
    reason: str
    message: str


def wanted_taints(config: Config, tracks: Mapping[str, Track]) -> list[Taint]:
    """The taints of all conditions that hold, each once."""
    found = [rule.taint for name, rule in config.rules.items() if rule.taint is not None and tracks[name].holds]
    return list(dict.fromkeys(found))


def all_taints(config: Config) -> list[Taint]:
    """Every taint that policy knows."""
    return list(dict.fromkeys(rule.taint for rule in config.rules.values() if rule.taint is not None))


def all_gates(config: Config) -> list[str]:
    """Every condition by which another controller taints; none where the runner does it itself."""
    return [patches.gate(config.prefix, taint) for taint in all_taints(config)] if config.gates else []


def present(config: Config, node: Node) -> list[Taint]:
    """The taints of health that the node has, or that its gates have asked for."""
    if config.gates:
        true = {c.get("type") for c in (node.get("status") or {}).get("conditions") or () if c.get("status") == TRUE}
        return [taint for taint in all_taints(config) if patches.gate(config.prefix, taint) in true]
    has = {(t.get("key"), t.get("effect")) for t in (node.get("spec") or {}).get("taints") or ()}
    return [taint for taint in all_taints(config) if (taint.key, taint.effect) in has]


def granted(config: Config, node: Node, wanted: Sequence[Taint], allowed: Grant | None) -> list[Taint]:
    """What of the wanted taints the node gets: those that it has, and new ones only where the share allows them."""
    has = present(config, node)
    return [taint for taint in wanted if taint in has or (allowed is not None and allowed.ok)]


def conditions(config: Config, tracks: Mapping[str, Track], taints: Sequence[Taint]) -> dict[str, tuple[str, str, str]]:
    """type -> (status, reason, message) of every condition that the runner writes."""
    out = {}
    for name in config.rules:
        track = tracks[name]
        status = track.status
        message = track.message if status in {TRUE, OPEN} else NO_FAULT
        out[f"{config.prefix}{name}"] = (status, REASONS[status], message)
    if config.gates:
        for taint in all_taints(config):
            on = taint in taints
            message = "the node is kept from new work" if on else "the node may take work"
            out[patches.gate(config.prefix, taint)] = ("True" if on else "False", "Unfit" if on else "Fit", message)
    return out


def resumed(config: Config, node: Node) -> dict[str, Track]:
    """The conditions as the node says them: what holds goes on to hold after a restart of the runner."""
    true = {c.get("type"): c for c in (node.get("status") or {}).get("conditions") or () if c.get("status") == TRUE}
    found = {name: true.get(f"{config.prefix}{name}") for name in config.rules}
    return {name: Track(holds=c is not None, message=str((c or {}).get("message", ""))) for name, c in found.items()}


def transitions(config: Config, before: Mapping[str, Track], after: Mapping[str, Track]) -> Iterator[Event]:
    """Events of conditions that have begun or ended."""
    for name, rule in config.rules.items():
        if after[name].holds and not before[name].holds:
            yield Event(rule.event, name, after[name].message or name)
        elif before[name].holds and not after[name].holds:
            yield Event("Normal", f"{name}Cleared", f"{name} has ended")


def withheld(config: Config, allowed: Grant) -> Event:
    """Said when a node at fault stays in work because enough others are out of it."""
    counts = f"{allowed.tainted} of {allowed.nodes} nodes of {config.gpu_class} are tainted"
    bound = f"maxTainted {config.share} allows {allowed.most}"
    return Event("Warning", "TaintWithheld", f"{counts}, and {bound}: this node goes on taking work")
