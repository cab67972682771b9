"""Compiles many documents on all processors.

In: a compiler, what is published already, and paths. Out: one `Result` a file, in the order of the paths whatever process made it. Workers
are forked: they share the policy and the listing of the tree, open git processes of their own, and send back what git is to be told, not
objects: texts go to it as they come, and nobody holds those of all runs.
"""

import gc
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from taugen.diag import Diagnostic, Span, has_errors
from taugen.load import share
from taugen.load.fastimport import Writer, blob
from taugen.load.mainline import Brought, Mainline
from taugen.load.tree import GitTree
from taugen.pipeline.compile import BATCH, Compiled, Compiler
from taugen.pipeline.project import workspace_of
from taugen.pipeline.scope import Scope
from taugen.policy.set import Policy
from taugen.publish import state
from taugen.publish.commit import Made
from taugen.publish.plan import Wish
from taugen.publish.state import Key
from taugen.render import file
from taugen.spec.rundoc import RunDoc

if TYPE_CHECKING:
    from concurrent.futures import Future

SERIAL = 48
"""Fewer documents than this for each process are not worth a pool: forking and pickling cost 40 ms."""
CHUNK = 64
BESIDE = 50
"""Files beside a document that are read with it; the rest comes when its code is gathered."""
AHEAD = 3
"""Chunks for each process that are compiled before they are asked for: a slow git must not fill the memory."""


class Result(Struct):
    """What became of one file: wishes, new runs, findings."""

    wishes: list[Wish] = field(default_factory=list)
    made: dict[Key, Made] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)


class Job(Struct):
    """What every worker needs. `known` are published runs, which are never compiled again; `commit` stands in the states of new runs;
    `scope` is what policy errors hold back; `writer` takes the texts of new runs, None where none are wanted; `mainline` knows who
    brought their documents, None where nobody asks."""

    compiler: Compiler
    known: frozenset[Key]
    commit: str = ""
    scope: Scope = field(default_factory=Scope)
    writer: Writer | None = None
    mainline: Mainline | None = None


class Contents(Struct):
    """Texts on their way to git; `mark` is that of the next one."""

    mark: int
    pieces: list[tuple[str, int, int, bytes]] = field(default_factory=list)

    def add(self, kind: str, content: bytes) -> int:
        """Add the content of a file and return its mark. `kind` is the same for files that are alike."""
        self.pieces.append((kind, len(content), self.mark, content))
        self.mark += 1
        return self.mark - 1

    def stream(self) -> bytes:
        """What git is told. Contents of a kind and about a size stand together: each is stored as its difference from the one before."""
        return b"".join(blob(mark, content) for _, _, mark, content in sorted(self.pieces))


Task = tuple[Sequence[str], int]
"""Files, and the first mark of their contents."""
Done = tuple[list[Result], bytes]

_job: Job | None = None


def compile_all(job: Job, files: Sequence[str]) -> Iterator[Result]:
    """Compile every file. Raises `Refused` if a worker dies."""
    first = job.writer.reserve if job.writer is not None else int
    tasks = [(files[at : at + CHUNK], first()) for at in range(0, len(files), CHUNK)]
    processes = share.workers(len(files) // SERIAL)
    serial = (compile_chunk(job, task) for task in tasks)
    for results, contents in serial if processes < 2 else _parallel(job, tasks, processes):
        if job.writer is not None:
            job.writer.write(contents)
        yield from results


def _parallel(job: Job, tasks: Sequence[Task], processes: int) -> Iterator[Done]:
    """Compile chunks in forked processes, in their order."""
    global _job  # noqa: PLW0603 - inherited by the forked workers
    _job = job
    # What is there now stays: looking through it for garbage, in every process, would take a tenth of the time.
    gc.freeze()
    try:
        with share.forked(processes, _start) as pool:
            waiting: deque[Future[Done]] = deque()
            for task in tasks:
                waiting.append(pool.submit(_work, task))
                if len(waiting) > AHEAD * processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    finally:
        _job = None
        gc.unfreeze()


def _start() -> None:
    assert _job is not None
    tree = _job.compiler.project.tree
    if isinstance(tree, GitTree):
        tree.detach()


def _work(task: Task) -> Done:
    assert _job is not None
    return compile_chunk(_job, task)


def compile_chunk(job: Job, task: Task) -> Done:
    """Compile some files. They and what lies beside them, which mostly is their code, are read in one go: a round trip to git costs more
    than a small file.
    """
    files, mark = task
    tree = job.compiler.project.tree
    tree.prefetch(path for file in files for path in (file, *tree.below(file.rpartition("/")[0])[:BESIDE]))
    contents = Contents(mark)
    results = [result for at in range(0, len(files), BATCH) for result in compile_files(job, files[at : at + BATCH], contents)]
    return results, contents.stream()


def compile_files(job: Job, files: Sequence[str], contents: Contents) -> list[Result]:
    """Compile the documents of some files; those of published runs are only identified."""
    results = []
    fresh: list[tuple[RunDoc, Result, int]] = []
    for path in files:
        docs, findings = job.compiler.read(path)
        result = Result(findings=list(findings))
        results.append(result)
        if not docs:
            result.wishes.append(Wish(path, workspace_of(path), "", Span(path), readable=False, ok=False))
        for doc in docs:
            wish = wish_of(doc, job.compiler.policy)
            if not wish.readable or (not wish.cancelled and wish.key not in job.known):
                fresh.append((doc, result, len(result.wishes)))
            result.wishes.append(wish)
    done = job.compiler.compile_all([doc for doc, _, _ in fresh])
    brought = job.mainline.brought([one.doc.file for one in done if one.ok]) if job.mainline is not None else {}
    for (_, result, at), compiled in zip(fresh, done, strict=True):
        result.findings += compiled.findings
        if result.wishes[at].readable:
            wish = result.wishes[at] = _new(job, result, at, compiled)
            if wish.ok:
                by = brought.get(compiled.doc.file)
                result.made[wish.key] = made(compiled, job.compiler.project.name, job.commit, contents, by)
    return results


def wish_of(doc: RunDoc, policy: Policy) -> Wish:
    """What a document wants, before it is compiled."""
    span = doc.span(("name",))
    if has_errors(doc.findings) or not doc.name:
        return Wish(doc.file, doc.workspace, doc.name, span, readable=False, ok=False)
    workspace = policy.workspaces.get(doc.workspace)
    on_edit = doc.spec.on_edit or (workspace.spec.on_edit if workspace is not None else None) or "wait"
    return Wish(doc.file, doc.workspace, doc.name, span, doc.run, doc.digest, bool(doc.spec.cancelled), on_edit)


def _new(job: Job, result: Result, at: int, compiled: Compiled) -> Wish:
    """The wish of a run that is not published yet: whether compiling it went well."""
    wish, doc = result.wishes[at], compiled.doc
    if not compiled.ok:
        return replace(wish, ok=False)
    assert compiled.run is not None
    if job.scope.holds(doc.workspace, compiled.run.cluster):
        message = f"held back: policy that workspace {doc.workspace} needs has errors"
        result.findings.append(doc.finding("policy-errors", ("name",), message, hint="mend the policy findings of this publish"))
        return replace(wish, ok=False)
    return wish


def made(compiled: Compiled, project: str, commit: str, contents: Contents, by: Brought | None) -> Made:
    """Add the texts of a compiled run, as they are published from the source commit `commit`; `by` brought its document."""
    assert compiled.run is not None
    texts = {item.path: file.of_object(item.obj, item.source, project) for item in compiled.rendered}
    new = state.of(compiled.run, commit, state.digest_of(texts), by)
    files = {item.path: contents.add(item.kind, texts[item.path]) for item in compiled.rendered}
    return Made(new.folder, files, new.path, contents.add(state.FOLDER, new.content(project)))
