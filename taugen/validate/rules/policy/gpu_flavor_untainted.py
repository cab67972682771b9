"""A GPU flavor has a taint that keeps other pods off.

Kueue gives pods without GPUs any flavor of the queue that covers their CPUs and memory and that they tolerate. Without a taint on the
flavor, CPU runs and Ray heads fill GPU nodes as soon as the CPU flavor is full. The taint on the flavor is enough for Kueue, even where
the nodes have none.

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
          labels: {tern.example/nodes: a10}
          allocatable: {cpu: 30, memory: 110Gi, nvidia.com/gpu: 2}
          gpuClass: a10-24gb
          gpus: 2
    ---
    kind: Flavor
    metadata: {name: a10}
    spec:
      gpuClass: a10-24gb
      clusters: [cove]
      nodeLabels: {tern.example/nodes: a10}

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
          labels: {tern.example/nodes: a10}
          allocatable: {cpu: 30, memory: 110Gi, nvidia.com/gpu: 2}
          gpuClass: a10-24gb
          gpus: 2
    ---
    kind: Flavor
    metadata: {name: a10}
    spec:
      gpuClass: a10-24gb
      clusters: [cove]
      nodeTaints: [{key: nvidia.com/gpu, effect: NoSchedule}]
      nodeLabels: {tern.example/nodes: a10}

Source: Kueue flavorassigner.go (taints of a flavor); seen with Kueue 0.19.2
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.nodes import has_gpus, pools_of, repels
from taugen.policy.set import Policy

ID = "gpu-flavor-untainted"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for _, flavor in sorted(policy.flavors.items()):
        if not has_gpus(policy, flavor) or any(repels(t) for t in flavor.spec.nodeTaints):
            continue
        if any(repels(t) for pool in pools_of(policy, flavor) for t in pool.spec.taints):
            continue  # flavor-taints says so
        message = f"{flavor.label} has GPUs and no taint: CPU runs and Ray heads would take its nodes"
        hint = "add nodeTaints: [{key: nvidia.com/gpu, effect: NoSchedule}]"
        yield flavor.finding(ID, ("gpuClass",) if flavor.spec.gpuClass else (), message, hint=hint, severity=Severity.WARNING)
