"""Checks of GPU nodes as data: which there are for a GPU class, and what a policy makes of them.

In: a HealthPolicy and a GPU class. Out: the checks with thresholds and windows. A class is known by the family in its name
(``h100-80gb`` is of family h100); of another one only what all GPUs have in common is checked.
"""

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from taugen.policy.health import HealthPolicy
from taugen.words import durations

Source = Literal["dcgm", "xid", "script", "ib", "nvlink"]
Measure = Literal["level", "increase", "count"]
"""The value now; how much a counter grew within the window; how many events the kernel's log has of the window."""

FAMILIES = ("a10", "a100", "h100", "h200", "gb200")
OTHER = "other"
"""The family of every class that is not known."""
LINKED = frozenset({"a100", "h100", "h200", "gb200"})
"""Families with NVLink, and in clusters usually with InfiniBand."""
ALL = frozenset({*FAMILIES, OTHER})
TIMEOUT = 20
"""Seconds after which a check is ended and its answer unknown."""
INTERVALS = (10, 600)
"""Least and greatest seconds between two rounds of checks."""


class Check(Struct, frozen=True):
    """One check.

    `script` with `arguments` prints values by device; more than `threshold` is a fault. `thresholds` are those of families that differ,
    `limits` what policy may set. `window` and `windows` are seconds; 0: it looks at this moment. `usual`: when it runs although policy
    lists no checks.
    """

    name: str
    source: Source
    condition: str
    script: str
    arguments: tuple[str, ...]
    measure: Measure
    unit: str
    threshold: float
    limits: tuple[float, float]
    window: int
    windows: tuple[int, int]
    families: frozenset[str]
    reads: str
    why: str
    then: str
    thresholds: Mapping[str, float] = field(default_factory=dict)
    usual: Literal["always", "rdma", "asked"] = "always"
    kernel_log: bool = False

    def default(self, family: str) -> float:
        """The threshold for a family."""
        return self.thresholds.get(family, self.threshold)


class Chosen(Struct, frozen=True):
    """A check as a policy has it for a class: greatest value that is fine, seconds that it looks back."""

    check: Check
    threshold: float
    window: int


def family(gpu_class: str) -> str:
    """The family that a GPU class belongs to by its name, `OTHER` where none is known."""
    parts = re.split(r"[^a-z0-9]+", gpu_class.lower())
    return next((part for part in parts if part in FAMILIES), OTHER)


def checks() -> Mapping[str, Check]:
    """Every check by name."""
    from taugen.policy.health_table import CHECKS

    return CHECKS


def conditions() -> tuple[str, ...]:
    """Every condition, in the order of the checks."""
    return tuple(dict.fromkeys(check.condition for check in checks().values()))


def chosen(spec: HealthPolicy, gpu_class: str, *, rdma: bool) -> list[Chosen]:
    """The checks of a policy for one of its classes, in the order of the table. `rdma`: the nodes have RDMA devices."""
    mine = family(gpu_class)
    asked = None if spec.checks is None else {entry.name: entry for entry in spec.checks}
    out = []
    for check in checks().values():
        entry = asked.get(check.name) if asked is not None else None
        usual = check.usual == "always" or (check.usual == "rdma" and rdma)
        if mine not in check.families or (entry is None if asked is not None else not usual):
            continue
        threshold = entry.threshold if entry is not None and entry.threshold is not None else check.default(mine)
        window = durations.parse(entry.window) if entry is not None and entry.window is not None else check.window
        out.append(Chosen(check, threshold, window))
    return out
