"""All CPU pods of a RayJob fit into the queue together.

Head, submitter and CPU workers are admitted at once or not at all: if their sum is more than the CPU flavors can ever have, the run waits
for ever.

Breaks:

    compute: {gpus: 0, workers: 4, cpus: 48}

Mends:

    compute: {gpus: 0, workers: 4, cpus: 8}

Source: Kueue workload.go (a workload is admitted with all its podsets).
"""

from collections.abc import Iterator
from decimal import Decimal

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.resolve.capacity import Obstacle
from taugen.resolve.flavors import amount
from taugen.resolve.place import SUBMITTER
from taugen.resolve.placement import cpu_flavors
from taugen.resolve.run import ResolvedRun
from taugen.validate.rules.run import _nodes as nodes
from taugen.words import Path, quantity

ID = "quota-sum"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """Head, submitter and CPU workers against the quota of the CPU flavors."""
    if run.head is None:
        return
    free = cpu_flavors(nodes.queue_view(run, policy), "the Ray head asks")
    if isinstance(free, Obstacle):
        return
    wanted = {name: quantity.parse(each) for name, each in (("cpu", run.head.cpu), ("memory", run.head.memory))}
    for name, each in SUBMITTER:
        wanted[name] += quantity.parse(each)
    if not run.gpus:
        for name in wanted:
            wanted[name] += nodes.requests(run)[name] * run.nodes
    for name, total in wanted.items():
        most = sum((f.shares[name].most for f in free if name in f.shares), Decimal(0))
        if total > most:
            like = run.head.memory if name == "memory" else "1"
            queue = policy.queues[run.placement.cluster_queue]
            pods = "head and submitter" if run.gpus else "workers, head and submitter"
            text = f"{pods} ask for {amount(total, like)} {name}, and queue {queue.name} can never have more on CPU nodes than "
            text += amount(most, like)
            path: Path = ("compute", "head") if run.gpus and run.doc.has(("compute", "head")) else nodes.count_path(run)
            yield run.doc.finding(ID, path, text, hint="ask for less, or take another queue", origin=queue.span(("quotas",), key=True))
