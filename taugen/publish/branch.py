"""The deploy branch as it is.

In: a repository, the tip of a branch, the Project. Out: `Deployed`: what the tip's message remembers, the published runs on demand, and
what somebody edited by hand. What must never happen: a tip that somebody edited taken for ours, a file of somebody else taken for ours.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path

from msgspec import Struct, field

from taugen.diag import Diagnostic, Span
from taugen.load import git
from taugen.load.contents import contents
from taugen.load.tree import GitTree
from taugen.publish import state, trailers
from taugen.publish.state import Key, RunState
from taugen.publish.trailers import Memory
from taugen.render import file
from taugen.words.names import slug

_AT_ONCE = 500
"""States that are held as texts."""
_LOOKED_BACK = 50
"""Commits that name the Project and are tried in search of one that is as taugen made it."""


def states_args(tip: str) -> list[str]:
    """What `Deployed.runs` asks of git."""
    return ["ls-tree", "-r", "-z", "--name-only", "--full-tree", tip, state.FOLDER + "/"]


class Restored(Struct, frozen=True):
    """A run that was published on a branch that is lost, as evidence tells: its state, and its files by path relative to the deploy tree,
    none where it is over."""

    state: RunState
    files: Mapping[str, bytes] = field(default_factory=dict)


class Deployed(Struct, dict=True):
    """A deploy branch of `project`.

    `tip` is None before the first publish. `memory` is what the tip remembers, None where the tip is no untouched commit of this Project;
    `last` and `base` are memory and id of the newest such commit, at or below the tip. `folder` is the deploy tree
    (Project.spec.output.path). `restored` are runs that evidence brings back to a branch that lost them: they count as published.
    """

    repo: Path
    project: str
    folder: str
    tip: str | None = None
    memory: Memory | None = None
    last: Memory | None = None
    base: str | None = None
    restored: Mapping[Key, Restored] = field(default_factory=dict)
    _states: dict[Key, RunState | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """What is restored is read already."""
        self._states.update({key: one.state for key, one in self.restored.items()})

    @cached_property
    def tree(self) -> GitTree:
        """The files of the tip."""
        assert self.tip is not None
        return GitTree(self.repo, self.tip)

    @cached_property
    def runs(self) -> frozenset[Key]:
        """(workspace, run) of every state file: what was ever published, and perhaps runs of another Project (`state` tells)."""
        if self.tip is None:
            return frozenset(self.restored)
        listed = git.run(states_args(self.tip), cwd=self.repo).out
        parts = (path.split("/") for path in listed.decode("utf-8", "surrogateescape").split("\0")[:-1])
        found = ((p[2], p[4].removesuffix(".yaml")) for p in parts if len(p) == 5 and p[4].endswith(".yaml") and p[4][-13:-11] == p[3])
        return frozenset((*self.restored, *found))

    @cached_property
    def _by_slug(self) -> Mapping[Key, list[Key]]:
        found: dict[Key, list[Key]] = {}
        for key in sorted(self.runs):
            found.setdefault((key[0], key[1][:-9]), []).append(key)
        return found

    def state(self, key: Key) -> RunState | None:
        """The state of a published run; None if there is none, or it is not of this Project."""
        if key not in self.runs:
            return None
        if key not in self._states:
            self.load([key])
        return self._states[key]

    def load(self, keys: Iterable[Key]) -> None:
        """Read many states in one go."""
        wanted = [key for key in keys if key not in self._states]
        for first in range(0, len(wanted), _AT_ONCE):
            some = wanted[first : first + _AT_ONCE]
            for key, body in zip(some, contents(self.repo, [f"{self.tip}:{state.state_path(*key)}" for key in some]), strict=True):
                self._states[key] = state.read(body, self.project) if isinstance(body, bytes) else None

    def states(self) -> list[RunState]:
        """Every state of this Project, sorted by workspace and run."""
        self.load(sorted(self.runs))
        return [found for key in sorted(self.runs) if (found := self._states[key]) is not None]

    def named(self, keys: Iterable[Key]) -> dict[Key, list[RunState]]:
        """The states of each (workspace, name), sorted by run."""
        wanted = {key: self._by_slug.get((key[0], slug(key[1])), []) for key in keys}
        self.load(sorted({run for runs in wanted.values() for run in runs}))
        return {key: [s for run in runs if (s := self._states[run]) is not None and s.name == key[1]] for key, runs in wanted.items()}

    def owner(self, run: RunState) -> str:
        """The path of the document that a published run belongs to, as the last publish saw it."""
        return (self.last.moved.get("/".join(run.key)) if self.last is not None else None) or run.source

    def files_below(self, folders: Iterable[str]) -> list[str]:
        """The files of the tip in folders relative to the deploy tree."""
        wanted = [f"{self.folder}/{folder}/" for folder in folders]
        if self.tip is None or not wanted:
            return []
        found = []
        for start in range(0, len(wanted), 500):
            args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", self.tip, *wanted[start : start + 500]]
            found += git.run(args, cwd=self.repo).out.decode("utf-8", "surrogateescape").split("\0")[:-1]
        return found

    def occupied(self, keys: Mapping[Key, str]) -> set[Key]:
        """Of new runs and their folders relative to the deploy tree: those where something stands already, in the folder or as the
        state."""
        if self.tip is None or not keys:
            return set()
        places = [(key, path) for key, folder in keys.items() for path in (f"{self.folder}/{folder}", state.state_path(*key))]
        found = contents(self.repo, [f"{self.tip}:{path}" for _, path in places], limit=0)
        return {key for (key, _), content in zip(places, found, strict=True) if content is not None}


def deployed(repo: Path, tip: str | None, folder: str, project: str) -> Deployed:
    """Look at a branch tip."""
    if tip is None:
        return Deployed(repo, project, folder)
    memory = memory_of(repo, tip, project)
    if memory is not None:
        return Deployed(repo, project, folder, tip, memory, memory, tip)
    args = ["rev-list", "--topo-order", f"--max-count={_LOOKED_BACK}", "--fixed-strings", f"--grep=Tau-Project: {project}", tip]
    for sha in git.run(args, cwd=repo).out.decode("ascii").split():
        if (memory := memory_of(repo, sha, project)) is not None:
            return Deployed(repo, project, folder, tip, None, memory, sha)
    return Deployed(repo, project, folder, tip)


def memory_of(repo: Path, sha: str, project: str) -> Memory | None:
    """What a commit remembers, if taugen made it for this Project and its tree is as it was made."""
    info = git.commit_info(repo, sha)
    found = trailers.read(info.message)
    return found[0] if found is not None and found[1] == info.tree and found[0].project == project else None


def edited(branch: Deployed, clusters: Collection[str]) -> list[Diagnostic]:
    """What somebody did by hand to files that taugen owns, each a finding. Files of others are nobody's business here.

    The folder of a cluster that is none of `clusters`, the fleet, may be removed as a whole: taugen never does it.
    """
    if branch.tip is None or branch.base == branch.tip:
        return []
    if branch.base is None:
        return _broken(branch)
    found = []
    changes = git.diff_names(branch.repo, branch.base, branch.tip)
    gone = _gone(branch, changes, clusters)
    changes = [(status, path) for status, path in changes if not path.startswith(gone)]
    with git.CatFile(branch.repo) as objects:
        old = objects.read_many([f"{branch.base}:{path}" for _, path in changes])
        before = [_is_own(branch, body) for body in old]
        new = objects.read_many([f"{branch.tip}:{path}" for _, path in changes])
        after = [_is_own(branch, body) for body in new]
    for (status, path), was, now in zip(changes, before, after, strict=True):
        if was:
            what = "was deleted" if status == "D" else "was edited"
            hint = f"put the change into the source, and restore the file: git checkout {branch.base[:12]} -- {path}"
            found.append(Diagnostic("deploy-edited", f"{path} {what} by hand on the deploy branch", Span(path), hint=hint))
        elif now:
            message = f"{path} was put on the deploy branch by hand, with taugen's header"
            found.append(Diagnostic("deploy-edited", message, Span(path), hint=f"remove it: git rm {path}"))
    return found


def _gone(branch: Deployed, changes: Iterable[tuple[str, str]], clusters: Collection[str]) -> tuple[str, ...]:
    """The folders of former clusters of which nothing is left."""
    start = branch.folder + "/"
    left = {path[len(start) :].partition("/")[0] for status, path in changes if status == "D" and path.startswith(start)} - set(clusters)
    return tuple(f"{start}{cluster}/" for cluster in sorted(left) if git.find(branch.repo, f"{branch.tip}:{start}{cluster}") is None)


def _is_own(branch: Deployed, body: bytes | int | None) -> bool:
    header = file.parse_header(body.partition(b"\n")[0].decode("utf-8", "replace") + "\n") if isinstance(body, bytes) else None
    return header is not None and header.project == branch.project


def _broken(branch: Deployed) -> list[Diagnostic]:
    """On a branch without one untouched commit of ours: owned files whose body is not what their header says."""
    tree = branch.tree
    paths = [path for path in tree.paths() if path.endswith(".yaml")]
    tree.prefetch(paths)
    hint = "put the change into the source and restore the file as taugen wrote it"
    return [
        Diagnostic("deploy-edited", f"{path} was edited by hand on the deploy branch", Span(path), hint=hint)
        for path in paths
        if tree.paths()[path].mode.startswith("100") and file.verify(tree.read(path).decode("utf-8", "replace"), branch.project) == "edited"
    ]
