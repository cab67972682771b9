"""What stands around the runs of a cluster: its version, the cohorts of its queues.

In: the API. Out: `Around`, looked at whenever the streams begin. What the account may not see, or the cluster does not have, is empty, and
the records say so. What must never happen: a fault of a moment taken for something that can't be known.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from taugen.collect.api import Api, Denied, Missing, Resource
from taugen.collect.derive import shape

CLUSTER_QUEUES = Resource("ClusterQueue", "clusterqueues", "kueue.x-k8s.io", "v1beta2", namespaced=False, optional=True)


@dataclass(frozen=True, slots=True)
class Around:
    """`version` is that of the API server (``v1.36.3``), empty where it is not told; `cohorts` maps each ClusterQueue to its cohort, empty
    for a queue without one, and is None where ClusterQueues can't be read."""

    version: str = ""
    cohorts: Mapping[str, str] | None = None


def look(api: Api) -> Around:
    """Look at all of it. Raises `ApiError` for what may be known at another try."""
    return Around(_version(api), _cohorts(api))


def _version(api: Api) -> str:
    try:
        return api.version()
    except (Denied, Missing):
        return ""


def _cohorts(api: Api) -> dict[str, str] | None:
    out = {}
    try:
        for objects, _ in api.list(CLUSTER_QUEUES, ""):
            for one in objects:
                # v1beta1 has it under the shorter name.
                cohort = shape.text(one, "spec", "cohortName") or shape.text(one, "spec", "cohort")
                out[shape.text(one, "metadata", "name")] = cohort
    except (Denied, Missing):
        return None
    return out
