"""Gathers the code of a run, and says what is wrong with it at the place in the document.

In: a source tree, a document and its `CodePlan`. Out: `CodeInput`. What must never happen: a document of taugen or a file outside the
workspace among the code.
"""

import posixpath
from collections.abc import Callable, Sequence

from taugen.diag import Severity
from taugen.load.code import CodeFile, CodeProblem, CodeTree, collect
from taugen.load.imports import missing_imports
from taugen.load.links import resolve_link
from taugen.load.tree import SourceTree, Unreadable
from taugen.resolve.code import CODE_PATH, ENTRYPOINT, CodeInput, CodePlan, relative, within
from taugen.resolve.program import is_python
from taugen.resolve.report import Report
from taugen.spec.rundoc import RunDoc
from taugen.words import Path, suggest
from taugen.words.credentials import hidden
from taugen.words.errors import as_list

MOST_ENTRYPOINT = 16 * 1024 * 1024
"""Bytes of an entrypoint that are read for its first line."""


def gather(tree: SourceTree, doc: RunDoc, plan: CodePlan, is_document: Callable[[str], bool]) -> CodeInput:
    """Collect what the plan names. `is_document` says of a path of the tree whether it is a run document."""
    if not plan.local:
        return CodeInput(plan, findings=plan.findings)
    if plan.elsewhere:
        return CodeInput(plan, shebang=_shebang(tree, plan), here=plan.entrypoint in tree.paths(), findings=plan.findings)
    report = Report(doc, list(plan.findings))
    code = _collect(report, tree, plan, is_document)
    shebang = _entrypoint(report, tree, plan, code)
    return CodeInput(plan, code, shebang, findings=tuple(report.found))


def _collect(report: Report, tree: SourceTree, plan: CodePlan, is_document: Callable[[str], bool]) -> CodeTree:
    files: list[CodeFile] = []
    if plan.start and plan.start not in tree.folders() and report.doc.has(CODE_PATH):
        text = f"there is no folder {plan.start} with tracked files"
        report.error("code-path-missing", CODE_PATH, text, hint=_near_folder(tree, plan, plan.start))
    for folder in plan.folders:
        if folder and folder not in tree.folders():
            continue
        own = folder == plan.start
        if not own and plan.entrypoint is not None and within(plan.entrypoint, folder) and plan.entrypoint not in tree.paths():
            continue  # it comes for the entrypoint's sake
        include = plan.include if own else ()
        found, problems = collect(
            tree, folder, exclude_documents=is_document, include=include, exclude=plan.exclude, workspace=plan.workspace
        )
        prefix = relative(folder, plan.root) if folder != plan.root else ""
        inner = "" if own or not within(plan.start, folder) else relative(plan.start, folder) + "/"  # comes with its own patterns
        kept = [f for f in found.files if not inner or not f.path.startswith(inner)]
        files += kept if not prefix else [CodeFile(f"{prefix}/{f.path}", f.mode, f.blob, f.size, f.source) for f in kept]
        for problem in problems:
            _problem(report, problem)
    if plan.extra:
        files += _extra(report, tree, plan, files, is_document)
    return CodeTree(plan.root, tuple(sorted(files, key=lambda f: f.path)))


def _problem(report: Report, problem: CodeProblem, where: Path | None = None) -> None:
    """A problem of a file, shown at the field that brought it: `where`, else the code path, else the entrypoint."""
    where = where or (CODE_PATH if report.doc.has(CODE_PATH) else ENTRYPOINT)
    report.add(problem.rule, where, problem.message, hint=problem.hint, origin=None, severity=problem.severity)


def _extra(
    report: Report, tree: SourceTree, plan: CodePlan, files: Sequence[CodeFile], is_document: Callable[[str], bool]
) -> list[CodeFile]:
    """Extra scripts, beside the entrypoint."""
    beside = relative(plan.entrypoint.rpartition("/")[0], plan.root) if plan.entrypoint else plan.base or "."
    found: list[CodeFile] = []
    taken = {f.path: f.source for f in files}
    for extra in plan.extra:
        name = posixpath.normpath(posixpath.join(beside, extra.name))
        folder, _, base = extra.source.rpartition("/")
        if extra.source not in tree.paths() or is_document(extra.source):
            loose = extra.source in tree.untracked()
            hint = f"git add {extra.source}" if loose else _hint_for_missing(tree, extra.source, tree.below(folder), report.doc.folder)
            what = "is a run document" if is_document(extra.source) else "is not tracked by Git" if loose else "does not exist"
            report.error("code-extra-missing", extra.path, f"{extra.source} {what}", hint=hint)
        elif taken.get(name, extra.source) != extra.source:
            report.error("code-extra-twice", extra.path, f"{name} is already the name of {taken[name]}", hint="write SRC:ANOTHER_NAME")
        elif name not in taken:
            wanted = {extra.source, resolve_link(tree, extra.source).target}
            one, problems = collect(tree, folder, exclude_documents=lambda path, w=wanted: path not in w, workspace=plan.workspace)  # type: ignore[misc]
            for problem in problems:
                _problem(report, problem, extra.path)
            found += [CodeFile(name, f.mode, f.blob, f.size, f.source) for f in one.files if f.path == base]
            taken[name] = extra.source
    return found


def _entrypoint(report: Report, tree: SourceTree, plan: CodePlan, code: CodeTree) -> str | None:
    """Check the entrypoint; its first line without ``#!``, None where it has none."""
    if plan.entrypoint is None:
        return None
    name = relative(plan.entrypoint, plan.root)
    file = next((f for f in code.files if f.path == name), None)
    if file is None:
        _missing(report, tree, plan, code)
        return None
    shebang = _shebang(tree, plan)
    _runs(report, plan.entrypoint, shebang)
    if is_python(plan.entrypoint, shebang):
        _imports(report, tree, plan, code, name)
    return shebang


def _imports(report: Report, tree: SourceTree, plan: CodePlan, code: CodeTree, name: str) -> None:
    """Modules of the workspace that the program imports and does not get. With a PYTHONPATH of its own it may find them elsewhere."""
    runtime = report.doc.spec.runtime
    elsewhere = runtime is not None and "PYTHONPATH" in (runtime.env or {})
    for module, where in missing_imports(tree, code, name, plan.workspace):
        text = f"{name} imports {module}, which stands in {where} and is not delivered"
        hint = "deliver it: set code.path to a folder that holds both, take it out of code.exclude, or `git add` it"
        (report.warn if elsewhere else report.error)("import-not-delivered", ENTRYPOINT, text, hint=hint)


def _missing(report: Report, tree: SourceTree, plan: CodePlan, code: CodeTree) -> None:
    doc, path = report.doc, plan.entrypoint or ""
    if path in tree.folders():
        report.error(
            "entrypoint-folder", ENTRYPOINT, f"the entrypoint {path} is a folder", hint="write the file that is to run, such as train.py"
        )
    elif path in tree.untracked():
        report.error(
            "entrypoint-untracked",
            ENTRYPOINT,
            f"the entrypoint {path} is not tracked by Git, so it is not delivered",
            hint=f"git add {path}",
        )
    elif path in tree.paths():
        if any(d.severity is Severity.ERROR for d in report.found):
            return  # a problem of the file itself has been reported
        text = f"the entrypoint {path} is not among the files that are delivered"
        hint = "take it out of code.exclude, or into code.include"
        report.error("entrypoint-left-out", ENTRYPOINT, text, hint=hint)
    else:
        typed = doc.spec.run.entrypoint if doc.spec.run is not None else path
        own = [f.source for f in code.files]
        hint = _hint_for_missing(tree, path, own, doc.folder)
        text = f"there is no file {hidden(str(typed))} beside {doc.file}"
        if isinstance(typed, str) and len(typed.split()) > 1 and not hint.startswith("did you mean"):
            text, hint = "run.entrypoint is no file, but a command in one text", f"a command is a list: write entrypoint: {as_list(typed)}"
        report.error("entrypoint-missing", ENTRYPOINT, text, hint=hint)


def _hint_for_missing(tree: SourceTree, path: str, own: Sequence[str], folder: str = "") -> str:
    """The file that was meant: a near name, the same name elsewhere, or the scripts that are there."""
    there = sorted(relative(p, folder) for p in own)
    wanted = relative(path, folder)
    same = [p for p in there if posixpath.basename(p) == posixpath.basename(wanted)]
    near = same[0] if len(same) == 1 else suggest.closest(wanted, there)
    if near is not None:
        return f"did you mean {near}?"
    ignored = path.rpartition("/")[0]
    if ignored and ignored not in tree.folders() and ignored != folder:
        return f"there is no folder {ignored} with tracked files either"
    scripts = [p for p in there if p.endswith((".py", ".sh"))][:5]
    return f"the scripts here are {', '.join(scripts)}" if scripts else "add the file and `git add` it"


def _near_folder(tree: SourceTree, plan: CodePlan, folder: str) -> str:
    near = suggest.closest(folder, sorted(f for f in tree.folders() if within(f, plan.workspace)))
    return f"did you mean {near}?" if near else "add files there, or leave code.path out"


def _shebang(tree: SourceTree, plan: CodePlan) -> str | None:
    if plan.entrypoint is None or plan.entrypoint not in tree.paths():
        return None
    try:
        content = tree.read(plan.entrypoint, MOST_ENTRYPOINT)
    except Unreadable:
        return None
    if not content.startswith(b"#!"):
        return None
    return content[2 : content.find(b"\n", 0, 4096) if b"\n" in content[:4096] else 4096].decode("utf-8", "replace").strip(" \t")


def _runs(report: Report, path: str, shebang: str | None) -> None:
    """Whether launcher and file fit: a script needs an interpreter, torchrun and python need Python."""
    execution = report.doc.spec.execution
    launcher = execution.launcher if execution is not None else None
    where: Path = ("execution", "launcher")
    name = posixpath.basename(path)
    if shebang is not None and shebang.endswith("\r") and shebang != "\r" and not is_python(path, shebang):
        text = f"the first line of {name} ends in a carriage return: the system would look for an interpreter with that name"
        hint = "save the file with Unix line ends (`sed -i 's/\\r$//' FILE`; `* text=auto eol=lf` in .gitattributes)"
        report.error("entrypoint-shebang", ENTRYPOINT, text, hint=hint)
    elif shebang is not None and not shebang.strip():
        report.error(
            "entrypoint-shebang",
            ENTRYPOINT,
            f"the first line of {name} is #! without an interpreter",
            hint="write #!/bin/bash or #!/usr/bin/env python3",
        )
    elif launcher in {"torchrun", "ray-train", "ray-tune"} and not path.endswith(".py"):
        report.error(
            "launcher-needs-python",
            where,
            f"{launcher} starts Python files, and {name} does not end in .py",
            hint="name a .py file, or leave the launcher out",
        )
    elif launcher == "python" and shebang is not None and not is_python("", shebang):
        report.error(
            "launcher-needs-python",
            where,
            f"launcher python can't run {name}, which is a script for {shebang}",
            hint="leave the launcher out",
        )
    elif shebang is None and not path.endswith(".py"):
        hint = "end its name in .py, or begin it with a line such as #!/bin/bash"
        report.error("entrypoint-kind", ENTRYPOINT, f"nothing says how to run {name}: it does not end in .py and has no #! line", hint=hint)
