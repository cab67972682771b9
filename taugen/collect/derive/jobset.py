"""A JobSet.

In: the object. Out: that it was submitted, and how it ended: conditions `Completed` and `Failed` of jobset.x-k8s.io/v1alpha2.
"""

from collections.abc import Iterator

from taugen.collect.derive import job, shape
from taugen.collect.derive.shape import Obj
from taugen.evidence.event import Event


def derive(obj: Obj) -> Iterator[Event]:
    """The events that a JobSet tells of."""
    groups = shape.each(obj, "spec", "replicatedJobs")
    pods = shape.mapping(groups[0], "template", "spec", "template", "spec") if groups else {}
    yield job.submitted(obj, pods)
    found = shape.conditions(obj)
    yield from job.ended(shape.text(obj, "metadata", "uid"), found.get("Completed"), found.get("Failed"))
