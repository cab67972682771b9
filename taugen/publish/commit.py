"""Makes the commit object of a publish.

In: a plan, what was compiled, the platform's changes. Out: the changed files, and a commit id that nothing points to yet. Author, dates and
message derive from the source commit and the change: who runs publish, and when, leaves no trace (laws 1 and 2).
"""

from collections.abc import Collection, Mapping

from msgspec import Struct

from taugen.load import git
from taugen.load.fastimport import Writer
from taugen.publish import trailers
from taugen.publish.branch import Deployed
from taugen.publish.plan import Plan
from taugen.publish.platform import PlatformChange
from taugen.publish.state import Key
from taugen.publish.trailers import Memory

Files = dict[str, bytes | int | None]
"""Path on the branch -> new content or the mark of one that was written before (`fastimport.blob`), or None to delete it."""


class Made(Struct, frozen=True):
    """What compiling a new run left: its folder and files relative to the deploy tree and its state's path, each file with the mark of its
    content."""

    folder: str
    files: Mapping[str, int]
    state: str
    mark: int


def files(branch: Deployed, made: Mapping[Key, Made], plan: Plan, platform: PlatformChange) -> Files:
    """Everything that will differ from the branch."""
    out: Files = {path: text.encode() for path, text in platform.writes.items()}
    out.update(dict.fromkeys(platform.deletes))
    out.update(restored(branch, {run.key for run, _ in plan.end}))
    out.update(dict.fromkeys(branch.files_below(run.folder for run, _ in plan.end)))
    for run, phase in plan.end:
        out[run.path] = run.ended(phase).content(branch.project)
    for wish in plan.add:
        new = made[wish.key]
        out.update({f"{branch.folder}/{path}": mark for path, mark in new.files.items()})
        out[new.state] = new.mark
    return out


def restored(branch: Deployed, ended: Collection[Key]) -> Files:
    """The files of runs that evidence brings back; of those that end at once the state alone."""
    out: Files = {}
    for key, one in branch.restored.items():
        out[one.state.path] = one.state.content(branch.project)
        if key not in ended:
            out.update({f"{branch.folder}/{path}": content for path, content in one.files.items()})
    return out


def make(branch: Deployed, changed: Files, plan: Plan, platform: PlatformChange, memory: Memory, *, writer: Writer) -> str:
    """Write the commit and return its id. Raises `GitError`; nothing refers to what was written."""
    info = git.commit_info(branch.repo, memory.source)
    return writer.commit(
        list(changed.items()),
        parents=[branch.tip] if branch.tip else [],
        message=lambda tree: trailers.message(subject(plan, platform, len(branch.restored)), actions(plan), memory, tree),
        author=f"{info.author_name} <{info.author_email}> {info.author_date}".encode(),
        committer=f"{info.author_name} <{info.author_email}> {info.committer_date}".encode(),
        base=branch.tip,
    )


def actions(plan: Plan) -> list[tuple[str, str]]:
    """(verb, run) of every run that changes."""
    ended = [("cancel" if phase == "cancelled" else "replace", run.run_id) for run, phase in plan.end]
    return sorted([*(("add", wish.run_id) for wish in plan.add), *ended])


def subject(plan: Plan, platform: PlatformChange, restored: int = 0) -> str:
    """The first line of the message: `Publish: add 2 runs, end 1 run, change 3 platform files`."""
    touched = len(platform.writes) + len(platform.deletes)
    runs = ((restored, "restore", "run"), (len(plan.add), "add", "run"), (len(plan.end), "end", "run"))
    counts = (*runs, (touched, "change", "platform file"))
    return "Publish: " + ", ".join(f"{verb} {count} {what}{'s' * (count != 1)}" for count, verb, what in counts if count)
