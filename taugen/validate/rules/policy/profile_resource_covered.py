"""The queue of a profile has quota of every resource that the profile asks for.

Kueue admits no workload with a resource that its queue does not cover: with RDMA devices in the pod and none in the quotas, every run of
the profile would wait for ever.

Breaks:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 8
      gpuClass: h200-141gb
      rdma: {resource: rdma/roce}
      queue: research

Mends:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 8
      gpuClass: h200-141gb
      rdma: {resource: rdma/ib}
      queue: research

Source: Kueue flavorassigner.go (resource unavailable in ClusterQueue); seen with Kueue 0.19.2
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "profile-resource-covered"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for profile in policy.each("Profile"):
        spec = profile.spec
        queue = policy.queues.get(spec.queue or "")
        if spec.rdma is None or queue is None or "queue" in spec.override:
            continue
        with_class = [q for q in queue.spec.quotas if q.flavor in policy.flavors and _suits(policy, q.flavor, spec.gpuClass)]
        if with_class and not any(spec.rdma.resource in q.resources for q in with_class):
            names = ", ".join(q.flavor for q in with_class)
            message = f"{queue.label} has no quota of {spec.rdma.resource} in flavor {names}: no run of {profile.label} would be admitted"
            origin = queue.span(("quotas",), key=True)
            hint = f"add {spec.rdma.resource} to the flavor's quotas in {queue.label}"
            yield profile.finding(ID, ("rdma", "resource"), message, hint=hint, origin=origin)


def _suits(policy: Policy, flavor: str, gpu_class: str | None) -> bool:
    own = policy.flavors[flavor].spec.gpuClass
    return own is not None and gpu_class in {None, "any", own}
