"""What a publish reads: a commit, whole or only what changed since the last publish.

In: a repository, a ref and the deploy branch. Out: `Reading` (the commit and its project) and `Wishes` (what its documents want, compiled where new). A full pass and an incremental one
lead to the same bytes: the second reads the documents that changed since the recorded source commit, those that were held or waiting, and what had vanished.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from taugen.diag import Diagnostic, Refused, Severity, Span
from taugen.load import git
from taugen.load.glob import GlobError, Matcher
from taugen.load.tree import GitTree
from taugen.pipeline import scope
from taugen.pipeline.compile import Compiler
from taugen.pipeline.pool import Job, compile_all
from taugen.pipeline.project import ROOT_FILE, Project, find_root, load_project, workspace_of
from taugen.policy.load import load_project_file
from taugen.policy.model import Project as ProjectSpec
from taugen.policy.set import Policy
from taugen.publish.branch import Deployed
from taugen.publish.commit import Made
from taugen.publish.plan import Plan, Wish
from taugen.publish.platform import Held
from taugen.publish.state import RunState
from taugen.publish.trailers import COMPILER, Memory
from taugen.render.types import Rendered
from taugen.spec.read import read_file

Name = tuple[str, str]


@dataclass
class Wishes:
    """What the documents want. `touched` are names whose runs may have lost their document; `moved` where the documents of published runs stand now, if elsewhere."""

    reading: "Reading"
    branch: Deployed
    full: bool
    wishes: list[Wish] = field(default_factory=list)
    touched: set[Name] = field(default_factory=set)
    compiled: dict[Name, Made] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)
    platform: list[Rendered] = field(default_factory=list)
    held: Held = field(default_factory=Held)
    files: frozenset[str] = frozenset()
    """Files that were read (or are gone): every other document stands as it stood."""

    def owner(self, state: RunState) -> str:
        """The path of the document that a state belongs to."""
        memory = self.branch.memory
        return (memory.moved.get(f"{state.workspace}/{state.run}") if memory is not None else None) or state.source

    def claims(self, state: RunState) -> str | None:
        """The path of a document outside of the wishes that has the name of a state."""
        path = self.owner(state)
        if self.full or path in self.files:
            return None
        return path if (state.workspace, state.name) in self.reading.names_in(self.reading.commit, path) else None

    def memory(self, plan: Plan) -> Memory:
        """What the commit remembers."""
        before = self.branch.memory
        policy, sources = (self.reading.policy.digest, self.reading.policy.sources) if self.full or before is None else (before.policy, before.sources)
        vanished = tuple(f"{s.workspace}/{s.run}" for s in plan.vanished)
        moved = {} if self.full or before is None else {run: path for run, path in before.moved.items() if path not in self.files}
        for wish in [*plan.published, *plan.ended_before]:
            state = self.branch.state(wish.workspace, wish.run)
            if state is not None and state.source != wish.file:
                moved[f"{wish.workspace}/{wish.run}"] = wish.file
        return Memory(self.reading.project_name, self.reading.commit, policy, COMPILER, sources, plan.pending(), vanished, moved)


@dataclass
class Reading:
    """A commit that is open for publishing. `prefix` is the project's folder in the repository."""

    repo: Path
    root: Path
    prefix: str
    commit: str
    project: ProjectSpec
    project_name: str
    bare: bool = False

    @property
    def output_path(self) -> str:
        """The deploy tree on the branch."""
        return self.project.output.path.strip("/")

    @property
    def allow_cancel(self) -> bool:
        """Whether live runs go with their documents."""
        return self.project.safety.cancel == "allow"

    @cached_property
    def matcher(self) -> Matcher:
        """The run globs. Raises nothing: a bad pattern is a finding of the full pass."""
        try:
            return Matcher(self.project.runs)
        except GlobError:
            return Matcher(())

    @cached_property
    def loaded(self) -> Project:
        """Policy, overlays and listing of the commit."""
        return load_project(self.root, GitTree(self.repo, self.commit, self.prefix))

    @property
    def policy(self) -> Policy:
        """The policy of the commit."""
        return self.loaded.policy

    def names_in(self, commit: str, path: str) -> set[Name]:
        """(workspace, name) of the documents that a file holds in a commit; none if it is not there or not readable."""
        with git.CatFile(self.repo) as objects:
            raw = objects.read(f"{commit}:{self._full(path)}")
        workspace = workspace_of(path)
        return set() if raw is None else {(workspace, doc.name) for doc in read_file(path, raw, workspace)[0] if doc.name}

    def _full(self, path: str) -> str:
        return f"{self.prefix}/{path}" if self.prefix else path

    def wishes(self, branch: Deployed, *, full: bool, progress: Callable[[str], None]) -> Wishes:
        """Read what is needed to plan against `branch`."""
        changed = None if full else self.changed(branch)
        if changed is None:
            return self._all(branch, progress)
        return self._some(branch, changed)

    def changed(self, branch: Deployed) -> set[str] | None:
        """Paths that changed since the recorded source commit; None if only a full pass will do."""
        memory = branch.memory
        if memory is None or memory.compiler != COMPILER or memory.project != self.project_name or (branch.tip and not branch.runs and not self._has(branch)):
            return None
        if memory.source == self.commit:
            return set()
        names = git.diff_names(self.repo, memory.source, self.commit, [self.prefix] if self.prefix else [])
        cut = len(self.prefix) + 1 if self.prefix else 0
        paths = {path[cut:] for _, path in names}
        return None if any(self._is_policy(path) for path in paths) else paths

    def _has(self, branch: Deployed) -> bool:
        return git.find(self.repo, f"{branch.tip}:{branch.folder}") is not None

    def _is_policy(self, path: str) -> bool:
        folders = [source.path.strip("/") for source in self.project.policy if source.path] + [self.project.overlays.strip("/"), ".taugen"]
        return path in (ROOT_FILE, "taugen.lock") or any(folder in ("", ".") or path == folder or path.startswith(folder + "/") for folder in folders)

    def _all(self, branch: Deployed, progress: Callable[[str], None]) -> Wishes:
        """Every document, and the platform."""
        compiler = Compiler(self.loaded)
        rendered, found = compiler.platform()
        policy_findings = [*self.loaded.findings, *found]
        held = scope.held(self.policy, policy_findings, rendered)
        files = self.loaded.documents()
        out = Wishes(self, branch, full=True, findings=policy_findings, platform=rendered, held=held.files, files=frozenset(files))
        branch.load(branch.runs)
        self._compile(out, Job(compiler, branch.runs, held.workspaces), files, progress)
        out.touched = {(state.workspace, state.name) for state in branch.states() if state.phase == "live"}
        return out

    def _some(self, branch: Deployed, changed: set[str]) -> Wishes:
        """What changed, what was pending, what had vanished."""
        memory = branch.memory
        assert memory is not None
        documents = {path for path in changed if self.matcher(path)}
        files = documents | set(memory.pending)
        out = Wishes(self, branch, full=False, files=frozenset(files))
        out.touched = {(workspace, state.name) for workspace, run in self._runs(memory.vanished) if (state := branch.state(workspace, run)) is not None}
        for path in sorted(documents):
            out.touched |= self.names_in(memory.source, path)
        there = [path for path in sorted(files) if git.find(self.repo, f"{self.commit}:{self._full(path)}") is not None]
        if there:
            self._compile(out, Job(Compiler(self.loaded), branch.runs), there, lambda _: None)
        out.findings += self._code_notes(changed - documents, files)
        return out

    @staticmethod
    def _runs(names: tuple[str, ...]) -> list[Name]:
        return [(workspace, run) for name in names for workspace, _, run in [name.partition("/")]]

    def _compile(self, out: Wishes, job: Job, files: list[str], progress: Callable[[str], None]) -> None:
        for number, result in enumerate(compile_all(job, files), 1):
            out.wishes += result.wishes
            out.compiled.update(result.made)
            out.findings += result.findings
            if number % 200 == 0:
                progress(f"compiled {number} of {len(files)} documents")

    def _code_notes(self, changed: set[str], read: set[str]) -> list[Diagnostic]:
        """Code that changed under an unchanged document: the published run keeps the code that it was published with (law 3)."""
        candidates = set()
        for path in changed:
            folder = path.rpartition("/")[0]
            while folder:
                candidates.add(f"{folder}/tau.yaml")
                folder = folder.rpartition("/")[0]
        found = []
        for path in sorted(c for c in candidates if c not in read and self.matcher(c)):
            if git.find(self.repo, f"{self.commit}:{self._full(path)}") is not None:
                message = "code beside this document changed; its published run keeps the code that it was published with"
                found.append(Diagnostic("code-changed", message, Span(path), path="generation", hint="bump `generation` to run the new code", severity=Severity.NOTE))
        return found

    def left_out(self) -> list[str]:
        """Documents and policy with changes that are not committed: publish reads the commit, not them."""
        if self.bare:
            return []
        args = ["status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames", "--", self.prefix or "."]
        listed = git.run(args, cwd=self.repo, check=False).out.decode("utf-8", "surrogateescape").split("\0")
        cut = len(self.prefix) + 1 if self.prefix else 0
        return sorted(line[3:][cut:] for line in listed if len(line) > 3)


def open_commit(directory: Path, ref: str) -> Reading:
    """Open `ref` of the repository around `directory`. Raises `Refused`."""
    try:
        repo, root, prefix, bare = _place(directory)
        commit = git.resolve(repo, ref)
    except git.GitError as error:
        hint = "publish reads a commit: git init, git add and git commit first" if "not in a Git" in str(error) or ref == "HEAD" else "check the spelling"
        raise Refused(str(error), hint=hint, code=2) from None
    with GitTree(repo, commit, prefix) as tree:
        item, findings = load_project_file(tree)
    if item is None:
        raise Refused(f"{ROOT_FILE} of commit {commit[:12]} can't be read", findings=findings)
    return Reading(repo, root, prefix, commit, item.spec, item.name, bare)


def _place(directory: Path) -> tuple[Path, Path, str, bool]:
    start = directory.resolve()
    if start.is_dir() and git.run(["rev-parse", "--is-bare-repository"], cwd=start, check=False).out.strip() == b"true":
        return start, start, "", True
    root = find_root(directory)
    top = git.toplevel(root)
    if top is None:
        raise git.GitError(["rev-parse"], 128, "not a git repository")
    return top, root, "" if top == root else root.relative_to(top).as_posix(), False


