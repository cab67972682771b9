"""A size is more than nothing.

Kubernetes takes a memory limit of 0 for no limit at all, and Kueue counts what is asked for: a run of nothing would push others off their
nodes.

Breaks:

    compute: {gpus: 1, memory: 0}

Mends:

    compute: {gpus: 1, memory: 64Gi}

Source: Kubernetes core validation (ValidateResourceRequirements); cgroup memory.max.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.words import Path

ID = "size-zero"

_SIZES = ("cpus", "memory", "cpu_limit", "memory_limit")


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """Sizes of `compute` and of its head."""
    del policy
    compute = doc.spec.compute
    if compute is None:
        return
    paths: list[Path] = [("compute", name) for name in (*_SIZES, "shm_size", "disk") if getattr(compute, name) == "0"]
    if compute.head is not None:
        paths += [("compute", "head", name) for name in _SIZES if getattr(compute.head, name) == "0"]
    for path in paths:
        hint = "write an amount such as 500m" if "cpu" in str(path[-1]) else "write an amount such as 8Gi"
        yield doc.finding(ID, path, f"{path[-1]} is 0", hint=f"{hint}, or leave it out")
