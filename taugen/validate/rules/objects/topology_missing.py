"""In a queue with a topology, every pod that asks for a GPU says what it wants of it.

Kueue never assigns a flavor with a topology to a pod template without an annotation, unless all flavors of the queue have one: the run
would wait for ever.

Breaks:

    target: {kind: Job, name: "downscale-.*"}
    patch: {spec: {template: {metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: null}}}}}

Mends:

    target: {kind: Job, name: "downscale-.*"}
    patch: {spec: {template: {metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: kubernetes.io/hostname}}}}}

Source: Kueue tas_assignment.go (Flavor supports only TopologyAwareScheduling)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.resolve.resolve import context_of
from taugen.validate.rules.objects import _pods
from taugen.validate.rules.objects.topology_annotation import KINDS, PREFIX

ID = "topology-missing"
ANNOTATIONS = frozenset(PREFIX + kind for kind in KINDS)


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for pod in _pods.pods(objects):
        if not pod.gpus or not ANNOTATIONS.isdisjoint(pod.annotations):
            continue
        queue = _pods.known(policy).queue(pod.item)
        if queue is None:
            continue
        flavors = context_of(policy).placer.view(queue, _pods.cluster_of(pod.item))
        with_topology = [flavor.name for flavor in flavors.flavors if flavor.gpu and flavor.topology]
        if with_topology and not flavors.all_topology:
            key = f"{PREFIX}unconstrained-topology"
            message = f"its pods ask for GPUs, and flavor {with_topology[0]} of queue {queue} takes only pods with a topology annotation"
            yield pod.finding(ID, ("metadata", "annotations"), message, f'write {key}: "true", or policy.topology in the run')
