"""Compiles many documents on all processors.

In: a compiler and paths. Out: one `Result` a document, in the order of the paths whatever process made it. Workers are forked: they share the policy and the
listing of the tree, open git processes of their own, and send back texts, not objects.
"""

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from taugen.diag import Diagnostic, has_errors
from taugen.load.tree import GitTree
from taugen.pipeline.compile import Compiled, Compiler
from taugen.publish import state
from taugen.publish.commit import Made
from taugen.publish.plan import Wish
from taugen.render import file
from taugen.spec.rundoc import RunDoc

SERIAL = 48
"""Fewer documents than this are not worth a pool: forking and pickling cost 40 ms."""
CHUNK = 32
Known = frozenset[tuple[str, str]]


@dataclass(slots=True)
class Result:
    """What became of one file: wishes, new runs, findings."""

    wishes: list[Wish]
    made: dict[tuple[str, str], Made]
    findings: list[Diagnostic]


@dataclass(slots=True)
class Job:
    """What every worker needs."""

    compiler: Compiler
    known: Known
    held: frozenset[str] = frozenset()
    """Workspaces that policy errors hold back."""


_job: Job | None = None


def compile_all(job: Job, files: Sequence[str]) -> Iterator[Result]:
    """Compile every file."""
    processes = min(len(os.sched_getaffinity(0)), 8, len(files) // SERIAL)
    if processes < 2:
        yield from (compile_file(job, path) for path in files)
        return
    global _job  # noqa: PLW0603 - inherited by the forked workers
    _job = job
    try:
        context = multiprocessing.get_context("fork")
        with context.Pool(processes, initializer=_start) as pool:
            yield from pool.imap(_work, files, chunksize=CHUNK)
    finally:
        _job = None


def _start() -> None:
    assert _job is not None
    tree = _job.compiler.project.tree
    if isinstance(tree, GitTree):
        tree.detach()


def _work(path: str) -> Result:
    assert _job is not None
    return compile_file(_job, path)


def compile_file(job: Job, path: str) -> Result:
    """Compile the documents of one file; those of published runs are only identified."""
    docs, findings = job.compiler.read(path)
    result = Result([], {}, list(findings))
    if not docs and has_errors(findings):
        result.wishes.append(Wish(path, job.compiler.project.workspace_of(path), "", readable=False, ok=False))
    for doc in docs:
        _document(job, doc, result)
    return result


def _document(job: Job, doc: RunDoc, result: Result) -> None:
    wish = _wish(job, doc)
    if not wish.readable:
        result.findings += job.compiler.compile(doc).findings
    elif (wish.workspace, wish.run) not in job.known and not wish.cancelled:
        compiled = job.compiler.compile(doc)
        result.findings += compiled.findings
        if compiled.ok and doc.workspace not in job.held:
            result.made[wish.workspace, wish.run] = made(compiled, job.compiler.project.name)
        else:
            wish = _not_ok(wish)
            if compiled.ok:
                message = f"held back: policy that workspace {doc.workspace} needs has errors"
                result.findings.append(doc.finding("policy-errors", (), message, hint="mend the policy findings of this publish"))
    result.wishes.append(wish)


def _wish(job: Job, doc: RunDoc) -> Wish:
    if has_errors(doc.findings) or not doc.name:
        return Wish(doc.file, doc.workspace, doc.name, readable=False, ok=False)
    workspace = job.compiler.policy.workspaces.get(doc.workspace)
    on_edit = doc.spec.on_edit or (workspace.spec.on_edit if workspace is not None else None) or "wait"
    return Wish(doc.file, doc.workspace, doc.name, doc.run, doc.digest, bool(doc.spec.cancelled), on_edit)


def _not_ok(wish: Wish) -> Wish:
    from dataclasses import replace

    return replace(wish, ok=False)


def made(compiled: Compiled, project: str) -> Made:
    """The texts of a compiled run."""
    assert compiled.run is not None
    texts = {item.path: file.text(item, project) for item in compiled.rendered}
    return Made(texts, state.of(compiled.run, compiled.rendered, ""))
