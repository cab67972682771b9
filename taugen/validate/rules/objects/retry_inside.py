"""An attempt is one object that never starts over by itself.

A retry is a new attempt with a record of its own. `backoffLimit` would restart in silence, a policy on exit codes takes an evicted gang
(exit 143) for failed, and a restarted container or RayCluster would run outside what was admitted.

Breaks:

    target: {kind: RayJob}
    patch: {spec: {backoffLimit: 3}}

Mends:

    target: {kind: RayJob}
    patch: {spec: {backoffLimit: 0}}

Source: Kubernetes batch validation, KubeRay rayjob_controller.go, JobSet jobset_types.go (failurePolicy)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Object, Rendered
from taugen.validate.rules.objects import _pods
from taugen.words import Path

ID = "retry-inside"
_HINT = "write resilience.max_retries in the run: each retry is an attempt of its own"
_JOB = ("podFailurePolicy", "backoffLimitPerIndex", "maxFailedIndexes", "successPolicy")


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in _pods.runs(objects):
        spec = _pods.spec_of(item)
        if item.kind != "JobSet":
            yield from _job(item, ("spec",), spec)
            continue
        restarts = _pods.mapping(spec.get("failurePolicy")).get("maxRestarts", 0)
        if restarts != 0:
            yield _pods.finding(ID, item, ("spec", "failurePolicy", "maxRestarts"), f"maxRestarts is {restarts}, not 0", _HINT)
        for at, group in enumerate(_pods.sequence(spec.get("replicatedJobs"))):
            inner = _pods.mapping(_pods.mapping(_pods.mapping(group).get("template")).get("spec"))
            yield from _job(item, ("spec", "replicatedJobs", at, "template", "spec"), inner)
    for pod in _pods.pods(objects):
        policy_ = pod.spec.get("restartPolicy")
        if policy_ != "Never":
            yield pod.finding(ID, ("spec", "restartPolicy"), f"restartPolicy is {policy_}, not Never", _HINT)


def _job(item: Rendered, path: Path, spec: Object) -> Iterator[Diagnostic]:
    if spec.get("backoffLimit") != 0:
        yield _pods.finding(ID, item, (*path, "backoffLimit"), f"backoffLimit is {spec.get('backoffLimit')}, not 0", _HINT)
    for field in _JOB:
        if field in spec:
            yield _pods.finding(ID, item, (*path, field), f"{field} decides on the end of a run in the cluster", _HINT)
