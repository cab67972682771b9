"""Plays mutants through the real stages, and says what must never be.

In: the text of a run document or of a policy file. Out: faults, each a sentence; none for a compiler that holds. What holds for every input:
no exception; findings sorted and each once; every error in a file that was read, at a line and column that it has, with something to do; nothing in it that
a terminal would act on; an accepted document renders objects that pass schemas and object rules and whose text reads back as what was meant;
the second time says the same.
"""

import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import yaml

from taugen.diag import Diagnostic, Severity, ordered
from taugen.pipeline.compile import Compiled, Compiler
from taugen.pipeline.project import Project, load_project
from taugen.render import file
from taugen.render.types import Rendered
from taugen.validate.rules import objects
from tests.resolve.kit import Files
from tests.robustness import seeds

FOLDER = "mutant"
SECRETS = ("hunter2hunter2", "AKIAIOSFODNN7EXAMPLE", "ghp_0123456789abcdefghijABCDEFGHIJ012345")
"""Credentials that mutants hold: no finding repeats one, whatever it is about."""
SLOW = 5.0
"""Seconds for one small file, on a machine that does other things too: anything near it is a loop."""
_OBJECT_RULES = frozenset(rule.ID for rule in objects.RULES) | {"schema"}


class Faults(list[str]):
    """What must never be. `rules` are the findings' ids, for statistics."""

    rules: tuple[str, ...] = ()


@lru_cache(maxsize=4)
def _files(project: str) -> dict[str, bytes]:
    root = seeds.PROJECTS[project]
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file() and "schemas" not in p.parts}


@lru_cache(maxsize=4)
def _compiler(project: str) -> Compiler:
    return Compiler(_project(Files(_files(project))))


def _project(tree: Files) -> Project:
    return load_project(Path("/nowhere"), tree)


def run(workspace: str, raw: bytes, project: str = "examples") -> Faults:
    """Play a run document."""
    path = f"workspaces/{workspace}/{FOLDER}/tau.yaml"
    code = {f"workspaces/{workspace}/{FOLDER}/{name}": text for name, text in seeds.TREE.items()}
    tree = Files({**_files(project), **code, path: raw})
    faults = Faults()
    began = time.process_time()
    try:
        first = _compile(project, tree, path, raw)
        second = _compile(project, tree, path, raw)
    except Exception:
        faults.append("raised " + traceback.format_exc(limit=-4))
        return faults
    if time.process_time() - began > SLOW:
        faults.append(f"took {time.process_time() - began:.1f} s")
    findings, compiled = first
    faults.rules = tuple(d.rule for d in findings if d.severity is Severity.ERROR)
    faults += [f"finding: {fault}" for fault in _bad_findings(findings, {path: raw})]
    faults += [f"the object's fault, not the document's: {d.rule} {d.message}" for d in findings if d.rule in _OBJECT_RULES]
    if findings != second[0] or [one.rendered for one in compiled] != [one.rendered for one in second[1]]:
        faults.append("said something else the second time")
    for one in compiled:
        if one.ok != (not any(d.severity is Severity.ERROR for d in one.findings)):
            faults.append("neither a run nor an error")
        faults += _bad_texts(one.rendered)
    if not compiled and not findings:
        faults.append("a file without a document is passed over in silence")
    return faults


def _compile(project: str, tree: Files, path: str, raw: bytes) -> tuple[list[Diagnostic], list[Compiled]]:
    compiler = _compiler(project)
    compiler.project.tree = tree
    docs, found = compiler.read(path)
    compiled = [compiler.compile(doc) for doc in docs]
    findings = [*found]
    for one in compiled:
        findings += one.findings
    return ordered(findings), compiled


def policy(project: str, path: str, raw: bytes) -> Faults:
    """Play a project with one policy file replaced."""
    tree = Files({**_files(project), path: raw})
    faults = Faults()
    began = time.process_time()
    try:
        first = _platform(tree)
        second = _platform(tree)
    except Exception:
        faults.append("raised " + traceback.format_exc(limit=-4))
        return faults
    if time.process_time() - began > 2 * SLOW:
        faults.append(f"took {time.process_time() - began:.1f} s")
    findings, rendered = first
    faults.rules = tuple(d.rule for d in findings if d.severity is Severity.ERROR)
    faults += [f"finding: {fault}" for fault in _bad_findings(findings, {**_files(project), path: raw})]
    if first != second:
        faults.append("said something else the second time")
    faults += [f"the object's fault, not the document's: {d.rule} {d.message}" for d in findings if d.rule in _OBJECT_RULES]
    faults += _bad_texts(rendered)
    return faults


def _platform(tree: Files) -> tuple[list[Diagnostic], Sequence[Rendered]]:
    from taugen.diag import Refused

    try:
        project = _project(tree)
    except Refused as refused:
        return ordered(refused.findings), ()
    compiler = Compiler(project)
    rendered, findings = compiler.platform()
    findings = [*project.findings, *findings]
    for path in project.documents():
        docs, found = compiler.read(path)
        findings += found
        for doc in docs:
            findings += compiler.compile(doc).findings
    return ordered(findings), rendered


def _bad_findings(findings: Sequence[Diagnostic], texts: Mapping[str, bytes]) -> Iterator[str]:
    if list(findings) != ordered(findings):
        yield "out of order, or there twice"
    for d in findings:
        said = f"{d.rule} at {d.span}: {d.message[:80]}"
        raw = texts.get(d.span.file)
        if raw is None:
            yield f"in no file that was read: {said}"
            continue
        text = raw.decode("utf-8-sig", "replace")
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if not 1 <= d.span.line <= len(lines) or not 1 <= d.span.column <= len(lines[d.span.line - 1]) + 1:
            yield f"at a place that the file does not have: {said}"
        if not d.message or d.message != d.message.strip() or not d.rule:
            yield f"without a sentence: {said}"
        if d.severity is Severity.ERROR and not d.hint:
            yield f"with nothing to do: {said}"
        if any(not c.isprintable() for c in d.message + d.hint + d.rule):
            yield f"with what a terminal acts on: {said!r}"
        if any(secret[:12] in d.message + d.hint for secret in SECRETS):
            yield f"gives a credential away: {said}"


def _bad_texts(rendered: Sequence[Rendered]) -> Iterator[str]:
    for one in rendered:
        text = file.text(one, "fuzz")
        if yaml.safe_load(text) != one.obj:
            yield f"{one.path} reads back as something else"
        if ".." in one.path.split("/") or one.path.startswith("/"):
            yield f"{one.path} leaves the tree"
