"""Which files belong to a run: decided from its document alone.

In: a `RunDoc`. Out: a `CodePlan` (folders below the workspace, relative to the repository), and `CodeInput`, what the gathering of those files found.
Nothing here reads a file; a path that leaves the workspace is a finding and never reaches the gathering.
"""

import posixpath
from dataclasses import dataclass, field
from typing import Literal

from taugen.diag import Diagnostic
from taugen.load.code import CodeTree
from taugen.resolve.report import Report
from taugen.spec.rundoc import RunDoc
from taugen.words import Path

ENTRYPOINT: Path = ("run", "entrypoint")
CODE_PATH: Path = ("code", "path")


@dataclass(frozen=True, slots=True)
class Extra:
    """A further script: the file `source` of the repository, delivered as `name` beside the entrypoint; `path` where the document says so."""

    source: str
    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class CodePlan:
    """What to gather. `local`: whether there is anything to gather at all (not where the code comes with an image, or a path is refused).

    `root` is the folder that becomes the code root in the container, `folders` those of it that are delivered (itself, or the code folder and the one that
    the entrypoint stands in), `base` where the program starts, relative to `root`; `entrypoint` the file in the repository, None for a command.
    """

    local: bool
    workspace: str
    root: str
    folders: tuple[str, ...]
    base: str = ""
    entrypoint: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    extra: tuple[Extra, ...] = ()
    elsewhere: bool = False
    """The document names a checkout: an entrypoint that does not stand here may stand there."""
    findings: tuple[Diagnostic, ...] = ()

    @property
    def file(self) -> str | None:
        """The entrypoint relative to where the program starts."""
        if self.entrypoint is None:
            return None
        start = posixpath.join(self.root, self.base) if self.base else self.root
        return posixpath.relpath(self.entrypoint, start or ".")


@dataclass(frozen=True, slots=True)
class CodeInput:
    """What gathering found. `tree` is None where nothing is delivered from here; `shebang` the first line of the entrypoint without ``#!``, None without one.

    `here`: whether the entrypoint stands in this repository. `findings` are part of what `resolve` returns.
    """

    plan: CodePlan
    tree: CodeTree | None = None
    shebang: str | None = None
    here: bool = True
    findings: tuple[Diagnostic, ...] = field(default=())

    @property
    def empty(self) -> bool:
        """Whether there is no file to deliver."""
        return self.tree is None or not self.tree.files


Escape = Literal["absolute", "workspace"]


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
    entrypoint = run.entrypoint if run is not None else None
    if (run is not None and run.source is not None) or (code is not None and code.delivery == "image"):
        return CodePlan(local=False, workspace=workspace, root=doc.folder, folders=())
    root: str | None = doc.folder
    if code is not None and code.path is not None:
        root = _inside(report, CODE_PATH, code.path, workspace, "the code path")
    file = _inside(report, ENTRYPOINT, entrypoint, workspace, "the entrypoint") if isinstance(entrypoint, str) else None
    extra = _extra(report, workspace)
    if root is None or report.refused:
        return CodePlan(
            local=False, workspace=workspace, root=root or doc.folder, folders=(), entrypoint=file, findings=tuple(report.found)
        )
    top, folders = _layout(root, file, workspace)
    return CodePlan(
        local=True,
        workspace=workspace,
        root=top,
        folders=folders,
        base="" if top == root else posixpath.relpath(root, top or "."),
        entrypoint=file,
        include=tuple(code.include or ()) if code is not None else (),
        exclude=tuple(code.exclude or ()) if code is not None else (),
        extra=extra,
        elsewhere=code is not None and code.git is not None,
        findings=tuple(report.found),
    )


def _layout(root: str, file: str | None, workspace: str) -> tuple[str, tuple[str, ...]]:
    """The tree's root and the folders to deliver: a sibling folder that holds the entrypoint keeps its place relative to the code."""
    if file is None or within(file, root):
        return root, (root,)
    other = file.rpartition("/")[0]
    if within(root, other):
        return other, (other,)
    top = posixpath.commonpath([root, other]) if root and other else ""
    return (top if within(top, workspace) else workspace), tuple(sorted((root, other)))


def within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies below it."""
    return not folder or path == folder or path.startswith(folder + "/")


def _inside(report: Report, where: Path, typed: str, workspace: str, what: str) -> str | None:
    """The repository-relative path of what the document names relative to itself; None, with a finding, where that leaves the workspace."""
    doc = report.doc
    if typed.startswith("/"):
        report.error("code-path-absolute", where, f"{what} {typed} is absolute", hint="write a path relative to this file")
        return None
    if "\0" in typed or "\\" in typed:
        report.error(
            "code-path-name", where, f"{what} holds a character that no path here has", hint="write a path with / between its parts"
        )
        return None
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


def _extra(report: Report, workspace: str) -> tuple[Extra, ...]:
    """The extra scripts of TauGrid's workflow section: `SRC` or `SRC:DEST`, DEST a bare file name."""
    found = []
    workflow = report.doc.spec.workflow
    for at, entry in enumerate((workflow.extra_scripts if workflow is not None else None) or ()):
        where: Path = ("workflow", "extra_scripts", at)
        source, _, name = entry.partition(":")
        name = name or posixpath.basename(source)
        if not name or "/" in name or name in {".", ".."}:
            report.error(
                "code-extra-name", where, f"{name or entry} is not a bare file name", hint="write SRC or SRC:DEST, DEST without a folder"
            )
            continue
        path = _inside(report, where, source, workspace, "the extra script")
        if path is not None:
            found.append(Extra(path, name, where))
    return tuple(found)
