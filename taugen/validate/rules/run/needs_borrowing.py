"""A run that its queue can hold only with borrowed quota says so.

It starts when others lend enough, and may be evicted when they take it back.

Breaks:

    compute: {gpus: 4, workers: 3}

Mends:

    compute: {gpus: 4, workers: 2}

Source: Kueue preemption.go (reclaimWithinCohort).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.resolve.flavors import FlavorView, amount
from taugen.resolve.run import ResolvedRun
from taugen.validate.rules.run import _nodes as nodes

ID = "needs-borrowing"


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """All workers against the nominal quota of each flavor that they may get."""
    short = [_short(run, flavor) for flavor in nodes.flavors(run, policy)]
    if not short or not all(short):
        return
    origin = policy.queues[run.placement.cluster_queue].span(("quotas",), key=True)
    text = f"the run asks for {short[0]}: it waits until others lend the rest, and may be evicted when they take it back"
    yield run.doc.finding(ID, nodes.count_path(run), text, hint="save checkpoints, or ask for less", severity=Severity.NOTE, origin=origin)


def _short(run: ResolvedRun, flavor: FlavorView) -> str:
    """What the nominal quota of the flavor lacks, as a part of a sentence; empty: nothing."""
    for name, each in nodes.requests(run).items():
        share = flavor.shares.get(name)
        if share is not None and each * run.nodes > share.nominal:
            like = run.worker.memory if name == "memory" else "1"
            total, own = amount(each * run.nodes, like), amount(share.nominal, like)
            return f"{total} {name}, and queue {run.placement.cluster_queue} has {own} of flavor {flavor.name} itself"
    return ""
