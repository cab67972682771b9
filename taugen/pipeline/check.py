"""Checks a whole project, or the files that are named.

In: a `Project` and paths. Out: `Report`: all findings of all files, sorted, and counts. Published documents are not judged by later policy
(law 3): their errors from policy become notes.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from taugen.diag import Diagnostic, Refused, Severity, has_errors, ordered
from taugen.load import git
from taugen.load.root import ROOT_FILE, Place
from taugen.load.since import Since
from taugen.load.tree import SourceTree
from taugen.pipeline.compile import Compiled, Compiler, duplicates
from taugen.pipeline.project import Begun, Project, near_paths, open_place, source_tree
from taugen.pipeline.touched import rivals, touched
from taugen.render.types import Rendered


class Report(Struct, frozen=True):
    """Findings and what was looked at. `platform` and `compiled` are what `render` writes."""

    findings: tuple[Diagnostic, ...]
    documents: int
    runs: int
    compiled: tuple[Compiled, ...] = ()
    platform: tuple[Rendered, ...] = ()

    def count(self, severity: Severity) -> int:
        """How many findings have `severity`."""
        return sum(d.severity is severity for d in self.findings)

    def failed(self, *, strict: bool = False) -> bool:
        """Whether `check` exits 1."""
        return bool(self.count(Severity.ERROR) or (strict and self.count(Severity.WARNING)))


class Unopened(Struct, frozen=True):
    """A project of which nothing can be read: its files, for the findings that say why."""

    tree: SourceTree
    prefix: str


def unopened(place: Place, ref: str | None, refused: Refused) -> tuple[Unopened, Report]:
    """The report of a project that `judge` could not open, where findings say why; raises what was raised where none does."""
    if not refused.findings:
        raise refused
    top = git.toplevel(place.root)
    prefix = "" if top is None or top.resolve() == place.root else place.root.relative_to(top.resolve()).as_posix()
    return Unopened(source_tree(place.root, place.trusted or ref, [ROOT_FILE]), prefix), Report(tuple(ordered(refused.findings)), 1, 0)


def judge(
    place: Place, ref: str | None = None, paths: Sequence[Path] = (), since: Since | None = None, begun: Begun | None = None
) -> tuple[Project, Report]:
    """Open the project as far as is needed and check it: all of it, the run documents in or below `paths`, those that a change touches.
    Documents whose run is published, as far as this repository knows, are not judged by policy. `begun` is what `begin` gave for
    `paths`."""
    from taugen.pipeline.published import lenient

    project, report = _judge(place, ref, paths, since, begun)
    return project, lenient(project, report)


def _judge(place: Place, ref: str | None, paths: Sequence[Path], since: Since | None, begun: Begun | None) -> tuple[Project, Report]:
    if since is None:
        project = open_place(place, ref, near_paths(place, paths), begun=begun)
        return project, check(project, paths)
    project, files = touched(place, ref, since)
    if files is None:
        return project, check(project, paths)
    chosen = files if not paths else [path for path in selected(project, paths) if path in set(files)]
    return project, _check(project, chosen, policy=False, objects=False)


def check(project: Project, paths: Sequence[Path] = ()) -> Report:
    """Check policy and run documents; with `paths`, the run documents in or below them, and policy's own documents, since it judges them:
    the objects that policy makes are left to the check of everything."""
    return _check(project, selected(project, paths), objects=not paths)


def _check(project: Project, files: Sequence[str], *, policy: bool = True, objects: bool = True) -> Report:
    """Check run documents and, as asked, the rules on policy and the objects that it makes."""
    compiler = Compiler(project)
    platform, found = compiler.platform() if objects else ([], compiler.judge_policy() if policy else [])
    findings = [*project.findings, *found]
    docs = []
    for path in files:
        read, more = compiler.read(path)
        docs += read
        findings += more
    compiled = tuple(compiler.compile_all(docs))
    for one in compiled:
        findings += one.findings
    others = rivals(project, ((doc.workspace, doc.name) for doc in docs if doc.name), files)
    findings += duplicates([*docs, *(doc for path in others for doc in compiler.read(path)[0])])
    if objects and not has_errors(findings):  # what an error keeps from being rendered may be what a patch is for
        findings += compiler.idle_patches()
    items = 1 + sum(
        len(getattr(project.policy, kind)) for kind in ("clusters", "flavors", "queues", "profiles", "workspaces", "storages", "tiers")
    )
    return Report(tuple(ordered(findings)), items + len(docs), len(docs), compiled, tuple(platform))


def _there(project: Project, path: Path, inside: str) -> bool:
    """Whether a path is on disk, or in the commit that is looked at."""
    return path.exists() or any(one == inside or one.startswith(f"{inside}/") for one in project.tree.paths())


def selected(project: Project, paths: Sequence[Path]) -> list[str]:
    """The run documents that `paths` (relative to the current folder) name or hold; all of them for no paths. Raises `Refused` for a path
    that holds none."""
    files = project.documents()
    if not paths:
        return files
    chosen: dict[str, None] = {}
    for path in paths:
        try:
            inside = path.absolute().resolve().relative_to(project.root).as_posix()
        except ValueError:
            raise Refused(f"{path} is outside of {project.root}", code=2) from None
        mine = files if inside == "." else [f for f in files if f == inside or f.startswith(inside + "/")]
        if not mine and not (project.is_policy(inside) and _there(project, path, inside)):
            hint = "a run stands in workspaces/<workspace>/…/tau.yaml (spec.runs of taugen.yaml)" if path.exists() else "check the spelling"
            raise Refused(f"{path} holds no run document" if path.exists() else f"{path} does not exist", hint=hint, code=2)
        chosen.update(dict.fromkeys(mine))
    return list(chosen)
