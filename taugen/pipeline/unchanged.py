"""A publish of what is published, at the price of a few questions to git.

In: a request and an opened commit. Out: the `Outcome` that a whole publish would have come to, or what was seen of the branch where it
takes one to tell. What must never happen: an answer that a whole pass would not give; a heavy import.
"""

from msgspec import Struct

from taugen.load import ask, git
from taugen.pipeline.opening import Opened, head
from taugen.pipeline.outcome import Outcome, Request
from taugen.publish import branch
from taugen.publish.target import Target
from taugen.publish.trailers import COMPILER


def _begin(opened: Opened, tip: str, source: str) -> None:
    """Ask git what a pass over the changes since `source` begins with: it answers while the compiler is loaded."""
    ask.begin(git.ancestor_args(source, opened.commit), opened.repo)
    ask.begin(git.diff_args(source, opened.commit, [opened.prefix] if opened.prefix else []), opened.repo)
    ask.begin(branch.states_args(tip), opened.repo)


class Look(Struct, frozen=True):
    """A branch and its tip, which was guarded."""

    target: Target
    tip: str


def unchanged(request: Request, opened: Opened) -> Outcome | Look | None:
    """The outcome, if the branch was made from this very commit by this compiler, is untouched, and nothing was left open; else the look
    at the branch, if there was one. Raises `Refused`."""
    project = None if request.full or request.allow or request.accept else head(opened)
    if project is None or (request.to or project.url) is not None:
        return None
    target, tip = Target.here(opened.repo, request.branch or project.branch)
    if tip is None:
        return None
    look = Look(target, tip)
    memory = branch.memory_of(opened.repo, tip, project.name)
    if memory is None or memory.compiler != COMPILER:
        return look
    if memory.source != opened.commit:
        if not memory.unsettled:
            _begin(opened, tip, memory.source)
        return look
    if memory.pending or memory.adrift or memory.unsettled:
        return look
    if not request.dry_run:
        target.remember(tip)
    return Outcome(target.where, opened)
