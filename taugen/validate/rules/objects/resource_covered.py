"""The queue has quota of every resource that a pod asks for, in a flavor that the pod tolerates.

Kueue never admits a pod template that asks for something no flavor of its queue covers, or that tolerates no flavor which covers all of
it; the run waits for ever, and only the cluster says so. Heads and submitters need a flavor without taints.

Breaks:

    target: {kind: Job, name: "downscale-.*"}
    patch: {spec: {template: {spec: {containers: [{name: main, resources: {requests: {ephemeral-storage: 10Gi}}}]}}}}

Mends:

    target: {kind: Job, name: "downscale-.*"}
    patch: {spec: {template: {spec: {containers: [{name: main, resources: {requests: {cpu: "2"}}}]}}}}

Source: Kueue flavorassigner.go (resource unavailable in ClusterQueue; untolerated taint)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.model import Taint
from taugen.policy.set import Policy
from taugen.render.types import Object, Rendered
from taugen.resolve.flavors import FlavorView
from taugen.resolve.resolve import context_of
from taugen.validate.rules.objects import _pods
from taugen.validate.rules.objects._pods import Pod

ID = "resource-covered"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for pod in _pods.pods(objects):
        queue = _pods.queue_of(pod.item, policy)
        if queue is None:
            continue
        flavors = context_of(policy).placer.view(queue, _pods.cluster_of(pod.item)).flavors
        yield from _pod(pod, queue, flavors, policy)


def _pod(pod: Pod, queue: str, flavors: Sequence[FlavorView], policy: Policy) -> Iterator[Diagnostic]:
    origin = policy.queues[queue].span(("quotas",), key=True) if queue in policy.queues else None
    wanted = pod.resources
    unknown = sorted(name for name in wanted if not any(name in flavor.shares for flavor in flavors))
    if unknown:
        message = f"queue {queue} has no quota of {unknown[0]}, which a container of the {pod.group} pods asks for"
        hint = f"have {unknown[0]} added to the quotas of Queue {queue}, or do not ask for it"
        yield pod.finding(ID, ("spec", "containers"), message, hint, origin)
        return
    tolerations = [_pods.mapping(t) for t in _pods.sequence(pod.spec.get("tolerations"))]
    if not any(all(name in f.shares and f.shares[name].most for name in wanted) and _tolerated(f, tolerations) for f in flavors):
        names = ", ".join(flavor.name for flavor in flavors) or "none"
        message = f"no flavor of queue {queue} ({names}) covers what the {pod.group} pods ask for and is tolerated by them"
        yield pod.finding(ID, ("spec", "tolerations"), message, f"give queue {queue} such a flavor, or tolerate its taints", origin)


def _tolerated(flavor: FlavorView, tolerations: Sequence[Object]) -> bool:
    return all(any(_tolerates(t, taint) for t in tolerations) for taint in flavor.taints)


def _tolerates(toleration: Object, taint: Taint) -> bool:
    if toleration.get("effect") not in (None, "", taint.effect) or toleration.get("key") not in (None, "", taint.key):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and (toleration.get("value") or "") == (taint.value or "")
