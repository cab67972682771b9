"""What is written to the API server.

In: a node as it stands, what should hold. Out: bodies of requests, None where nothing is to be written. Pure. What must never happen: a
condition or a taint touched that is not the runner's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .config import Taint

Node = Mapping[str, Any]
HEARTBEAT = 300.0
"""Seconds after which conditions are written although nothing changed: who reads them sees that somebody looks."""


def gate(prefix: str, taint: Taint) -> str:
    """The condition by which another controller sets a taint: it holds only while the node has to be tainted."""
    return f"{prefix}Unfit-{taint.key.rpartition('/')[2]}-{taint.effect}"


def conditions(node: Node, wanted: Mapping[str, tuple[str, str, str]], now: str, *, beat: bool) -> dict[str, Any] | None:
    """A patch of the node's status. `wanted`: type -> (status, reason, message); `beat`: also if nothing differs."""
    there = {c.get("type"): c for c in (node.get("status") or {}).get("conditions") or ()}
    changed = beat
    out = []
    for kind, (status, reason, message) in wanted.items():
        old = there.get(kind, {})
        same = (old.get("status"), old.get("reason"), old.get("message")) == (status, reason, message)
        changed = changed or not same
        since = old.get("lastTransitionTime") if old.get("status") == status else now
        out.append(
            {
                "type": kind,
                "status": status,
                "reason": reason,
                "message": message,
                "lastHeartbeatTime": now,
                "lastTransitionTime": since or now,
            }
        )
    return {"status": {"conditions": out}} if changed else None


def taints(node: Node, wanted: Sequence[Taint], prefix: str) -> dict[str, Any] | None:
    """A patch of the node's taints: those of `prefix` become `wanted`, all others stay as and where they are."""
    there = list((node.get("spec") or {}).get("taints") or ())
    mine = [t for t in there if str(t.get("key", "")).startswith(prefix)]
    keep = {(taint.key, taint.effect) for taint in wanted}
    kept = [t for t in there if t not in mine or (t.get("key"), t.get("effect")) in keep]
    has = {(t.get("key"), t.get("effect")) for t in kept}
    added = [{"key": t.key, "effect": t.effect} for t in dict.fromkeys(wanted) if (t.key, t.effect) not in has]
    if not added and len(kept) == len(there):
        return None
    version = node["metadata"]["resourceVersion"]
    return {"metadata": {"resourceVersion": version}, "spec": {"taints": [*kept, *added]}}


def event(node: str, kind: str, reason: str, message: str, now: str, *, unique: str) -> dict[str, Any]:
    """An event about the node. Events of nodes stand in the namespace default, and refer to a node by its name as kubelets do."""
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{node}.{unique}", "namespace": "default"},
        "involvedObject": {"kind": "Node", "name": node, "uid": node, "apiVersion": "v1"},
        "reason": reason,
        "message": message,
        "type": kind,
        "source": {"component": "taugen-gpu-health", "host": node},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
