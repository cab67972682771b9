"""Resources have names that pods can ask for.

Kubernetes knows cpu, memory, ephemeral-storage and hugepages of some size without a domain; every other resource has one, such as
nvidia.com/gpu. Kueue refuses `pods`, which it counts itself.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            mem: {nominal: 16Gi}
            memory: {nominal: 16Gi}

Mends:

    kind: Queue
    metadata: {name: extra}
    spec:
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 16Gi}

Source: Kubernetes core validation.go (ValidateResourceName); Kueue workload_webhook.go and clusterqueue_webhook.go
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.amounts import NATIVE, is_resource, resource_entries
from taugen.policy.set import Policy
from taugen.validate.rules.document import rdma_resource
from taugen.words import suggest

ID = "resource-name"

_MEANT = {
    "amd-gpu": "amd.com/gpu",
    "cpus": "cpu",
    "disk": "ephemeral-storage",
    "gpu": "nvidia.com/gpu",
    "gpus": "nvidia.com/gpu",
    "mem": "memory",
    "nvidia-gpu": "nvidia.com/gpu",
    "ram": "memory",
    "storage": "ephemeral-storage",
}


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item, path, resource, _ in resource_entries(policy):
        if resource == "pods":
            if item.kind != "Cluster":
                message = "there is no quota of pods: Kueue counts them itself"
                yield item.finding(ID, path, message, hint="remove the line", key=True)
        elif not is_resource(resource):
            near = _MEANT.get(resource) or suggest.closest(resource, NATIVE)
            message = f"{resource} is no resource of Kubernetes"
            hint = f"did you mean {near}?" if near else f"write {', '.join(NATIVE)} or an extended resource with its domain"
            yield item.finding(ID, path, message, hint=hint, key=True)
    for profile in policy.each("Profile"):
        rdma = profile.spec.rdma
        if rdma is not None and (why := rdma_resource.fault(rdma.resource)) is not None:
            yield profile.finding(ID, ("rdma", "resource"), f"{rdma.resource} {why}", hint=rdma_resource.HINT)
