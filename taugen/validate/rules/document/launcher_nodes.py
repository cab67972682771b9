"""Several nodes need somebody who makes them one gang.

Without torchrun (or a JobSet, whose nodes may do without) each pod would run the whole program on its own. Ray's workers are
`compute.workers`; a Job's nodes are `execution.nodes`.

Breaks:

    run: {workload_kind: job}
    execution: {nodes: 2}

Mends:

    run: {workload_kind: job}
    execution: {nodes: 2, launcher: torchrun}

Source: TauGrid's rule for execution.nodes (core/runconfig).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc

ID = "launcher-nodes"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`execution.nodes` and `compute.workers` against kind and launcher."""
    del policy
    execution, compute = doc.spec.execution, doc.spec.compute
    nodes = execution.nodes if execution is not None else None
    workers = compute.workers if compute is not None else None
    if (nodes or 1) == 1 and (workers or 1) == 1:
        return
    if doc.lost(("execution", "launcher")) or doc.lost(("run", "workload_kind")):
        return
    launcher = execution.launcher if execution is not None else None
    if launcher is not None and launcher.startswith("ray-") != (doc.kind == "rayjob"):
        return  # launcher-kind speaks; whether nodes or workers count is decided with the kind
    if doc.kind == "rayjob":
        if nodes is not None and nodes > 1:
            text = f"execution.nodes {nodes} has no effect on a rayjob"
            yield doc.finding(
                ID, ("execution", "nodes"), text, hint=f"write compute.workers: {nodes}, or workload_kind job with launcher torchrun"
            )
        return
    if nodes is not None and nodes > 1 and launcher != "torchrun" and doc.kind != "jobset":
        text = f"{nodes} nodes need launcher torchrun: each would run the whole program on its own"
        yield doc.finding(ID, ("execution", "nodes"), text, hint="write execution.launcher: torchrun, or workload_kind: jobset")
    if workers is None or workers in {1, nodes}:
        return
    if nodes is not None:
        text = f"compute.workers {workers} and execution.nodes {nodes} disagree: the nodes of a {doc.kind} are its workers"
        yield doc.finding(ID, ("compute", "workers"), text, hint="keep execution.nodes", origin=doc.span(("execution", "nodes")))
    elif launcher != "torchrun":
        hint = f"write execution.nodes: {workers} with launcher torchrun, or workload_kind: rayjob"
        yield doc.finding(ID, ("compute", "workers"), f"compute.workers {workers} has no effect on a {doc.kind}", hint=hint)
