"""The shared memory of a profile fits into its memory twice.

/dev/shm counts against the memory of the pod: a run that fills it could use no other memory. Runs get at most half of their memory, so
that a larger value here is cut in silence.

Breaks:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 1
      gpuClass: l40s-48gb
      memoryPerGpu: 64Gi
      shm: 48Gi
      queue: research

Mends:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 1
      gpuClass: l40s-48gb
      memoryPerGpu: 64Gi
      shm: 32Gi
      queue: research

Source: Kubernetes docs, emptyDir (medium: Memory)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.resolve.flavors import amount
from taugen.words import quantity

ID = "profile-shm"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for profile in policy.each("Profile"):
        spec = profile.spec
        if spec.shm is None or spec.memoryPerGpu is None or not spec.gpus or "memory" in spec.override:
            continue
        memory = quantity.parse(spec.memoryPerGpu) * spec.gpus
        if quantity.parse(spec.shm) * 2 > memory:
            sizes = f"{spec.gpus} x {spec.memoryPerGpu} = {amount(memory, spec.memoryPerGpu)}"
            message = f"shm {spec.shm} is more than half of the memory of a worker ({sizes}), and is cut to half"
            origin = profile.span(("memoryPerGpu",))
            hint = "write at most half, or more memory"
            yield profile.finding(ID, ("shm",), message, hint=hint, severity=Severity.WARNING, origin=origin)
