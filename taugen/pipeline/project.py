"""Opens a project: finds taugen.yaml, reads policy and overlays, lists the run documents.

In: a folder and perhaps a commit. Out: `Project`. What must never happen: reading outside the repository, dialling anything, a file of the
working tree read where a commit is meant.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from taugen.diag import Diagnostic, Refused, Severity, Span
from taugen.load import git
from taugen.load.glob import GlobError, Matcher
from taugen.load.tree import GitTree, SourceTree, WorkTree
from taugen.policy.load import load_policy, with_overlays
from taugen.policy.model import Project as ProjectSpec
from taugen.policy.set import Policy

if TYPE_CHECKING:
    from taugen.render.overlay import Overlays

ROOT_FILE = "taugen.yaml"
LOCK_FILE = "taugen.lock"
SCHEMAS = ".taugen/schemas"
"""Imported CRD bundles, relative to taugen.yaml."""
_DOCUMENT_NAMES = ("tau.yaml", "tau.yml", ".tau.yaml", ".tau.yml")


@dataclass(slots=True)
class Project:
    """A GitOps repository that is open for reading. `root` is the folder of taugen.yaml on disk (of a bare repository: the repository itself)."""

    root: Path
    tree: SourceTree
    policy: Policy
    overlays: "Overlays"
    matcher: Matcher
    findings: tuple[Diagnostic, ...] = ()
    schemas: tuple[Path | Mapping[str, bytes], ...] = ()
    """Imported CRD bundles: a folder, or contents by file name."""

    @property
    def name(self) -> str:
        """metadata.name of taugen.yaml."""
        return self.policy.project.name

    @property
    def prefix(self) -> str:
        """The project's folder in its Git repository; empty at the top, and without one."""
        top = git.toplevel(self.root)
        return "" if top is None or top.resolve() == self.root else self.root.relative_to(top.resolve()).as_posix()

    def documents(self) -> list[str]:
        """Paths of the run documents, sorted."""
        return self.tree.documents(self.matcher)

    def is_policy(self, path: str) -> bool:
        """Whether a path is a policy file, an overlay, taugen.yaml or taugen.lock, or a folder that holds such."""
        places = (ROOT_FILE, LOCK_FILE, *policy_places(self.policy.project.spec))
        return any(path == place or path.startswith(place + "/") or place.startswith(path + "/") for place in places)


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


def policy_places(spec: ProjectSpec) -> list[str]:
    """Folders and files of this repository, beside taugen.yaml and taugen.lock, of which a change changes policy."""
    folders = [source.path for source in spec.policy if source.path is not None] + [spec.overlays, SCHEMAS]
    return ["/".join(part for part in folder.split("/") if part not in ("", ".")) for folder in folders]


def load_project(root: Path, tree: SourceTree, *, whole: bool = True) -> Project:
    """Read taugen.yaml, policy and overlays of `tree`; `whole` is False where the tree lists a part of the documents only.

    Raises `Refused` with the findings if taugen.yaml itself can't be read.
    """
    from taugen.render.overlay import load_overlays

    policy, found = load_policy(tree)
    if policy is None:
        raise Refused(f"{ROOT_FILE} can't be read", findings=found)
    overlays, more = load_overlays(tree, policy)
    findings = [*found, *more]
    policy = with_overlays(policy, {"patches": overlays.digest} if overlays.digest else {})
    matcher, more = _matcher(policy)
    findings += more or (unmatched(tree, matcher) if whole else [])
    return Project(root, tree, policy, overlays, matcher, tuple(findings), _schemas(root, tree))


def _matcher(policy: Policy) -> tuple[Matcher, list[Diagnostic]]:
    """The patterns of run documents that can be used, and what is wrong with the others."""
    good, found = [], []
    for at, pattern in enumerate(policy.project.spec.runs):
        try:
            Matcher((pattern,))
        except GlobError as error:
            hint = "write a pattern such as workspaces/*/**/tau.yaml"
            found.append(policy.project.finding("project-runs", ("runs", at), str(error), hint=hint))
        else:
            good.append(pattern)
    return Matcher(good), found


def _schemas(root: Path, tree: SourceTree) -> tuple[Path | Mapping[str, bytes], ...]:
    if tree.commit is None:
        folder = root / SCHEMAS
        return (folder,) if folder.is_dir() else ()
    files = tree.below(SCHEMAS)
    return ({path.rpartition("/")[2]: tree.read(path) for path in files if tree.paths()[path].mode.startswith("100")},) if files else ()


def unmatched(tree: SourceTree, matcher: Matcher) -> list[Diagnostic]:
    """Files that look like run documents and that no glob matches: they would be skipped in silence."""
    found = tree.documents(lambda path: path.endswith(_DOCUMENT_NAMES) and path.rpartition("/")[2] in _DOCUMENT_NAMES and not matcher(path))
    message = "this looks like a run, but no pattern of spec.runs matches it"
    hint = "name it tau.yaml below workspaces/<workspace>/, or add its pattern to spec.runs of taugen.yaml"
    return [Diagnostic("document-unmatched", message, Span(path), hint=hint, severity=Severity.WARNING) for path in found]
