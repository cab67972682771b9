"""A GPU class is asked for by runs with GPUs.

Beside 0 GPUs it would be accepted and do nothing.

Breaks:

    compute: {gpus: 0, gpu_class: l40s-48gb}

Mends:

    compute: {gpus: 0}

Source: the project's rule that every accepted field has an effect.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.resolve.run import ResolvedRun
from taugen.words import Path

ID = "gpu-class-unused"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """`compute.gpu_class` of a CPU run."""
    del policy
    compute = run.doc.spec.compute
    if run.gpus or compute is None or compute.gpu_class in {None, "any"}:
        return
    path: Path = ("compute", "gpu_class")
    yield run.doc.finding(
        ID, path, f"gpu_class {compute.gpu_class} has no effect: the run asks for 0 GPUs", hint="remove it, or write gpus"
    )
