"""A node pool says the same number of GPUs everywhere.

Quotas are held against allocatable, shapes of runs against both: two numbers would make two answers. A pool of GPU nodes names its GPU
class, which runs and profiles choose by.

Breaks:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops:
        engine: flux
        url: https://git.tern.example/platform/fleet.git
      nodePools:
        - name: a10
          count: 2
          taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
          allocatable: {cpu: 30, memory: 110Gi, nvidia.com/gpu: 2}
          gpuClass: a10-24gb
          gpus: 4

Mends:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops:
        engine: flux
        url: https://git.tern.example/platform/fleet.git
      nodePools:
        - name: a10
          count: 2
          taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
          allocatable: {cpu: 30, memory: 110Gi, nvidia.com/gpu: 2}
          gpuClass: a10-24gb
          gpus: 2

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.nodes import pools
from taugen.policy.set import Policy
from taugen.words import quantity

ID = "node-pool-gpus"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for cluster in policy.each("Cluster"):
        for _, at, pool in pools(cluster):
            path = ("nodePools", at)
            for resource, amount in pool.allocatable.items():
                if resource.endswith("/gpu") and quantity.parse(amount) != pool.gpus:
                    message = f"pool {pool.name} has gpus {pool.gpus}, but allocatable {amount} {resource}"
                    origin = cluster.span((*path, "allocatable", resource))
                    yield cluster.finding(ID, (*path, "gpus"), message, hint="write the same number in both", origin=origin)
            if pool.gpuClass is not None and not pool.gpus and not any(r.endswith("/gpu") for r in pool.allocatable):
                message = f"pool {pool.name} has a GPU class, but no GPUs"
                yield cluster.finding(ID, (*path, "gpuClass"), message, hint="write gpus: how many each node has")
            if pool.gpus and pool.gpuClass is None:
                message = f"the {pool.gpus} GPUs of each node of pool {pool.name} have no class"
                hint = "write gpuClass, such as h100-80gb"
                yield cluster.finding(ID, (*path, "gpus"), message, hint=hint, severity=Severity.WARNING)
