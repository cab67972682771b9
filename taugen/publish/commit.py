"""Makes the commit object of a publish.

In: a plan and what was compiled. Out: the changed files, and a commit id that nothing points to yet. Author, dates and message derive from the source commit and the change: who runs
publish, and when, leaves no trace (laws 1 and 2).
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from taugen.diag import Span
from taugen.load import fastimport, git
from taugen.publish import state, trailers
from taugen.publish.branch import Deployed
from taugen.publish.plan import Plan, Wish
from taugen.publish.platform import PlatformChange
from taugen.publish.state import RunState
from taugen.publish.trailers import Memory
from taugen.render import file
from taugen.render.types import Rendered

Files = dict[str, bytes | None]
"""Path on the branch -> new content, or None to delete it."""


class Made:
    """What compiling a new run left for the commit: the texts of its files, relative to the deploy tree, and its state without the commit."""

    __slots__ = ("files", "state")

    def __init__(self, files: Mapping[str, str], run: RunState) -> None:
        self.files = files
        self.state = run


def files(branch: Deployed, project: str, made: Mapping[tuple[str, str], Made], plan: Plan, platform: PlatformChange, commit: str) -> Files:
    """Everything that differs from the branch."""
    out: Files = {path: text.encode() for path, text in platform.writes.items()}
    out.update(dict.fromkeys(platform.deletes))
    for run, phase in plan.end:
        out.update(dict.fromkeys(manifests(branch, run)))
        out[run.path] = state_text(run.ended(phase), project)
    for wish in plan.add:
        new = made[wish.workspace, wish.run]
        out.update({f"{branch.folder}/{path}": text.encode() for path, text in new.files.items()})
        out[new.state.path] = state_text(replace(new.state, commit=commit), project)
    return out


def state_text(run: RunState, project: str) -> bytes:
    """The state's file, header included."""
    obj = state.write(run)
    assert isinstance(obj, dict)
    return file.text(Rendered(run.path, obj, run.source, Span(run.source)), project).encode()


def manifests(branch: Deployed, run: RunState) -> list[str]:
    """The files of a published run."""
    listed = git.run(["ls-tree", "-r", "-z", "--name-only", str(branch.tip), f"{branch.folder}/{run.folder}/"], cwd=branch.repo).out
    return listed.decode("utf-8", "surrogateescape").split("\0")[:-1]


def exists(branch: Deployed, cluster: str, wish: Wish) -> bool:
    """Whether something stands where the files of a new run would go."""
    path = f"{branch.folder}/{cluster}/runs/{wish.workspace}/{wish.run[-8:-6]}/{wish.run}"
    return git.find(branch.repo, f"{branch.tip}:{path}") is not None


def make(repo: Path, branch: Deployed, changed: Files, plan: Plan, platform: PlatformChange, memory: Memory) -> str:
    """Write the objects and return the commit's id. Raises `GitError`; nothing refers to what was written."""
    info = git.commit_info(repo, memory.source)
    author = f"{info.author_name} <{info.author_email}> {info.author_date}".encode()
    committer = f"{info.author_name} <{info.author_email}> {info.committer_date}".encode()
    parents = [branch.tip] if branch.tip else []
    draft = fastimport.commit_tree(repo, parents=parents, message=b"draft", author=author, committer=committer, changes=list(changed.items()), base=branch.tip)
    tree = git.commit_info(repo, draft).tree
    text = trailers.message(subject(plan, platform, changed), actions(plan), memory, tree)
    return fastimport.commit_tree(repo, parents=parents, message=text, author=author, committer=committer, changes=[], base=draft)


def actions(plan: Plan) -> list[tuple[str, str]]:
    """(verb, run) of every run that changes."""
    ended = [("cancel" if phase == "cancelled" else "replace", run.run_id) for run, phase in plan.end]
    return sorted([*(("add", wish.run_id) for wish in plan.add), *ended])


def subject(plan: Plan, platform: PlatformChange, changed: Files) -> str:
    """The first line of the message."""
    parts = []
    for count, word in ((len(plan.add), "add"), (len(plan.end), "end")):
        if count:
            parts.append(f"{word} {count} run{'s' * (count > 1)}")
    touched = len(platform.writes) + len(platform.deletes)
    if touched:
        parts.append(f"change {touched} platform file{'s' * (touched > 1)}")
    return "Publish: " + (", ".join(parts) or f"{len(changed)} files")


