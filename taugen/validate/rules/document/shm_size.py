"""Shared memory fits into the memory of its container.

/dev/shm is memory: every byte written there counts against the container's limit, and a run that fills it is killed.

Breaks:

    compute: {gpus: 1, memory: 16Gi, shm_size: 32Gi}

Mends:

    compute: {gpus: 1, memory: 64Gi, shm_size: 32Gi}

Source: Kubernetes emptyDir with medium Memory (core documentation, volumes).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.words import quantity

ID = "shm-size"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`compute.shm_size` against `compute.memory_limit` or `memory`."""
    del policy
    compute = doc.spec.compute
    if compute is None or compute.shm_size is None:
        return
    field = "memory_limit" if compute.memory_limit is not None else "memory"
    most = compute.memory_limit or compute.memory
    if most is None or quantity.compare(compute.shm_size, most) <= 0:
        return
    text = f"shared memory of {compute.shm_size} is more than the {most} of memory that it counts against"
    origin = doc.span(("compute", field))
    yield doc.finding(ID, ("compute", "shm_size"), text, hint=f"write {most} at most, or raise compute.{field}", origin=origin)
