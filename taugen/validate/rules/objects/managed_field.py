"""A run never carries what Kueue or a controller sets itself.

Kueue suspends and resumes a run and writes node selectors and scheduling gates at admission. Where the manifest says any of it too, each
re-apply takes it back: the running pods are killed, or the apply is refused for as long as the run lives. A live object's own keys
(`kueue.x-k8s.io/workload`) make admission fail for good. `managedBy` keeps the controller off: nothing would ever start.

Breaks:

    target: {kind: Job}
    patch: {spec: {suspend: false}}

Mends:

    target: {kind: Job}
    patch: {metadata: {annotations: {lab.example/wave: "2"}}}

Source: Kueue job_webhook.go, pkg/podset/podset.go (Merge), jobframework/reconciler.go
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Object, Rendered
from taugen.validate.rules.objects import _pods
from taugen.words import Path

ID = "managed-field"
OF_SPEC = frozenset(("suspend", "selector", "manualSelector", "clusterSelector", "jobId"))
OF_JOB = frozenset(("suspend", "selector", "manualSelector", "managedBy"))
OF_POD = frozenset(("nodeSelector", "schedulingGates", "nodeName"))
WORKLOAD = "kueue.x-k8s.io/workload"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in _pods.runs(objects):
        spec = _pods.spec_of(item)
        if "status" in item.obj:
            yield _pods.finding(ID, item, ("status",), "status is the controllers' own")
        for field in sorted(OF_SPEC & spec.keys()):
            yield _pods.finding(ID, item, ("spec", field), f"{field} is set by Kueue or the controller")
        if "managedBy" in spec:
            yield _pods.finding(ID, item, ("spec", "managedBy"), f"managedBy is {spec['managedBy']}, which keeps every controller off")
        for path, inner in _inside(item.kind, spec):
            for field in sorted(OF_JOB & inner.keys()):
                yield _pods.finding(ID, item, (*path, field), f"{field} inside is set by the controller of the {item.kind}")
        for where, keys in (("labels", _pods.labels_of(item)), ("annotations", _pods.annotations_of(item))):
            for key in _workload(keys):
                yield _pods.finding(ID, item, ("metadata", where, key), f"{key} is written by Kueue alone")
    for pod in _pods.pods(objects):
        for field in sorted(OF_POD & pod.spec.keys()):
            hint = "write a required nodeAffinity instead (policy.node_affinity of the run, or affinity in the patch)"
            yield pod.finding(ID, ("spec", field), f"{field} of a pod template is written by Kueue at admission", hint)
        for key in _workload(pod.annotations):
            yield pod.finding(ID, ("metadata", "annotations", key), f"{key} is written by Kueue alone")


def _inside(kind: str, spec: Object) -> Iterator[tuple[Path, Object]]:
    """The specs of the Jobs that a JobSet makes, and of the cluster that a RayJob makes."""
    if kind == "JobSet":
        for at, job in enumerate(_pods.sequence(spec.get("replicatedJobs"))):
            template = _pods.mapping(_pods.mapping(job).get("template"))
            yield ("spec", "replicatedJobs", at, "template", "spec"), _pods.mapping(template.get("spec"))
    elif kind == "RayJob":
        yield ("spec", "rayClusterSpec"), _pods.mapping(spec.get("rayClusterSpec"))


def _workload(keys: Object) -> list[str]:
    return [key for key in keys if key.startswith(WORKLOAD)]
