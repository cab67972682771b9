"""A flavor and its nodes are of one GPU class.

Runs choose a flavor by its GPU class and land on the nodes that its labels name: if the two differ, they get other GPUs than they asked
for.

Breaks:

    kind: Flavor
    metadata: {name: spare}
    spec:
      gpuClass: l40s
      clusters: [fjord]
      nodeLabels: {tern.example/nodes: l40s}
      nodeTaints: [{key: nvidia.com/gpu, effect: NoSchedule}]

Mends:

    kind: Flavor
    metadata: {name: spare}
    spec:
      gpuClass: l40s-48gb
      clusters: [fjord]
      nodeLabels: {tern.example/nodes: l40s}
      nodeTaints: [{key: nvidia.com/gpu, effect: NoSchedule}]

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.nodes import other_class
from taugen.policy.set import Policy

ID = "flavor-gpu-class"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, one for each flavor."""
    for _, flavor in sorted(policy.flavors.items()):
        found = other_class(policy, flavor)
        if found is None:
            continue
        cluster, at, pool = found
        has = f"have GPUs of class {pool.gpuClass}" if pool.gpuClass else "have no GPUs"
        wants = f"has GPU class {flavor.spec.gpuClass}" if flavor.spec.gpuClass else "has no GPU class"
        message = f"{flavor.label} {wants}, but its nodes (pool {pool.name} of cluster {cluster.name}) {has}"
        hint = f"write gpuClass: {pool.gpuClass}" if pool.gpuClass else "remove gpuClass, or name the GPU nodes by nodeLabels"
        path = ("gpuClass",) if flavor.spec.gpuClass else ("nodeLabels",)
        yield flavor.finding(ID, path, message, hint=hint, origin=cluster.span(("nodePools", at, "name")), key=True)
