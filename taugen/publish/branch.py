"""The deploy branch as it is.

In: a repository and a branch, local or of a remote. Out: `Deployed`: the tip, what its message remembers, the published runs and single files on demand.
What must never happen: taking a tip that somebody edited for ours.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from taugen.diag import Diagnostic, Span
from taugen.load import git
from taugen.load.tree import GitTree
from taugen.publish import state, trailers
from taugen.publish.state import RunState
from taugen.publish.trailers import Memory
from taugen.render import file


@dataclass
class Deployed:
    """A deploy branch. `tip` is None before the first publish; `memory` is None if the tip is not a commit of taugen, or its tree was changed since."""

    repo: Path
    tip: str | None
    folder: str
    """Project.spec.output.path: the deploy tree on the branch."""
    memory: Memory | None = None
    source: str | None = None
    """The source commit that the newest commit of taugen on the branch names, also under edits of others."""
    _states: dict[tuple[str, str], RunState | None] = field(default_factory=dict)

    @cached_property
    def tree(self) -> GitTree:
        """The files of the tip."""
        assert self.tip is not None
        return GitTree(self.repo, self.tip)

    @cached_property
    def runs(self) -> frozenset[tuple[str, str]]:
        """(workspace, run) of every run that was ever published."""
        if self.tip is None:
            return frozenset()
        listed = git.run(["ls-tree", "-r", "-z", "--name-only", self.tip, state.FOLDER + "/"], cwd=self.repo).out.decode("utf-8", "surrogateescape")
        found = set()
        for path in listed.split("\0")[:-1]:
            parts = path.split("/")
            if len(parts) == 5 and path.endswith(".yaml"):
                found.add((parts[2], parts[4][:-5]))
        return frozenset(found)

    @cached_property
    def by_slug(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        """(workspace, slug) -> runs, oldest order unknown, sorted."""
        found: dict[tuple[str, str], list[str]] = {}
        for workspace, run in sorted(self.runs):
            found.setdefault((workspace, run[:-9]), []).append(run)
        return {key: tuple(value) for key, value in found.items()}

    def state(self, workspace: str, run: str) -> RunState | None:
        """The state of a published run; None if there is none (or it is not readable)."""
        key = (workspace, run)
        if key not in self.runs:
            return None
        if key not in self._states:
            self.load([key])
        return self._states[key]

    def load(self, keys: Iterable[tuple[str, str]]) -> None:
        """Read many states in one go."""
        wanted = [key for key in keys if key not in self._states]
        specs = [f"{self.tip}:{state.state_path(*key)}" for key in wanted]
        with git.CatFile(self.repo) as objects:
            for key, body in zip(wanted, objects.read_many(specs), strict=True):
                self._states[key] = state.read(body, key[0]) if isinstance(body, bytes) else None

    def states(self) -> list[RunState]:
        """Every state that can be read, sorted by workspace and run."""
        self.load(self.runs)
        return [found for key in sorted(self.runs) if (found := self._states[key]) is not None]


def deployed(repo: Path, tip: str | None, folder: str) -> Deployed:
    """Look at a branch tip."""
    if tip is None:
        return Deployed(repo, None, folder)
    info = git.commit_info(repo, tip)
    read = trailers.read(info.message)
    if read is not None and read[1] == info.tree:
        return Deployed(repo, tip, folder, read[0], read[0].source)
    return Deployed(repo, tip, folder, None, _last_source(repo, tip))


def _last_source(repo: Path, tip: str) -> str | None:
    """The source commit of the newest commit of ours below `tip`."""
    args = ["log", "-n", "1", "--format=%B", "--grep=^Tau-Source-Commit: ", tip]
    read = trailers.read(git.run(args, cwd=repo).out.decode("utf-8", "replace"))
    return read[0].source if read is not None else None


def edited(branch: Deployed, project: str) -> list[Diagnostic]:
    """Owned files whose body is not what taugen wrote: each a finding. Files of others are nobody's business here."""
    if branch.tip is None:
        return []
    found = []
    hint = "put the change into the source (tau.yaml, policy or an overlay) and restore the file: git checkout the commit before on the deploy branch"
    tree = branch.tree
    paths = [p for p in tree.paths() if p.startswith((branch.folder + "/", state.FOLDER + "/"))]
    tree.prefetch(paths)
    for path in paths:
        body = tree.read(path)
        header = file.parse_header(body.decode("utf-8", "replace"))
        if header is None or header.project != project:
            if path.startswith(state.FOLDER + "/"):
                found.append(Diagnostic("deploy-edited", f"the state {path} was changed by hand", Span(path), hint=hint))
        elif not file.intact(body.decode("utf-8", "replace")):
            found.append(Diagnostic("deploy-edited", f"{path} was edited by hand on the deploy branch", Span(path), hint=hint))
    return found
