"""How many nodes of a class may be tainted at once.

In: the class's nodes as the API server has them. Out: whether one more may be tainted. Pure. A node that is tainted already may get another
taint of health: it is one node all the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .config import Taint

Node = Mapping[str, Any]


@dataclass(frozen=True)
class Grant:
    """Whether a node may be tainted; of `nodes` there are `tainted` so far, and `most` are allowed."""

    ok: bool
    tainted: int
    most: int
    nodes: int


def most(share: str, nodes: int) -> int:
    """The number of nodes that a share allows: a number, or a percentage rounded down."""
    return nodes * int(share[:-1]) // 100 if share.endswith("%") else min(int(share), nodes)


def grant(nodes: Sequence[Node], me: str, share: str, taints: Sequence[Taint], gates: Sequence[str]) -> Grant:
    """Whether node `me` may be tainted. A node counts as tainted if it has one of `taints`, or a condition of `gates` holds."""
    names = {name(node): marked(node, taints, gates) for node in nodes}
    tainted = sum(names.values())
    limit = most(share, len(names))
    return Grant(names.get(me, False) or (me in names and tainted < limit), tainted, limit, len(names))


def marked(node: Node, taints: Sequence[Taint], gates: Sequence[str]) -> bool:
    """Whether health has taken a node out of work."""
    keys = {taint.key for taint in taints}
    if any(taint.get("key") in keys for taint in (node.get("spec") or {}).get("taints") or ()):
        return True
    found = (node.get("status") or {}).get("conditions") or ()
    return any(c.get("type") in gates and c.get("status") == "True" for c in found)


def name(node: Node) -> str:
    """The name of a node."""
    return str(node["metadata"]["name"])
