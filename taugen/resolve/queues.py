"""Which LocalQueue a run goes to.

In: the document's wish and the workspace's queues. Out: `Queues`; the profile's queue takes part once the profile is known.
"""

from typing import NamedTuple

from taugen.policy.model import Profile
from taugen.policy.set import Item
from taugen.resolve.context import WorkspaceContext
from taugen.resolve.report import Report
from taugen.words import Path, suggest

QUEUE: Path = ("policy", "queue")
AUTO = "auto"


class Queues(NamedTuple):
    """`wish` is the LocalQueue that the document names, `typed` the ClusterQueue that it feeds; `broken` where it names one that is not there."""

    wish: str | None
    typed: str | None
    auto: bool
    broken: bool


def queues(report: Report, workspace: WorkspaceContext) -> Queues:
    """Read the document's wish."""
    policy = report.doc.spec.policy
    name = policy.queue if policy is not None else None
    if name is None or name == AUTO:
        return Queues(None, None, name == AUTO, broken=False)
    if name in workspace.queues:
        return Queues(name, workspace.queues[name], auto=False, broken=False)
    feeding = [local for local, cluster_queue in workspace.queues.items() if cluster_queue == name]
    near = feeding[0] if feeding else suggest.closest(name, workspace.queues)
    text = f"workspace {workspace.name} has no queue {name}: it has {', '.join(workspace.queues)}"
    if feeding:
        text += f" ({feeding[0]} feeds the ClusterQueue {name})"
    origin = workspace.item.span(("queues",), key=True)
    report.error(
        "queue-unknown", QUEUE, text, hint=f"write {near}" if near else f"write one of {', '.join(workspace.queues)}", origin=origin
    )
    return Queues(None, None, auto=False, broken=True)


def local_queue(report: Report, workspace: WorkspaceContext, profile: Item[Profile] | None, queue: Queues) -> str | None:
    """The LocalQueue: the document's, else the one that feeds the profile's queue, else the workspace's default."""
    if queue.broken:
        return None
    if queue.wish is not None:
        return queue.wish
    found = workspace.default_queue
    if profile is not None and profile.spec.queue is not None:
        wanted = profile.spec.queue
        found = next((local for local, cluster_queue in workspace.queues.items() if cluster_queue == wanted), None)
        if found is None:
            text = f"profile {profile.name} runs in queue {wanted}, and workspace {workspace.name} has no LocalQueue for it"
            hint = f"add {{name: {wanted}, queue: {wanted}}} to the workspace's queues, or take another profile"
            report.error("queue-of-profile", ("policy", "profile"), text, hint=hint, origin=profile.span(("queue",), key=True))
            return None
    elif found is None:
        text = f"workspace {workspace.name} has no default queue"
        origin = workspace.item.span(("queues",), key=True)
        report.error("queue-missing", QUEUE, text, hint=f"write one of {', '.join(workspace.queues)}", origin=origin)
    if queue.auto and found is not None:
        report.note("queue-auto", QUEUE, f"auto means {found} here", hint=f"write {found}, or leave it out")
    return found
