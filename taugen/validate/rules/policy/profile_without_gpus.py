"""What a profile says of GPUs has GPUs to act on.

CPUs and memory of a profile are given for each GPU. In a profile of CPU runs they would come out as nothing, and class, NCCL settings and
RDMA devices have no use.

Breaks:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 0
      cpuPerGpu: 8
      queue: batch

Mends:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 0
      queue: batch

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy

ID = "profile-without-gpus"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for profile in policy.each("Profile"):
        spec = profile.spec
        if spec.gpus != 0 or "gpus" in spec.override:
            continue
        for field in ("cpuPerGpu", "memoryPerGpu", "gpuClass", "nccl", "rdma"):
            if getattr(spec, field):
                message = f"{field} does nothing: {profile.label} has gpus 0"
                hint = "remove it" + ("; runs set cpus and memory themselves, within override" if field.endswith("PerGpu") else "")
                origin = profile.span(("gpus",))
                yield profile.finding(ID, (field,), message, hint=hint, severity=Severity.WARNING, origin=origin, key=True)
