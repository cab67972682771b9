"""The nodes of a topology flavor carry the labels of its levels.

Kueue skips a node that lacks one of them, in silence: its GPUs count as quota and are never used. Policy knows the labels that all nodes
of a pool share; a pool whose nodes differ in such a label is best listed as one pool for each value.

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
      nodeLabels: {tern.example/nodes: a10}
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
          labels: {tern.example/nodes: a10, tern.example/block: c}
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

Source: Kueue tas_flavor_snapshot.go; seen with Kueue 0.19.2
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.nodes import pools_of
from taugen.policy.set import HOSTNAME, Policy, node_labels

ID = "topology-nodes"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, one for each pool."""
    for _, flavor in sorted(policy.flavors.items()):
        topology = policy.topologies.get(flavor.spec.topology or "")
        if topology is None or not flavor.spec.nodeLabels:  # topology-needs-labels says so
            continue
        for cluster, at, pool in pools_of(policy, flavor):
            labels = node_labels(pool)
            lacks = [level.label for level in topology.spec.levels if level.label not in labels and level.label != HOSTNAME]
            if lacks:
                missing = f"pool {pool.name} does not say {', '.join(lacks)}, a level of {topology.label}"
                message = f"{missing}: Kueue never uses nodes of {flavor.label} without it"
                path = ("nodePools", at, "labels")
                hint = "add the label to the nodes and here, one pool for each value"
                yield cluster.finding(
                    ID, path, message, hint=hint, severity=Severity.NOTE, origin=topology.span(("levels",), key=True), key=True
                )
