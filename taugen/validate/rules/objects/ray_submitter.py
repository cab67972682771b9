"""The pod that submits a Ray program is written out, with its size.

KubeRay's own default has no security context: a restricted namespace refuses it, and the run hangs with its quota held. Its request is
charged like any other, and a command of its own would replace the submission.

Breaks:

    target: {kind: RayJob}
    patch: {spec: {submitterPodTemplate: null}}

Mends:

    target: {kind: RayJob}
    patch: {spec: {submitterPodTemplate: {metadata: {annotations: {lab.example/of: ray}}}}}

Source: KubeRay common/job.go (GetSubmitterTemplate), Kueue rayjob_controller.go (submitter pod set)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects import _pods

ID = "ray-submitter"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in _pods.runs(objects):
        if item.kind == "RayJob" and not _pods.mapping(_pods.spec_of(item).get("submitterPodTemplate")):
            yield _pods.finding(ID, item, ("spec", "submitterPodTemplate"), "the submitter's pod template is not written out")
    for pod in _pods.pods(objects):
        if pod.role != "submitter" or not pod.template:
            continue
        containers = [_pods.mapping(c) for c in _pods.sequence(pod.spec.get("containers"))]
        if not containers or not containers[0].get("image"):
            yield pod.finding(ID, ("spec", "containers"), "the submitter has no container with an image")
        elif containers[0].get("command"):
            yield pod.finding(ID, ("spec", "containers", 0, "command"), "a command of the submitter replaces the submission")
        if pod.gpus:
            yield pod.finding(ID, ("spec", "containers", 0, "resources"), "the submitter asks for a GPU")
