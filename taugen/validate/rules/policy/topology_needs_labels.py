"""A flavor with a topology has a node label.

Kueue counts the nodes of a topology flavor by its labels, and refuses one without any.

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
          taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
          allocatable: {cpu: 30, memory: 110Gi, nvidia.com/gpu: 2}
          gpuClass: a10-24gb
          gpus: 2
    ---
    kind: Flavor
    metadata: {name: a10}
    spec:
      gpuClass: a10-24gb
      clusters: [cove]
      topology: fabric
      nodeTaints: [{key: nvidia.com/gpu, effect: NoSchedule}]

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
          taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
          allocatable: {cpu: 30, memory: 110Gi, nvidia.com/gpu: 2}
          gpuClass: a10-24gb
          gpus: 2
    ---
    kind: Flavor
    metadata: {name: a10}
    spec:
      gpuClass: a10-24gb
      clusters: [cove]
      topology: fabric
      nodeLabels: {tern.example/nodes: a10}
      nodeTaints: [{key: nvidia.com/gpu, effect: NoSchedule}]

Source: Kueue resourceflavor_types.go (nodeLabels required with topologyName)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "topology-needs-labels"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for flavor in policy.flavors.values():
        if flavor.spec.topology is not None and not flavor.spec.nodeLabels:
            message = f"{flavor.label} has a topology and no nodeLabels"
            yield flavor.finding(ID, ("topology",), message, hint="write nodeLabels: a label that all its nodes carry", key=True)
