"""A RayJob: a head that only controls, one group of workers, and the pod that submits the program.

In: a `Frame` and what its ConfigMap delivers. Out: the RayJob. Head and submitter carry no GPU, no toleration and no topology: Kueue keeps
them on CPU nodes. Code and launch script are mounted on head and workers alike: the driver runs on the head, and workers import what it
imports.

KubeRay puts entrypoint and runtime environment into a shell's command line (KubeRay common/job.go), so neither holds anything that a user
typed but pip's requirements; arguments stand in the launch script."""

from taugen.render.configmap import Delivered
from taugen.render.env import LAUNCH_DIR, environment
from taugen.render.frame import Frame, metadata, queued
from taugen.render.launch import COMMAND, RAY
from taugen.render.pod import container, init_containers, key_volume, pod, resources, volumes
from taugen.render.types import Object
from taugen.resolve.run import Resources
from taugen.words import Json
from taugen.words.emit import emit

WORKERS = "workers"
HEAD_SIZE = Resources(cpu="2", memory="8Gi", cpu_limit=None, memory_limit="8Gi")
SUBMITTER: Object = {"requests": {"cpu": "500m", "memory": "200Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}
"""What KubeRay gives its submitter where nobody writes one (KubeRay common/job.go)."""
PORTS = (("gcs-server", 6379), ("dashboard", 8265), ("client", 10001), ("metrics", 8080))


def rayjob(f: Frame, delivered: Delivered) -> Object:
    """The RayJob of an attempt."""
    spec: Object = {}
    if f.run.managed_by is not None:
        spec["managedBy"] = f.run.managed_by
    spec["entrypoint"] = " ".join(COMMAND)
    if f.run.program.pip:
        spec["runtimeEnvYAML"] = emit({"pip": list(f.run.program.pip)})
    spec["submissionMode"] = "K8sJobMode"
    spec["shutdownAfterJobFinishes"] = True
    spec["backoffLimit"] = 0
    spec["rayClusterSpec"] = _cluster(f, delivered)
    spec["submitterPodTemplate"] = pod(f, container(f, "ray-job-submitter", f.run.image, SUBMITTER), placed=False, program=False)
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": metadata(f, f.name, queued(f)), "spec": spec}


def _cluster(f: Frame, delivered: Delivered) -> Object:
    run = f.run
    head = run.head or HEAD_SIZE
    spec: Object = {}
    if run.ray_version is not None:
        spec["rayVersion"] = run.ray_version
    # Argo CD never calls a custom resource Synced that leaves a default of the CRD out of a list's items.
    ports: list[Json] = [{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in PORTS]
    spec["headGroupSpec"] = {
        "rayStartParams": {"dashboard-host": "0.0.0.0", "num-cpus": "0"},  # noqa: S104 - the submitter reaches it from another pod
        "template": _group(f, delivered, "ray-head", head, ports),
    }
    spec["workerGroupSpecs"] = [
        {
            "groupName": WORKERS,
            "replicas": run.nodes,
            "minReplicas": run.nodes,
            "maxReplicas": run.nodes,
            "numOfHosts": 1,
            "rayStartParams": {},
            "template": _group(f, delivered, "ray-worker", run.worker, None),
        }
    ]
    return spec


def _group(f: Frame, delivered: Delivered, name: str, size: Resources, ports: list[Json] | None) -> Object:
    """The pods of the head, or of the workers. KubeRay runs a container's command before it starts Ray, in the same shell."""
    own = volumes(f, delivered, shm=ports is None)
    role = "head" if ports is not None else "worker"
    command = (".", f"{LAUNCH_DIR}/{RAY}", role) if f.run.program.setup is not None else ()
    main = container(f, name, f.run.image, resources(size), command=command, ports=ports, env=environment(f), mounts=own.mounts)
    init = init_containers(f, size)
    return pod(f, main, volumes=own.volumes + key_volume(f), init=init, placed=ports is None)
