"""Shared memory fits into the memory that a profile or a default gives.

As `shm-size`, for memory that the document does not show: /dev/shm is memory, and a run that fills it beyond its limit is killed.

Breaks:

    compute: {gpus: 0, shm_size: 64Gi}

Mends:

    compute: {gpus: 0, memory: 128Gi, shm_size: 64Gi}

Source: Kubernetes emptyDir with medium Memory (core documentation, volumes).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.resolve.run import ResolvedRun
from taugen.words import Path, quantity

ID = "shm-above-memory"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """`compute.shm_size` against memory from elsewhere."""
    compute = run.doc.spec.compute
    if compute is None or compute.shm_size is None or compute.memory is not None or compute.memory_limit is not None:
        return
    if any(run.doc.lost(("compute", field)) for field in ("gpus", "memory", "memory_limit")):
        return  # how much memory was meant is unknown
    most = run.worker.memory_limit
    if quantity.compare(compute.shm_size, most) <= 0:
        return
    path: Path = ("compute", "shm_size")
    profile = policy.profiles.get(run.profile or "")
    shown = profile is not None and profile.spec.memoryPerGpu is not None and run.gpus
    origin = profile.span(("memoryPerGpu",), key=True) if profile is not None and shown else None
    text = f"shared memory of {compute.shm_size} is more than the {most} of memory that each worker has"
    yield run.doc.finding(ID, path, text, hint=f"write {most} at most, or raise compute.memory", origin=origin)
