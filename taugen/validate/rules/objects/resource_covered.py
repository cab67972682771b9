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
    known = _pods.known(policy)
    for pod in _pods.pods(objects):
        queue = known.queue(pod.item)
        if queue is None:
            continue
        cluster = _pods.cluster_of(pod.item)
        key = (queue, cluster, pod.resources, repr(pod.spec.get("tolerations")))
        found = known.covers.get(key)
        if found is None:
            found = known.covers[key] = _covered(pod, context_of(policy).placer.view(queue, cluster).flavors)
        unknown, covered = found
        if unknown or not covered:
            yield _finding(pod, queue, unknown, policy)


def _covered(pod: Pod, flavors: Sequence[FlavorView]) -> tuple[str, bool]:
    """A resource that no flavor covers, and whether one flavor covers all and is tolerated."""
    unknown = sorted(name for name in pod.resources if not any(name in flavor.shares for flavor in flavors))
    tolerations = [_pods.mapping(t) for t in _pods.sequence(pod.spec.get("tolerations"))]
    fits = (all(name in f.shares and f.shares[name].most for name in pod.resources) and _tolerated(f, tolerations) for f in flavors)
    return unknown[0] if unknown else "", any(fits)


def _finding(pod: Pod, queue: str, unknown: str, policy: Policy) -> Diagnostic:
    origin = policy.queues[queue].span(("quotas",), key=True) if queue in policy.queues else None
    if unknown:
        message = f"queue {queue} has no quota of {unknown}, which a container of the {pod.group} pods asks for"
        hint = f"have {unknown} added to the quotas of Queue {queue}, or do not ask for it"
        return pod.finding(ID, ("spec", "containers"), message, hint, origin)
    message = f"no flavor of queue {queue} covers what the {pod.group} pods ask for and is tolerated by them"
    return pod.finding(ID, ("spec", "tolerations"), message, f"give queue {queue} such a flavor, or tolerate its taints", origin)


def _tolerated(flavor: FlavorView, tolerations: Sequence[Object]) -> bool:
    return all(any(_tolerates(t, taint) for t in tolerations) for taint in flavor.taints)


def _tolerates(toleration: Object, taint: Taint) -> bool:
    if toleration.get("effect") not in (None, "", taint.effect) or toleration.get("key") not in (None, "", taint.key):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and (toleration.get("value") or "") == (taint.value or "")
