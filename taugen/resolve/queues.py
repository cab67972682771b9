"""Which LocalQueue a run goes to.

In: the document's wish and the workspace's queues. Out: `Queues`, and once the profile is known the LocalQueue.
"""

from typing import NamedTuple

from taugen.policy.model import Profile
from taugen.policy.set import Item
from taugen.resolve.case import Case
from taugen.words import Path, suggest

QUEUE: Path = ("policy", "queue")
AUTO = "auto"


class Queues(NamedTuple):
    """`wish` is the LocalQueue that the document names, `typed` the ClusterQueue behind it; `broken`: it names one that is not there."""

    wish: str | None
    typed: str | None
    auto: bool = False
    broken: bool = False


_NONE = Queues(None, None)


def queues(case: Case) -> Queues:
    """Read the document's wish."""
    name, workspace = case.policy.queue, case.workspace
    if name is None:
        return _NONE
    if name in workspace.queues:
        return Queues(name, workspace.queues[name])
    if name == AUTO:
        return Queues(None, None, auto=True)
    feeding = [local for local, cluster_queue in workspace.queues.items() if cluster_queue == name]
    near = feeding[0] if feeding else suggest.closest(name, workspace.queues)
    listed = ", ".join(workspace.queues)
    text = f"workspace {workspace.name} has no queue {name}: it has {listed}"
    if feeding:
        text += f" ({feeding[0]} is its queue for the ClusterQueue {name})"
    origin = workspace.item.span(("queues",), key=True)
    case.report.error("queue-unknown", QUEUE, text, hint=f"write {near}" if near else f"write one of {listed}", origin=origin)
    return Queues(None, None, broken=True)


def local_queue(case: Case, profile: Item[Profile] | None, queue: Queues) -> str | None:
    """The LocalQueue: the document's, else the one that feeds the profile's queue, else the workspace's default."""
    workspace = case.workspace
    if queue.broken or queue.wish is not None:
        return queue.wish
    found = workspace.default_queue
    if profile is not None and profile.spec.queue is not None:
        found = _of_profile(case, profile, profile.spec.queue)
    elif found is None:
        text = f"workspace {workspace.name} has no default queue"
        origin = workspace.item.span(("queues",), key=True)
        case.report.error("queue-missing", QUEUE, text, hint=f"write one of {', '.join(workspace.queues)}", origin=origin)
    if queue.auto and found is not None:
        case.report.note("queue-auto", QUEUE, f"auto means {found} here", hint=f"write {found}, or leave it out")
    return found


def _of_profile(case: Case, profile: Item[Profile], wanted: str) -> str | None:
    workspace = case.workspace
    for local, cluster_queue in workspace.queues.items():
        if cluster_queue == wanted:
            return local
    queues, listed = case.context.policy.queues, workspace.item.spec.queues
    if wanted not in queues or min(len(workspace.queues), len({one.queue for one in listed if one.queue in queues})) < len(listed):
        case.report.refused = True  # a queue is misspelt or stands twice: policy's own finding says so
        return None
    text = f"profile {profile.name} runs in queue {wanted}, and workspace {workspace.name} has no LocalQueue for it"
    hint = f"take another profile, or add {{name: {wanted}, queue: {wanted}}} to the queues of the workspace"
    case.report.error("queue-of-profile", ("policy", "profile"), text, hint=hint, origin=profile.span(("queue",), key=True))
    return None
