"""Which files belong to a run: decided from its document alone.

In: a `RunDoc`. Out: a `CodePlan` (folders below the workspace, relative to the repository), and `CodeInput`, what the gathering of those
files found. Nothing here reads a file; a path that leaves the workspace is a finding and never reaches the gathering.
"""

import posixpath

from msgspec import Struct

from taugen.diag import Diagnostic
from taugen.load.code import CodeTree
from taugen.load.ignore import pattern_problem
from taugen.resolve.report import Report
from taugen.spec.rundoc import RunDoc
from taugen.words import Path
from taugen.words.errors import shown

ENTRYPOINT: Path = ("run", "entrypoint")
CODE_PATH: Path = ("code", "path")
MOST_PATTERNS = 200
"""Patterns of code.include, and of code.exclude: each is tried on each file."""


class Extra(Struct, frozen=True):
    """A further script: the file `source` of the repository, delivered as `name` beside the entrypoint; `path` is where the document says
    so.
    """

    source: str
    name: str
    path: Path


class CodePlan(Struct, frozen=True):
    """What to gather. `local`: whether there is anything to gather at all (not where an image holds the code, or a path is refused).

    `root` is the folder that becomes the code root in the container; `folders` those in it that are delivered: itself, or the code folder
    and the one in which the entrypoint stands; `start` the folder in which the program starts; `entrypoint` the file, None for a command.
    All are relative to the repository. `elsewhere`: the document names a checkout, so an entrypoint that does not stand here may stand
    there.
    """

    local: bool
    workspace: str
    root: str
    folders: tuple[str, ...]
    start: str
    entrypoint: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    extra: tuple[Extra, ...] = ()
    elsewhere: bool = False
    findings: tuple[Diagnostic, ...] = ()

    @property
    def base(self) -> str:
        """Where the program starts, relative to the code root; empty: there."""
        return "" if self.start == self.root else relative(self.start, self.root)

    @property
    def file(self) -> str | None:
        """The entrypoint relative to where the program starts."""
        return None if self.entrypoint is None else relative(self.entrypoint, self.start)


class CodeInput(Struct, frozen=True):
    """What gathering found.

    `tree` is None where nothing is delivered from here; `shebang` the entrypoint's first line without ``#!``, None if it begins otherwise;
    `here`: whether the entrypoint's file stands in this repository. `findings` are among those that `resolve` returns.
    """

    plan: CodePlan
    tree: CodeTree | None = None
    shebang: str | None = None
    here: bool = True
    findings: tuple[Diagnostic, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is no file to deliver."""
        return self.tree is None or not self.tree.files


def workspace_folder(doc: RunDoc) -> str:
    """The folder of the document's workspace, relative to the repository: reviews and links stop there."""
    parts = doc.folder.split("/")
    start = 1 if parts[0] == "workspaces" and len(parts) > 1 else 0
    if doc.workspace in parts[start:]:
        return "/".join(parts[: parts.index(doc.workspace, start) + 1])
    return doc.folder


def plan(doc: RunDoc) -> CodePlan:
    """Decide which folders are the run's code."""
    report = Report(doc)
    workspace = workspace_folder(doc)
    code, run = doc.spec.code, doc.spec.run
    if (run is not None and run.source is not None) or (code is not None and code.delivery == "image"):
        return CodePlan(False, workspace, doc.folder, (), doc.folder)
    entrypoint = run.entrypoint if run is not None else None
    root: str | None = doc.folder
    if code is not None and code.path is not None:
        root = _inside(report, CODE_PATH, code.path, workspace, what="the code path")
    file = _file(report, ENTRYPOINT, entrypoint, workspace, what="the entrypoint") if isinstance(entrypoint, str) else None
    extra = _extra(report, workspace) if doc.spec.workflow is not None else ()
    if root is None or (file is None and isinstance(entrypoint, str)):
        return CodePlan(False, workspace, doc.folder, (), doc.folder, entrypoint=file, findings=tuple(report.found))
    top, folders = _layout(root, file, workspace)
    if code is None:
        return CodePlan(True, workspace, top, folders, root, entrypoint=file, extra=extra, findings=tuple(report.found))
    return CodePlan(
        local=True,
        workspace=workspace,
        root=top,
        folders=folders,
        start=root,
        entrypoint=file,
        include=_patterns(report, "include", code.include),
        exclude=_patterns(report, "exclude", code.exclude),
        extra=extra,
        elsewhere=code.git is not None and code.delivery != "configmap",
        findings=tuple(report.found),
    )


def _patterns(report: Report, field: str, typed: list[str] | None) -> tuple[str, ...]:
    """The patterns that can be used; a finding for each other."""
    good: list[str] = []
    if typed is not None and len(typed) > MOST_PATTERNS:
        text = f"there are {len(typed)} patterns, but at most {MOST_PATTERNS} are taken"
        report.error("code-pattern", ("code", field), text, hint="name folders instead of files")
        return ()
    for at, pattern in enumerate(typed or ()):
        fault = pattern_problem(pattern)
        if fault is None:
            good.append(pattern)
        else:
            hint = "write a pattern as in .gitignore, such as data/ or *.csv"
            report.error("code-pattern", ("code", field, at), f"{shown(pattern)}: {fault}", hint=hint)
    return tuple(good)


def _layout(root: str, file: str | None, workspace: str) -> tuple[str, tuple[str, ...]]:
    """The tree's root and the folders to deliver: a sibling folder that holds the entrypoint keeps its place relative to the code."""
    if file is None or within(file, root):
        return root, (root,)
    other = file.rpartition("/")[0]
    if within(root, other):
        return other, (other, root)
    top = posixpath.commonpath([root, other]) if root and other else ""
    return (top if within(top, workspace) else workspace), tuple(sorted((root, other)))


def within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies below it."""
    return not folder or path == folder or path.startswith(folder + "/")


def relative(path: str, start: str) -> str:
    """`path` as seen from the folder `start`, both relative to one root; ``.`` for the folder itself. Pure, unlike `posixpath.relpath`."""
    if not start or path.startswith(start + "/"):
        return (path[len(start) + 1 :] if start else path) or "."
    there, here = path.split("/") if path else [], start.split("/")
    common = 0
    while common < min(len(there), len(here)) and there[common] == here[common]:
        common += 1
    return "/".join([".."] * (len(here) - common) + there[common:]) or "."


def _inside(report: Report, where: Path, typed: str, workspace: str, *, what: str) -> str | None:
    """The repository-relative path of what the document names relative to itself; None, with a finding, where that leaves the workspace."""
    doc = report.doc
    if typed.startswith("/"):
        report.error("code-path-absolute", where, f"{what} {typed} is absolute", hint="write a path relative to this file")
        return None
    if "\0" in typed:
        report.refused = True  # a rule names the character
        return None
    if "\\" in typed:
        report.error("code-path-name", where, f"{what} holds a character that no path here has", hint="write / between its parts")
        return None
    if "./" not in typed and "//" not in typed and not typed.endswith(("/", ".")):
        return f"{doc.folder}/{typed}" if doc.folder else typed
    path = posixpath.normpath(posixpath.join(doc.folder, typed))
    path = "" if path == "." else path
    if path == ".." or path.startswith("../") or not within(path, workspace):
        report.error(
            "code-outside-workspace",
            where,
            f"{what} {typed} lies outside the workspace's folder {workspace}",
            hint=f"keep the code of workspace {doc.workspace} below {workspace}/: what lies elsewhere is reviewed by others",
        )
        return None
    return path


def _file(report: Report, where: Path, typed: str, workspace: str, *, what: str) -> str | None:
    """As `_inside`, for what can't be the workspace's own folder."""
    path = _inside(report, where, typed, workspace, what=what)
    if path is not None and path == workspace:
        report.error("entrypoint-folder", where, f"{what} {typed} is the workspace's folder", hint="write a file, such as train.py")
        return None
    return path


def _extra(report: Report, workspace: str) -> tuple[Extra, ...]:
    """The extra scripts of TauGrid's workflow section: `SRC` or `SRC:NAME`, NAME a bare file name."""
    workflow = report.doc.spec.workflow
    found = []
    for at, entry in enumerate((workflow.extra_scripts if workflow is not None else None) or ()):
        where: Path = ("workflow", "extra_scripts", at)
        source, _, name = entry.partition(":")
        name = name or posixpath.basename(source)
        if not name or "/" in name or name in {".", ".."}:
            report.error(
                "code-extra-name", where, f"{name or entry} is not a bare file name", hint="write SRC or SRC:NAME, NAME without a folder"
            )
            continue
        path = _file(report, where, source, workspace, what="the extra script")
        if path is not None:
            found.append(Extra(path, name, where))
    return tuple(found)
