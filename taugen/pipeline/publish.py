"""Publishes: reads a commit, plans against the deploy branch, commits, and answers a lost race by planning anew.

In: a folder, a ref and where to publish. Out: `Outcome`. What must never happen: uncommitted files in the tree, a branch that goes back, a
force-push, one workspace's fault holding back another's runs. What is heavy is imported once it is known that something may be new.
"""

from collections.abc import Callable

from taugen.diag import Refused
from taugen.load import ask, git
from taugen.load.root import ROOT_FILE
from taugen.load.status import Uncommitted
from taugen.pipeline import opening
from taugen.pipeline.opening import Opened
from taugen.pipeline.outcome import Outcome, Request
from taugen.pipeline.unchanged import unchanged
from taugen.publish.target import Target

__all__ = ["Outcome", "Request", "publish"]

ATTEMPTS = 8
"""Races that are answered before publish gives up; each costs a fetch and a plan."""


def publish(request: Request, progress: Callable[[str], None] = lambda _: None, uncommitted: Uncommitted | None = None) -> Outcome:
    """Publish. `uncommitted` is that of the project's folder, where it runs already. Raises `Refused` for what stops it as a whole."""
    opened = opening.opened(request.directory, request.ref)
    try:
        if request.ref != "HEAD" or opened.bare:
            return _publish(opened, request, progress)
        with uncommitted or Uncommitted(opened.root) as status:
            outcome = _publish(opened, request, progress)
            outcome.left_out = _left_out(opened, status.paths(opened.prefix))
            return outcome
    except git.GitError as error:
        raise Refused(f"nothing was published: {error}", hint=_git_hint(error), code=4) from None
    finally:
        ask.forget()


def _git_hint(error: git.GitError) -> str:
    if "File exists" in error.stderr and ".lock" in error.stderr:
        return "another git works here, or one was killed and left its lock: when none runs, remove the file"
    return "the deploy branch is as it was; publish again when that is mended"


def _left_out(opened: Opened, paths: list[str]) -> tuple[str, ...]:
    """Of the files that are not committed those that would have mattered."""
    if not paths:
        return ()
    from taugen.pipeline.source import read

    reading = read(opened)
    places = [ROOT_FILE, "taugen.lock", "workspaces", *reading.policy_places]
    return tuple(p for p in paths if reading.matcher(p) or any(p == at or p.startswith(at + "/") or at.startswith(p) for at in places))


def _publish(opened: Opened, request: Request, progress: Callable[[str], None]) -> Outcome:
    """Publish, and try again as long as somebody else is quicker."""
    look = unchanged(request, opened)
    if isinstance(look, Outcome):
        return look
    from taugen.pipeline import attempt
    from taugen.pipeline.source import read

    reading = read(opened)
    output = reading.project.output
    name, remote = request.branch or output.branch, request.to or output.url
    if look is not None and (look.target.name, look.target.remote) != (name, remote):
        look = None
    target = Target.of(reading.repo, name, remote) if look is None else look.target
    for number in range(1, ATTEMPTS + 1):
        tip = target.tip() if look is None else look.tip
        if look is None:
            target.guard(tip, request.accept)
        look = None
        outcome, made = attempt.once(reading, target, tip, request, progress)
        if request.dry_run:
            return outcome
        if made is None or target.move(made, tip):
            outcome.commit = made
            target.remember(made or tip)
            return outcome
        progress(f"{target.where} moved meanwhile: planning anew ({number} of {ATTEMPTS})")
    raise Refused(f"{target.where} moved {ATTEMPTS} times while publishing", hint="publish again; one writer at a time is quickest", code=4)
