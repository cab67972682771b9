"""A JobSet: a gang that JobSet starts and names; its one group of pods is called `node`.

In: a `Frame` and what its ConfigMap delivers. Out: the JobSet. It never restarts the gang (`maxRestarts: 0`): a retry is a new attempt.
JobSet makes the headless Service itself, under its own name (jobset api/jobset/v1alpha2)."""

from taugen.render.configmap import Delivered
from taugen.render.frame import Frame, metadata, queued
from taugen.render.job import job_spec
from taugen.render.types import Object

GROUP = "node"


def jobset(f: Frame, delivered: Delivered) -> Object:
    """The JobSet of an attempt."""
    spec: Object = {}
    if f.run.managed_by is not None:
        spec["managedBy"] = f.run.managed_by
    inner = job_spec(f, delivered, subdomain=None)
    spec["failurePolicy"] = {"maxRestarts": 0}
    spec["network"] = {"enableDNSHostnames": True, "publishNotReadyAddresses": True}
    spec["replicatedJobs"] = [{"name": GROUP, "replicas": 1, "template": {"spec": inner}}]
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata(f, f.name, queued(f)), "spec": spec}
