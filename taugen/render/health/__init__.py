"""Node health: what watches the GPU nodes of a cluster and keeps new work off those at fault.

In: a policy and a cluster. Out: objects of `<cluster>/platform/health/`: a namespace of its own, accounts with the least rights, the check
runner as one DaemonSet for each GPU class, node-problem-detector and the DCGM exporter where policy names them. What must never happen: an
account that can change another node or another's taint, a probe that a taint of its own keeps off the node.
"""

from collections.abc import Iterator

from taugen.policy.health_nodes import watched
from taugen.policy.set import Policy
from taugen.render import meta
from taugen.render.health import access, daemons, readiness, settings
from taugen.render.types import Rendered


def health_objects(policy: Policy, cluster: str) -> Iterator[Rendered]:
    """Everything of `<cluster>/platform/health/`; nothing where no class of the cluster has a HealthPolicy."""
    classes = [one for one in watched(policy, cluster) if one.targets]
    if not classes:
        return
    folder = f"{cluster}/platform/health"
    first = classes[0].item
    for obj in access.objects(policy, classes):
        yield meta.placed(folder, obj, first)
    yield meta.placed(folder, settings.scripts(), first)
    for one in classes:
        yield meta.placed(folder, settings.checks(policy, one), one.item)
        for obj in (*daemons.objects(policy, one), *readiness.rules(policy, one)):
            yield meta.placed(folder, obj, one.item)


def stands_on(policy: Policy, cluster: str) -> bool:
    """Whether a cluster has objects of node health."""
    return any(one.targets for one in watched(policy, cluster))
