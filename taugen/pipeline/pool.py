"""Compiles many documents on all processors.

In: a compiler, what is published already, and paths. Out: one `Result` a file, in the order of the paths whatever process made it. Workers are forked: they
share the policy and the listing of the tree, open git processes of their own, and send back texts, not objects.
"""

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace

from taugen.diag import Diagnostic, Refused, Span, has_errors
from taugen.load.tree import GitTree
from taugen.pipeline.compile import Compiled, Compiler
from taugen.pipeline.project import workspace_of
from taugen.pipeline.scope import Scope
from taugen.publish import state
from taugen.publish.commit import Made
from taugen.publish.plan import Wish
from taugen.publish.state import Key
from taugen.render import file
from taugen.spec.rundoc import RunDoc

SERIAL = 48
"""Fewer documents than this for each process are not worth a pool: forking and pickling cost 40 ms."""
CHUNK = 32


@dataclass(slots=True)
class Result:
    """What became of one file: wishes, new runs, findings."""

    wishes: list[Wish] = field(default_factory=list)
    made: dict[Key, Made] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)


@dataclass(slots=True)
class Job:
    """What every worker needs. `known` are published runs, which are never compiled again; `commit` stands in the states of new runs; `scope` is what
    policy errors hold back."""

    compiler: Compiler
    known: frozenset[Key]
    commit: str = ""
    scope: Scope = field(default_factory=Scope)


_job: Job | None = None


def compile_all(job: Job, files: Sequence[str]) -> Iterator[Result]:
    """Compile every file. Raises `Refused` if a worker dies."""
    processes = min(len(os.sched_getaffinity(0)), 8, len(files) // SERIAL)
    if processes < 2:
        yield from (compile_file(job, path) for path in files)
        return
    global _job  # noqa: PLW0603 - inherited by the forked workers
    _job = job
    try:
        with ProcessPoolExecutor(processes, multiprocessing.get_context("fork"), initializer=_start) as pool:
            yield from pool.map(_work, files, chunksize=CHUNK)
    except BrokenProcessPool:
        raise Refused("a worker process was killed", hint="memory may have run out; nothing was published", code=4) from None
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
    result = Result(findings=list(findings))
    if not docs:
        result.wishes.append(Wish(path, workspace_of(path), "", Span(path), readable=False, ok=False))
    for doc in docs:
        _document(job, doc, result)
    return result


def _document(job: Job, doc: RunDoc, result: Result) -> None:
    wish = _wish(job, doc)
    if not wish.readable:
        result.findings += job.compiler.compile(doc).findings
    elif not wish.cancelled and wish.key not in job.known:
        wish = _new(job, doc, wish, result)
    result.wishes.append(wish)


def _wish(job: Job, doc: RunDoc) -> Wish:
    span = doc.span(("name",))
    if has_errors(doc.findings) or not doc.name:
        return Wish(doc.file, doc.workspace, doc.name, span, readable=False, ok=False)
    workspace = job.compiler.policy.workspaces.get(doc.workspace)
    on_edit = doc.spec.on_edit or (workspace.spec.on_edit if workspace is not None else None) or "wait"
    return Wish(doc.file, doc.workspace, doc.name, span, doc.run, doc.digest, bool(doc.spec.cancelled), on_edit)


def _new(job: Job, doc: RunDoc, wish: Wish, result: Result) -> Wish:
    """Compile a run that is not published yet; its wish says whether that went well."""
    compiled = job.compiler.compile(doc)
    result.findings += compiled.findings
    if not compiled.ok:
        return replace(wish, ok=False)
    assert compiled.run is not None
    if job.scope.holds(doc.workspace, compiled.run.cluster):
        message = f"held back: policy that workspace {doc.workspace} needs has errors"
        result.findings.append(doc.finding("policy-errors", ("name",), message, hint="mend the policy findings of this publish"))
        return replace(wish, ok=False)
    result.made[wish.key] = made(compiled, job.compiler.project.name, job.commit)
    return wish


def made(compiled: Compiled, project: str, commit: str) -> Made:
    """The texts of a compiled run, as they are published from the source commit `commit`."""
    assert compiled.run is not None
    texts = {item.path: file.text(item, project).encode() for item in compiled.rendered}
    return Made(texts, state.of(compiled.run, commit))
