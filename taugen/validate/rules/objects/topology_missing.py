"""In a queue with a topology, every pod that asks for a GPU says what it wants of it.

Kueue never assigns a flavor with a topology to a pod template without an annotation, unless all flavors of the queue have one: a run that
can get no other GPU flavor would wait for ever.

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
from taugen.policy.model import Taint
from taugen.policy.set import Policy
from taugen.render.types import Object, Rendered
from taugen.resolve.flavors import FlavorView
from taugen.resolve.resolve import context_of
from taugen.validate.rules.objects import _pods
from taugen.validate.rules.objects._pods import Pod
from taugen.validate.rules.objects.topology_annotation import KINDS, PREFIX
from taugen.words import Json

ID = "topology-missing"
ANNOTATIONS = frozenset(PREFIX + kind for kind in KINDS)
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


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
        plain = any(flavor.gpu and not flavor.topology and _reaches(pod, flavor) for flavor in flavors.flavors)
        if with_topology and not flavors.all_topology and not plain:
            key = f"{PREFIX}unconstrained-topology"
            message = f"its pods ask for GPUs, and flavor {with_topology[0]} of queue {queue} takes only pods with a topology annotation"
            yield pod.finding(ID, ("metadata", "annotations"), message, f'write {key}: "true", or policy.topology in the run')


def _reaches(pod: Pod, flavor: FlavorView) -> bool:
    """Whether taints and labels of a flavor let the pod in, as Kueue's flavor assigner reads tolerations and required node affinity."""
    tolerations = [_pods.mapping(entry) for entry in _pods.sequence(pod.spec.get("tolerations"))]
    if not all(any(_tolerates(entry, taint) for entry in tolerations) for taint in flavor.taints):
        return False
    required = _pods.mapping(_pods.mapping(_pods.mapping(pod.spec.get("affinity")).get("nodeAffinity")).get(REQUIRED))
    terms = _pods.sequence(required.get("nodeSelectorTerms"))
    return not terms or any(
        all(_matches(wish, flavor) for wish in _pods.sequence(_pods.mapping(term).get("matchExpressions"))) for term in terms
    )


def _tolerates(toleration: Object, taint: Taint) -> bool:
    if toleration.get("effect") not in (None, "", taint.effect) or toleration.get("key") not in (None, "", taint.key):
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value", "") == (taint.value or "")


def _matches(wish: Json, flavor: FlavorView) -> bool:
    """Rendering writes `In` for what tells flavors apart; every other wish is about nodes."""
    expression = _pods.mapping(wish)
    key = str(expression.get("key"))
    return expression.get("operator") != "In" or key not in flavor.labels or flavor.labels[key] in _pods.sequence(expression.get("values"))
