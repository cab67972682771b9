"""A pod can get all its resources from nodes that exist.

Flavors that share no resource are no alternatives: Kueue gives a pod one of each group. CPUs from one flavor and GPUs from another mean
the labels of both in one pod, which no node has; and where one of them has a topology, no GPU pod is ever admitted.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}
        - flavor: l40s
          resources:
            nvidia.com/gpu: {nominal: 0}

Mends:

    kind: Queue
    metadata: {name: extra}
    spec:
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}
        - flavor: l40s
          resources:
            cpu: {nominal: 0}
            memory: {nominal: 0}
            nvidia.com/gpu: {nominal: 0}

Source: Kueue flavorassigner.go (one flavor for each resource group); tas_assignment.go; seen with Kueue 0.19.2
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.groups import resource_groups
from taugen.policy.nodes import has_gpus, pools_of
from taugen.policy.set import Policy

ID = "queue-split-groups"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, one for each flavor that no other group goes with."""
    for _, queue in sorted(policy.queues.items()):
        quotas = [q for q in queue.spec.quotas if q.flavor in policy.flavors]
        groups = [flavors for flavors, _ in resource_groups(quotas)]
        for at, quota in enumerate(queue.spec.quotas):
            if quota.flavor not in policy.flavors or not has_gpus(policy, policy.flavors[quota.flavor]):
                continue
            for group in groups:
                if quota.flavor not in group and not any(_together(policy, quota.flavor, other) for other in group):
                    message = (
                        f"flavor {quota.flavor} shares no resource with {', '.join(group)}, so that a pod needs both: no node is of both"
                    )
                    hint = f"give flavor {quota.flavor} quotas of cpu and memory too"
                    yield queue.finding(ID, ("quotas", at, "resources"), message, hint=hint, key=True)
                    break


def _together(policy: Policy, first: str, second: str) -> bool:
    """Whether one pod can be on both flavors."""
    one, two = policy.flavors[first], policy.flavors[second]
    if (one.spec.topology is None) != (two.spec.topology is None):
        return False
    if any(two.spec.nodeLabels.get(key, value) != value for key, value in one.spec.nodeLabels.items()):
        return False
    here, there = ({(p.cluster.name, p.at) for p in pools_of(policy, flavor)} for flavor in (one, two))
    return bool(here & there) or not (here and there)
