"""The headless Service of a gang: a name for each pod, also before it is ready.

In: a `Frame`. Out: the Service. It has the attempt's name, so that ranks of two attempts never meet (Kubernetes "Job with pod-to-pod
communication")."""

from taugen.render.frame import ATTEMPT_LABEL, MASTER_PORT, Frame, metadata
from taugen.render.types import Object

JOB_NAME = "batch.kubernetes.io/job-name"


def service(f: Frame) -> Object:
    """The Service of an attempt of several nodes."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(f, f.name, {ATTEMPT_LABEL: str(f.number)}),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {JOB_NAME: f.name},
            "ports": [{"name": "master", "port": int(MASTER_PORT)}],
        },
    }
