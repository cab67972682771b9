"""Every mount has its volume, and no two share a name or a place.

The API server refuses a Job or JobSet otherwise; of a RayJob KubeRay can't make the pods, and the run hangs with its quota held.

Breaks:

    target: {kind: Job, name: "downscale-.*"}
    patch: {spec: {template: {spec: {containers: [{name: main, volumeMounts: [{name: scratch, mountPath: /scratch}]}]}}}}

Mends:

    target: {kind: Job, name: "downscale-.*"}
    patch:
      spec:
        template:
          spec:
            containers: [{name: main, volumeMounts: [{name: scratch, mountPath: /scratch}]}]
            volumes: [{name: scratch, emptyDir: {}}]

Source: Kubernetes core validation (ValidateVolumes, ValidateVolumeMounts)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects import _pods
from taugen.validate.rules.objects._pods import Pod
from taugen.words import Json, names

ID = "volume-mounts"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for pod in _pods.pods(objects):
        volumes: set[Json] = set()
        for at, value in enumerate(_pods.sequence(pod.spec.get("volumes"))):
            name = _pods.mapping(value).get("name")
            if not isinstance(name, str) or not names.is_dns1123_label(name):
                yield pod.finding(ID, ("spec", "volumes", at, "name"), f"{name} is no name of a volume")
            elif name in volumes:
                yield pod.finding(ID, ("spec", "volumes", at, "name"), f"two volumes are named {name}", "give one of them another name")
            else:
                volumes.add(name)
        yield from _mounts(pod, volumes)


def _mounts(pod: Pod, volumes: set[Json]) -> Iterator[Diagnostic]:
    for path, container in pod.containers:
        places: set[str] = set()
        for at, value in enumerate(_pods.sequence(container.get("volumeMounts"))):
            mount = _pods.mapping(value)
            name, place = mount.get("name"), mount.get("mountPath")
            if isinstance(name, str) and name not in volumes:
                yield pod.finding(ID, (*path, "volumeMounts", at, "name"), f"there is no volume {name}", f"add the volume {name}, too")
            if isinstance(place, str):
                if place in places:
                    yield pod.finding(ID, (*path, "volumeMounts", at, "mountPath"), f"two volumes are mounted at {place}")
                places.add(place)
