"""Only a RayJob has a head.

Its size beside another kind would be accepted and do nothing.

Breaks:

    run: {workload_kind: job}
    compute: {gpus: 1, head: {cpus: 4}}

Mends:

    run: {workload_kind: rayjob}
    compute: {gpus: 1, head: {cpus: 4}}

Source: TauGrid's head_* fields, RayJob only (core/runconfig).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc

ID = "head-without-ray"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`compute.head`."""
    del policy
    compute = doc.spec.compute
    if compute is None or compute.head is None or doc.kind == "rayjob" or doc.lost(("run", "workload_kind")):
        return
    first = next(iter(sorted(compute.head.model_fields_set)), None)
    if first is not None:
        text = f"a {doc.kind} has no Ray head to size"
        yield doc.finding(ID, ("compute", "head", first), text, hint="remove it, or write run.workload_kind: rayjob", key=True)
