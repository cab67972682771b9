"""The NCCL settings of a profile are settings of its network.

Variables of taugen and of the launcher are set by them alone; a value that is a variable of the program belongs to the run or the
workspace.

Breaks:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 8
      gpuClass: h200-141gb
      nccl: {MASTER_PORT: 29500}
      queue: research

Mends:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 8
      gpuClass: h200-141gb
      nccl: {NCCL_SOCKET_IFNAME: eth0}
      queue: research

Source: NCCL docs, environment variables
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "profile-nccl"

_NETWORK = ("FI_", "GLOO_", "IB_", "MLX5_", "NCCL_", "NVSHMEM_", "OFI_", "RCCL_", "RDMAV_", "TORCH_NCCL_", "UCX_")


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for profile in policy.each("Profile"):
        for name in profile.spec.nccl:
            if not name.startswith(_NETWORK):
                message = f"{name} is no setting of NCCL or of its network"
                hint = f"names here start with {', '.join(_NETWORK)}; others belong to defaults.runtime.env of a Workspace"
                yield profile.finding(ID, ("nccl", name), message, hint=hint, key=True)
