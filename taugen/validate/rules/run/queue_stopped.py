"""A queue that is on hold admits nothing.

A run for it waits until the platform team lifts the hold.

Breaks: a run whose Queue has `stop: Hold`.

Mends: another queue, or `stop: None`.

Source: Kueue clusterqueue_types.go (stopPolicy).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.resolve.run import ResolvedRun
from taugen.words import Path

ID = "queue-stopped"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """`stop` of the run's queue."""
    queue = policy.queues[run.placement.cluster_queue]
    if queue.spec.stop == "None":
        return
    path: Path = ("policy", "queue")
    text = f"queue {queue.name} is stopped ({queue.spec.stop}): the run waits until that is lifted"
    yield run.doc.finding(ID, path, text, hint="take another queue, or wait", severity=Severity.WARNING, origin=queue.span(("stop",)))
