"""A Job: one pod, or a gang of indexed pods.

In: a `Frame` and what its ConfigMap delivers. Out: the Job, and its pod template for the JobSet. Never a retry inside the object
(`backoffLimit: 0`, no `podFailurePolicy`): a retry is a new attempt, and a policy on exit codes would take an eviction for a failure."""

from taugen.render.configmap import Delivered
from taugen.render.env import environment
from taugen.render.frame import Frame, metadata, queued
from taugen.render.launch import COMMAND, program_args
from taugen.render.pod import container, init_containers, key_volume, pod, resources, volumes
from taugen.render.types import Object

CONTAINER = "main"


def job(f: Frame, delivered: Delivered) -> Object:
    """The Job of an attempt."""
    spec: Object = {}
    if f.run.managed_by is not None:
        spec["managedBy"] = f.run.managed_by
    spec.update(job_spec(f, delivered, subdomain=f.name if f.gang else None))
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata(f, f.name, queued(f)), "spec": spec}


def job_spec(f: Frame, delivered: Delivered, *, subdomain: str | None) -> Object:
    """The spec of a Job.

    `podReplacementPolicy: Failed`: an index that was evicted starts again only when its old pod has ended, so that two pods never answer to
    one rank's name or write one checkpoint (Kubernetes "Delayed creation of replacement pods")."""
    spec: Object = {"backoffLimit": 0}
    if f.gang:
        spec["completionMode"] = "Indexed"
    spec["completions"] = f.run.nodes
    spec["parallelism"] = f.run.nodes
    spec["podReplacementPolicy"] = "Failed"
    own = volumes(f, delivered)
    main = container(
        f,
        CONTAINER,
        f.run.image,
        resources(f.run.worker),
        command=COMMAND,
        args=program_args(f.run),
        working_dir=f.run.working_dir,
        env=environment(f),
        mounts=own.mounts,
    )
    init = init_containers(f, f.run.worker)
    spec["template"] = pod(f, main, volumes=own.volumes + key_volume(f), init=init, subdomain=subdomain)
    return spec
