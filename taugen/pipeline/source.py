"""What a publish reads: a commit, whole or only what changed since the last publish.

In: a repository, a ref, the deploy branch. Out: `Reading` (the commit and its Project) and `Wishes` (what its documents want, compiled
where new). A full pass and an incremental one lead to the same bytes: the second reads the documents that changed since the recorded source
commit, those that were held or waiting, and every other document that claims one of their names. What must never happen: a file that is not
committed.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct, field

from taugen.diag import Diagnostic, Refused, has_errors
from taugen.load import git
from taugen.load.contents import contents
from taugen.load.fastimport import Writer
from taugen.load.glob import GlobError, Matcher
from taugen.load.tree import LINK, GitTree
from taugen.pipeline.opening import Opened
from taugen.pipeline.project import LOCK_FILE, ROOT_FILE, Project, load_project, policy_places, workspace_of
from taugen.policy.load import load_project_file
from taugen.policy.model import Project as ProjectSpec
from taugen.publish.branch import Deployed
from taugen.publish.commit import Made
from taugen.publish.plan import Plan, Wish
from taugen.publish.platform import Wanted
from taugen.publish.state import Key
from taugen.publish.trailers import COMPILER, Memory
from taugen.words.errors import shown

if TYPE_CHECKING:
    from taugen.pipeline.pool import Job

# The compiler is imported where something is compiled: a publish that finds nothing changed needs a tenth of a second less.

Progress = Callable[[str], None]


class Wishes(Struct):
    """What the documents want. `touched` are (workspace, name) whose runs may have lost their document; `compiled` new runs; `platform` is
    None in an incremental pass: nothing of the platform changed."""

    wishes: list[Wish] = field(default_factory=list)
    touched: set[Key] = field(default_factory=set)
    compiled: dict[Key, Made] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)
    platform: Wanted | None = None
    files: set[str] = field(default_factory=set)
    """Files that were read, or are gone."""
    changed: set[str] = field(default_factory=set)
    """Documents that changed since the last publish."""

    @property
    def full(self) -> bool:
        """Whether everything was read."""
        return self.platform is not None


class Reading(Opened):
    """A commit whose taugen.yaml was read."""

    project: ProjectSpec
    name: str

    @property
    def output_path(self) -> str:
        """The deploy tree on the branch."""
        return "/".join(part for part in self.project.output.path.split("/") if part not in ("", "."))

    @cached_property
    def matcher(self) -> Matcher:
        """The run globs; none where a pattern is bad, which is a finding of the full pass."""
        try:
            return Matcher(self.project.runs)
        except GlobError:
            return Matcher(())

    @property
    def policy_places(self) -> list[str]:
        """Folders and files, beside taugen.yaml and taugen.lock, of which a change changes policy."""
        return policy_places(self.project)

    @cached_property
    def whole(self) -> Project:
        """Policy, overlays and listing of the commit."""
        return load_project(self.root, GitTree(self.repo, self.commit, self.prefix))

    def part(self, files: Iterable[str]) -> Project:
        """The same, with no more documents listed than those of the workspaces of `files`."""
        only = [ROOT_FILE, LOCK_FILE, *(place for place in policy_places(self.project) if place), *_workspaces(files)]
        return load_project(self.root, GitTree(self.repo, self.commit, self.prefix, only), whole=False)

    def contents(self, commit: str, paths: Sequence[str]) -> dict[str, bytes]:
        """The files of a commit that are there."""
        if not paths:
            return {}
        bodies = contents(self.repo, [f"{commit}:{self.full_path(path)}" for path in paths])
        return {path: body for path, body in zip(paths, bodies, strict=True) if isinstance(body, bytes)}

    # ---------------------------------------------------------------------------------------------------------------- wishes

    def wishes(self, branch: Deployed, writer: Writer | None, *, full: bool, progress: Progress) -> Wishes:
        """Read what is needed to plan against `branch`; the texts of new runs go to the writer."""
        changed = None if full else self.changed(branch)
        return self.all(branch, writer, progress) if changed is None else self.some(branch, changed, writer, progress)

    def changed(self, branch: Deployed) -> set[str] | None:
        """Paths that changed since the recorded source commit; None if only a full pass will do."""
        memory = branch.memory
        if memory is None or memory.compiler != COMPILER or memory.unsettled:
            return None
        if memory.source == self.commit:
            return set()
        paths = self.since(memory.source)
        places = (ROOT_FILE, LOCK_FILE, *policy_places(self.project))
        if any(path == place or path.startswith(place + "/") or not place for path in paths for place in places):
            return None
        # Policy may be links to files elsewhere.
        elsewhere = any(not self.matcher(path) for path in paths)
        return None if elsewhere and self.linked(places) else paths

    def since(self, commit: str) -> set[str]:
        """Paths of the project that differ between `commit` and this one."""
        names = git.diff_names(self.repo, commit, self.commit, [self.prefix] if self.prefix else [])
        cut = len(self.prefix) + 1 if self.prefix else 0
        return {path[cut:] for _, path in names}

    def linked(self, places: Iterable[str]) -> bool:
        """Whether any file of policy is a symbolic link."""
        entries = git.ls_tree(self.repo, self.commit, self.prefix, [place for place in places if place])
        return any(entry.mode == LINK for entry in entries.values())

    def all(self, branch: Deployed, writer: Writer | None, progress: Progress) -> Wishes:
        """Every document, and the platform."""
        from taugen.load.mainline import Mainline
        from taugen.pipeline import changes
        from taugen.pipeline.compile import Compiler
        from taugen.pipeline.pool import Job
        from taugen.pipeline.scope import doubt, scope

        compiler = Compiler(self.whole)
        progress("rendering the platform")
        rendered, found = compiler.platform()
        findings = [*self.whole.findings, *found]
        held = scope(self.whole.policy, self.whole.tree, findings)
        files = self.whole.documents()
        out = Wishes(
            findings=findings, platform=Wanted(self.whole.policy, rendered, held.files, doubt(self.whole.policy, held)), files=set(files)
        )
        branch.load(sorted(branch.runs))
        line = Mainline(self.repo, self.commit, self.prefix) if writer is not None else None
        if line is not None and not branch.runs:
            line.look(files)
        self.compile(out, Job(compiler, branch.runs, self.commit, held, writer, line), files, progress)
        out.touched = {(state.workspace, state.name) for state in branch.states() if state.live}
        if branch.last is not None:
            changed = self.since(branch.last.source)
            out.changed = self.documents(changed)
            out.findings += changes.code_notes(self.whole.tree, self.whole.matcher, branch, changed - out.changed, out.changed)
        return out

    def some(self, branch: Deployed, changed: set[str], writer: Writer | None, progress: Progress) -> Wishes:
        """What changed, what was pending, what had no document; and all that claims a name of those."""
        memory = branch.memory
        assert memory is not None
        documents = self.documents(changed)
        out = Wishes(touched=self.adrift(branch, memory.adrift), changed=documents)
        waiting = documents | set(memory.pending)
        if not changed and not waiting:
            return out
        from taugen.load.mainline import Mainline
        from taugen.pipeline import changes
        from taugen.pipeline.compile import Compiler
        from taugen.pipeline.pool import Job
        from taugen.spec.read import read_file

        for path, raw in self.contents(memory.source, sorted(documents)).items():
            out.touched |= {(doc.workspace, doc.name) for doc in read_file(path, raw, workspace_of(path))[0] if doc.name}
        line = Mainline(self.repo, self.commit, self.prefix) if writer is not None else None
        if line is not None:
            line.knows(memory.source, changed)
        project: Project | None = None
        while waiting:
            there = sorted(self.contents(self.commit, sorted(waiting)))
            if there:
                project = self.part({*there, *out.files})
                if has_errors(project.findings):
                    return self.all(branch, writer, progress)
                self.compile(out, Job(Compiler(project), branch.runs, self.commit, writer=writer, mainline=line), there, progress)
            out.files |= waiting
            names = branch.named({*out.touched, *((wish.workspace, wish.name) for wish in out.wishes if wish.name)})
            waiting = {branch.owner(state) for states in names.values() for state in states} - out.files
        if code := changed - documents:
            tree = GitTree(self.repo, self.commit, self.prefix, _workspaces(code))
            out.findings += changes.code_notes(tree, self.matcher, branch, code, out.changed)
        return out

    def documents(self, paths: Iterable[str]) -> set[str]:
        """The documents among paths; a folder with a document's name counts too, and is a finding."""
        found = set()
        for path in paths:
            place = path
            while place and not self.matcher(place):
                place = place.rpartition("/")[0]
            found |= {place} if place else set()
        return found

    @staticmethod
    def adrift(branch: Deployed, runs: Iterable[str]) -> set[Key]:
        """The names of live runs that had no document."""
        keys = [(workspace, run) for name in runs for workspace, _, run in [name.partition("/")]]
        return {(state.workspace, state.name) for key in keys if (state := branch.state(key)) is not None}

    @staticmethod
    def compile(out: Wishes, job: "Job", files: Sequence[str], progress: Progress) -> None:
        """Compile files into `out`."""
        from taugen.pipeline.pool import compile_all

        for number, result in enumerate(compile_all(job, files), 1):
            out.wishes += result.wishes
            out.compiled.update(result.made)
            out.findings += result.findings
            if number % 100 == 0 or number == len(files):
                progress(f"compiled {number} of {len(files)} documents")

    def memory(self, branch: Deployed, wishes: Wishes, plan: Plan, *, unsettled: bool) -> Memory:
        """What the commit remembers."""
        before, last = branch.memory, branch.last
        policy, sources = (
            (self.whole.policy.digest, self.whole.policy.sources) if wishes.full or before is None else (before.policy, before.sources)
        )
        keys = plan.decided
        moved = {} if last is None or wishes.full else {run: path for run, path in last.moved.items() if tuple(run.split("/")) not in keys}
        moved |= {
            "/".join(key): path for key, path in plan.places.items() if (state := branch.state(key)) is not None and state.source != path
        }
        return Memory(self.name, self.commit, policy, COMPILER, sources, plan.pending(), plan.adrift(), moved, unsettled)


def _workspaces(files: Iterable[str]) -> list[str]:
    """The folders of the workspaces that files belong to; a file that belongs to none stands for itself."""
    return sorted({f"workspaces/{workspace}/" if (workspace := workspace_of(path)) else path for path in files})


def read(opened: Opened) -> Reading:
    """Read taugen.yaml of an opened commit. Raises `Refused`."""
    with GitTree(opened.repo, opened.commit, opened.prefix, [ROOT_FILE]) as tree:
        if ROOT_FILE not in tree.paths():
            message = f"commit {opened.commit[:12]} holds no {opened.full_path(ROOT_FILE)}"
            raise Refused(message, hint="git add and git commit it first, or name another --ref", code=2)
        item, findings = load_project_file(tree)
    if item is None:
        raise Refused(f"{ROOT_FILE} of commit {opened.commit[:12]} can't be read", findings=findings)
    path = item.spec.output.path
    if path.startswith("/") or ".." in path.split("/"):  # asked before git is: it would look there
        hint = "write a folder, such as clusters"
        fault = item.finding("output-path", ("output", "path"), f"{shown(path)} leaves the repository", hint=hint)
        raise Refused(f"nothing can be published to {shown(path)}", findings=[fault])
    return Reading(opened.repo, opened.root, opened.prefix, opened.commit, opened.bare, item.spec, item.name)
