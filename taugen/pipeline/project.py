"""Opens a project: finds taugen.yaml, reads policy and overlays, lists the run documents.

In: a folder and perhaps a commit. Out: `Project`. What must never happen: reading outside the repository, dialling anything, a file of the
working tree read where a commit is meant.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from taugen.diag import Diagnostic, Refused, Severity, Span
from taugen.load import git
from taugen.load.ahead import Ahead
from taugen.load.glob import GlobError, Matcher
from taugen.load.root import ROOT_FILE, Place, find_place, find_root
from taugen.load.since import Since
from taugen.load.tree import LINK, GitTree, SourceTree, Unreadable, WorkTree
from taugen.load.trusted import TrustedTree
from taugen.policy.load import load_policy, load_project_file, with_overlays
from taugen.policy.model import Project as ProjectSpec
from taugen.policy.set import Policy

if TYPE_CHECKING:
    from taugen.render.overlay import Overlays

__all__ = ["LOCK_FILE", "ROOT_FILE", "Project", "find_root", "load_project", "open_project", "policy_places", "workspace_of"]

LOCK_FILE = "taugen.lock"
SCHEMAS = ".taugen/schemas"
"""Imported CRD bundles, relative to taugen.yaml."""
DOCUMENT_NAMES = ("tau.yaml", "tau.yml", ".tau.yaml", ".tau.yml")


class Project(Struct):
    """A GitOps repository that is open for reading. `root` is the folder of taugen.yaml on disk (of a bare repository: the repository
    itself)."""

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
        places = policy_files(self.policy.project.spec)
        return any(path == place or path.startswith(place + "/") or place.startswith(path + "/") for place in places)


class Begun(Struct):
    """A part of a source, and the places of policy in it."""

    tree: SourceTree
    places: list[str]


def near_paths(place: Place, paths: Sequence[Path]) -> list[str] | None:
    """The workspaces that `paths` lie in; None if one of them is not in a workspace."""
    found = []
    for path in paths:
        parts = path.absolute().resolve().parts
        below = parts[len(place.root.parts) :] if parts[: len(place.root.parts)] == place.root.parts else ()
        if len(below) < 2 or below[0] != "workspaces":
            return None
        found.append("/".join(below[:2]))
    return found or None


def workspace_of(path: str) -> str:
    """The workspace that a path belongs to: `workspaces/<workspace>/…`; empty where it is not below one."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "workspaces" else ""


def open_project(directory: Path, ref: str | None = None, trusted: str | None = None) -> Project:
    """Open the project around `directory`: its working tree, or the commit `ref`; judged by the policy of the commit `trusted`, if given.
    Raises `Refused`."""
    return open_place(find_place(directory, trusted), ref)


def open_place(
    place: Place, ref: str | None = None, near: Sequence[str] | None = None, since: Since | None = None, begun: Begun | None = None
) -> Project:
    """Open the project at a place; with `near`, no more documents are listed than those of the workspaces of these paths. `since` is what
    is known of its changes already, `begun` what `begin` gave for the same `near`. Raises `Refused`."""
    if place.trusted is not None:
        return _open_trusted(place, ref, near, since)
    part = begun or (_part(place, ref, near) if near is not None else None)
    if part is not None and not linked(part.tree, part.places):
        return load_project(place.root, part.tree)
    return load_project(place.root, source_tree(place.root, ref))


def begin(place: Place, near: Sequence[str], ahead: Ahead) -> Begun | None:
    """Have git list what the check of documents in the working tree below `near` needs, while the caller loads the compiler. None where
    policy doesn't say plainly where it stands."""
    part = _part(place, None, near)
    if part is not None and isinstance(part.tree, WorkTree):
        part.tree.prepare(ahead)
    return part


def _part(place: Place, ref: str | None, near: Sequence[str]) -> Begun | None:
    item, _ = load_project_file(source_tree(place.root, ref, [ROOT_FILE]))
    places = policy_files(item.spec) if item is not None else []
    return Begun(source_tree(place.root, ref, [*places, *near]), places) if places and all(places) else None


def _open_trusted(place: Place, ref: str | None, near: Sequence[str] | None, since: Since | None) -> Project:
    """Policy, overlays, lock and schemas of the trusted commit; documents and code of what is judged."""
    assert place.top is not None
    assert place.trusted is not None
    item, found = load_project_file(GitTree(place.top, place.trusted, place.prefix, [ROOT_FILE]))
    if item is None:
        raise Refused(f"{ROOT_FILE} of commit {place.trusted[:12]} can't be read", findings=found)
    places = policy_files(item.spec)
    if since is None or not since.counts_from(place.trusted, ref):
        since = Since(place.root, place.trusted, ref, places if all(places) else ())
    by = GitTree(place.top, place.trusted, place.prefix, places if all(places) else ())
    if linked(by, places):
        by = GitTree(place.top, place.trusted, place.prefix)
    project = load_project(place.root, by, whole=False)
    judged = source_tree(place.root, ref, () if near is None else near or [ROOT_FILE])
    tree = TrustedTree(judged, by, lambda path: _below(path, places))
    paths = sorted(path for path in since.paths() if _below(path, places))
    findings = [*project.findings, *unmatched(tree, project.matcher), *_not_judged(place, paths)]
    return replace(project, tree=tree, findings=tuple(findings))


def _not_judged(place: Place, changed: Sequence[str]) -> list[Diagnostic]:
    """That policy changes here, and takes no part."""
    if not changed:
        return []
    shown = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
    count = f"{len(changed)} policy file{'s' * (len(changed) != 1)} changed here"
    message = f"judged by the policy of {place.ref} ({str(place.trusted)[:12]}); {count}: {shown}"
    hint = "a change of policy counts for runs once it is merged; `taugen check` without --trusted judges it"
    return [Diagnostic("policy-not-judged", message, Span(changed[0]), hint=hint, severity=Severity.NOTE)]


def _below(path: str, places: Sequence[str]) -> bool:
    return any(path == place or path.startswith(place + "/") or not place for place in places)


def linked(tree: SourceTree, places: Sequence[str]) -> bool:
    """Whether policy holds symbolic links: they may lead to files elsewhere."""
    return any(entry.mode == LINK and _below(path, places) for path, entry in tree.paths().items())


def source_tree(root: Path, ref: str | None, only: Sequence[str] = ()) -> SourceTree:
    """The working tree below `root`, or the commit `ref` of the repository it lies in; with `only`, no more than these need be listed.
    Raises `Refused`."""
    try:
        if ref is None:
            return WorkTree(root, only)
        top = git.toplevel(root)
        if top is None:
            hint = "git init, git add and git commit first"
            raise Refused(f"{root} is not in a Git repository, so it has no commit {ref}", hint=hint, code=2)
        prefix = "" if top == root else root.relative_to(top).as_posix()
        return GitTree(top, git.resolve(top, ref), prefix, only)
    except (git.GitError, Unreadable) as error:
        raise Refused(str(error), code=2) from None


def policy_files(spec: ProjectSpec) -> list[str]:
    """taugen.yaml, taugen.lock, and the places of policy: all that a verdict depends on beside runs and their code."""
    return [ROOT_FILE, LOCK_FILE, *policy_places(spec)]


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


def _looks_like_a_run(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return name in DOCUMENT_NAMES or (name.endswith(".yml") and folder.startswith("workspaces/") and folder.endswith("/tau"))


def unmatched(tree: SourceTree, matcher: Matcher) -> list[Diagnostic]:
    """Files that look like run documents and that no glob matches: they would be skipped in silence."""
    found = tree.documents(lambda path: path.endswith(("tau.yaml", ".yml")) and _looks_like_a_run(path) and not matcher(path))
    message = "this looks like a run, but no pattern of spec.runs matches it"
    hint = "name it tau.yaml below workspaces/<workspace>/, or add its pattern to spec.runs of taugen.yaml"
    return [Diagnostic("document-unmatched", message, Span(path), hint=hint, severity=Severity.WARNING) for path in found]
