"""A finished run is never cleaned up by a controller.

Git still holds the manifest: what a controller removes, Argo CD or Flux applies again, and the training runs a second time. Retiring a run
is a commit.

Breaks:

    target: {kind: Job}
    patch: {spec: {ttlSecondsAfterFinished: 600}}

Mends:

    target: {kind: Job}
    patch: {metadata: {annotations: {lab.example/keep: 10m}}}

Source: Argo CD issues 8586 and 13851, Flux kustomize-controller issue 1578, KubeRay rayjob_controller.go
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects import _pods

ID = "run-once"
FIELDS = ("ttlSecondsAfterFinished", "deletionStrategy")
_HINT = "remove it: a retire commit takes finished runs out of the tree"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in _pods.runs(objects):
        spec = _pods.spec_of(item)
        for field in FIELDS:
            if field in spec:
                yield _pods.finding(ID, item, ("spec", field), f"{field} removes what Git still holds, and it would run again", _HINT)
        for at, group in enumerate(_pods.sequence(spec.get("replicatedJobs"))):
            inner = _pods.mapping(_pods.mapping(_pods.mapping(group).get("template")).get("spec"))
            if "ttlSecondsAfterFinished" in inner:
                path = ("spec", "replicatedJobs", at, "template", "spec", "ttlSecondsAfterFinished")
                yield _pods.finding(ID, item, path, "ttlSecondsAfterFinished removes a Job of the gang that JobSet makes again", _HINT)
