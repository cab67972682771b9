"""Opens a project: finds taugen.yaml, reads policy and overlays, lists the run documents.

In: a folder and perhaps a commit. Out: `Project`. What must never happen: reading outside the repository, dialling anything.
"""

from dataclasses import dataclass, field
from pathlib import Path

from taugen.diag import Diagnostic, Refused, Span
from taugen.load import git
from taugen.load.glob import GlobError, Matcher
from taugen.load.tree import GitTree, SourceTree, WorkTree
from taugen.policy.load import load_policy, with_overlays
from taugen.policy.set import Policy
from taugen.render.overlay import Overlays, load_overlays

ROOT_FILE = "taugen.yaml"


@dataclass(slots=True)
class Project:
    """A GitOps repository that is open for reading. `root` is the folder of taugen.yaml on disk (of a bare repository: the repository itself)."""

    root: Path
    tree: SourceTree
    policy: Policy
    overlays: Overlays
    matcher: Matcher
    findings: tuple[Diagnostic, ...] = ()
    extra_schemas: tuple[Path, ...] = field(default=())

    @property
    def name(self) -> str:
        """metadata.name of taugen.yaml."""
        return self.policy.project.name

    def documents(self) -> list[str]:
        """Paths of the run documents, sorted."""
        return self.tree.documents(self.matcher)

    def workspace_of(self, path: str) -> str:
        """The workspace of a file: the folder under `workspaces/`; empty elsewhere."""
        return workspace_of(path)


def workspace_of(path: str) -> str:
    """The workspace that a path belongs to: `workspaces/<workspace>/…`; empty where it is not below one."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "workspaces" else ""


def find_root(directory: Path) -> Path:
    """The nearest folder upwards of `directory` that holds taugen.yaml. Raises `Refused` (exit 2)."""
    start = directory.resolve()
    if not start.is_dir():
        raise Refused(f"{directory} is not a folder", code=2)
    for folder in (start, *start.parents):
        if (folder / ROOT_FILE).is_file():
            return folder
    raise Refused(f"no {ROOT_FILE} in {start} or above it", hint="change to a GitOps repository, pass -C DIR, or make one with `taugen init DIR`", code=2)


def open_project(directory: Path, ref: str | None = None) -> Project:
    """Open the project around `directory`: its working tree, or the commit `ref`. Raises `Refused`."""
    root = find_root(directory)
    return load_project(root, source_tree(root, ref))


def source_tree(root: Path, ref: str | None) -> SourceTree:
    """The working tree below `root`, or the commit `ref` of the repository it lies in. Raises `Refused`."""
    if ref is None:
        return WorkTree(root)
    try:
        top = git.toplevel(root)
        if top is None:
            raise Refused(f"{root} is not in a Git repository, so it has no commit {ref}", hint="git init, git add and git commit first", code=2)
        prefix = "" if top == root else root.relative_to(top).as_posix()
        return GitTree(top, git.resolve(top, ref), prefix)
    except git.GitError as error:
        raise Refused(str(error), code=2) from None


def load_project(root: Path, tree: SourceTree) -> Project:
    """Read taugen.yaml, policy and overlays of `tree`. Raises `Refused` with the findings if taugen.yaml itself can't be read."""
    policy, findings = load_policy(tree)
    if policy is None:
        raise Refused(f"{ROOT_FILE} can't be read", findings=findings)
    overlays, more = load_overlays(tree, policy)
    policy = with_overlays(policy, {"patches": overlays.digest} if overlays.digest else {})
    findings = [*findings, *more]
    try:
        matcher = Matcher(policy.project.spec.runs)
    except GlobError as error:
        matcher = Matcher(())
        findings.append(Diagnostic("project-runs", str(error), policy.project.span(("runs",)), path="spec.runs"))
    findings += unmatched(tree, matcher)
    schemas = root / ".taugen" / "schemas"
    return Project(root, tree, policy, overlays, matcher, tuple(findings), (schemas,) if schemas.is_dir() else ())


def unmatched(tree: SourceTree, matcher: Matcher) -> list[Diagnostic]:
    """Files that look like run documents and that no glob matches: they would be skipped in silence."""
    from taugen.diag import Severity

    names = ("tau.yaml", "tau.yml", ".tau.yaml", ".tau.yml")
    found = tree.documents(lambda path: path.rpartition("/")[2] in names and not matcher(path))
    hint = "name it tau.yaml below workspaces/<workspace>/, or add its pattern to spec.runs of taugen.yaml"
    return [Diagnostic("document-unmatched", "this looks like a run, but no pattern of spec.runs matches it", Span(p), hint=hint, severity=Severity.WARNING) for p in found]


