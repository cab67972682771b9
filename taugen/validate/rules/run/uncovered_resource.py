"""The queue covers every resource that the pods ask for.

Kueue never admits a pod that asks for a resource which no flavor of its queue has quota of, and says so only in the cluster.

Breaks:

    compute: {gpus: 1, disk: 100Gi}

Mends:

    compute: {gpus: 1}

Source: Kueue flavorassigner.go (resource unavailable in ClusterQueue).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.resolve.flavors import amount, is_gpu
from taugen.resolve.run import ResolvedRun
from taugen.validate.rules.run import _nodes as nodes
from taugen.words import Path

ID = "uncovered-resource"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """Disk and RDMA devices; CPU, memory and GPUs are part of finding the place."""
    worker = run.worker
    if worker.disk is None and not any(not is_gpu(name) for name in worker.extended):
        return
    queue = policy.queues[run.placement.cluster_queue]
    flavors = nodes.flavors(run, policy)
    names = ", ".join(f.name for f in flavors)
    for name, each in nodes.requests(run).items():
        if name in {"cpu", "memory"} or is_gpu(name) or not ("/" in name or name == "ephemeral-storage"):
            continue  # part of finding the place; or no extended resource, which a rule of the document says
        most = max((f.shares[name].most for f in flavors if name in f.shares), default=None)
        total = each * run.nodes
        if most is not None and total <= most:
            continue
        field: Path = ("compute", "disk") if name == "ephemeral-storage" else ("compute", "rdma")
        path = field if run.doc.has(field) else ("policy", "profile")
        if most is None:
            text = f"queue {queue.name} has no quota of {name} in flavor {names}: the run would wait for ever"
        else:
            like = worker.disk or "1"
            text = f"the run asks for {amount(total, like)} {name}, and queue {queue.name} can never have more than {amount(most, like)}"
        hint = f"leave it out, or have {name} added to the quotas of Queue {queue.name}"
        yield run.doc.finding(ID, path, text, hint=hint, origin=queue.span(("quotas",), key=True))
