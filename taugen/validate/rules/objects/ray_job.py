"""A RayJob is one that Kueue takes and whose head only controls.

The cluster goes with the job, no autoscaler changes its size, and the head runs no tasks and holds no GPU: it stays on CPU nodes. KubeRay
checks what is below only in its own loop: Argo CD and Flux would call a wrong RayJob synced.

Breaks:

    target: {kind: RayJob}
    patch: {spec: {shutdownAfterJobFinishes: false}}

Mends:

    target: {kind: RayJob}
    patch: {spec: {shutdownAfterJobFinishes: true}}

Source: Kueue rayjob_webhook.go, KubeRay validation.go (ValidateRayJobSpec, ValidateRayClusterSpec)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Object, Rendered
from taugen.validate.rules.objects import _pods
from taugen.words import Path

ID = "ray-job"
ENTRYPOINT = "/bin/sh /tau/launch/launch.sh"
REFUSED_ENV = {
    "RAY_REDIS_ADDRESS": "turns on fault tolerance that needs a Redis",
    "REDIS_USERNAME": "belongs to fault tolerance",
    "RAY_enable_autoscaler_v2": "belongs to the autoscaler, which is off",
}
START = ("num-cpus", "num-gpus", "memory", "resources")


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in _pods.runs(objects):
        if item.kind == "RayJob":
            spec = _pods.spec_of(item)
            yield from _job(item, spec)
            yield from _cluster(item, _pods.mapping(spec.get("rayClusterSpec")))
    for pod in _pods.pods(objects):
        if pod.role == "head":
            if pod.gpus:
                yield pod.finding(ID, ("spec", "containers"), "the head asks for a GPU, and only controls")
            for path, container in pod.containers:
                for at, entry in enumerate(_pods.sequence(container.get("env"))):
                    name = entry.get("name") if isinstance(entry, dict) else None
                    if name in REFUSED_ENV:
                        where = (*path, "env", at)
                        yield pod.finding(ID, where, f"KubeRay refuses {name}: it {REFUSED_ENV[name]}", f"remove {name} from the variables")


def _job(item: Rendered, spec: Object) -> Iterator[Diagnostic]:
    if spec.get("shutdownAfterJobFinishes") is not True:
        message = "the cluster would outlive the job, uncharged; Kueue refuses that"
        yield _pods.finding(ID, item, ("spec", "shutdownAfterJobFinishes"), message)
    if spec.get("submissionMode") != "K8sJobMode":
        yield _pods.finding(ID, item, ("spec", "submissionMode"), f"submissionMode is {spec.get('submissionMode')}, not K8sJobMode")
    if spec.get("entrypoint") != ENTRYPOINT:
        message = "the entrypoint is not the launch script, so that nothing is set up and arguments pass through shells"
        yield _pods.finding(ID, item, ("spec", "entrypoint"), message)


def _cluster(item: Rendered, cluster: Object) -> Iterator[Diagnostic]:
    path: Path = ("spec", "rayClusterSpec")
    if cluster.get("enableInTreeAutoscaling"):
        yield _pods.finding(ID, item, (*path, "enableInTreeAutoscaling"), "an autoscaler would change what Kueue admitted")
    head = _pods.mapping(cluster.get("headGroupSpec"))
    start = _pods.mapping(head.get("rayStartParams"))
    if start.get("num-cpus") != "0":
        message = f"num-cpus of the head is {start.get('num-cpus')}, not 0: tasks would run beside the control plane"
        yield _pods.finding(ID, item, (*path, "headGroupSpec", "rayStartParams", "num-cpus"), message)
    groups: list[tuple[str, Object, Path]] = [("the head", head, (*path, "headGroupSpec"))]
    groups += [
        (f"worker group {at}", _pods.mapping(group), (*path, "workerGroupSpecs", at))
        for at, group in enumerate(_pods.sequence(cluster.get("workerGroupSpecs")))
    ]
    for name, group, where in groups:
        params = _pods.mapping(group.get("rayStartParams"))
        if "labels" in params:
            yield _pods.finding(ID, item, (*where, "rayStartParams", "labels"), f"rayStartParams.labels of {name} is refused: use labels")
        if group.get("resources") and any(key in params for key in START):
            yield _pods.finding(ID, item, (*where, "resources"), f"{name} has both resources and rayStartParams for them")
