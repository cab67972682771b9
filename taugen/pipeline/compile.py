"""One document through every stage, and the platform through its own.

In: a `Project`. Out: `Compiled` runs, the platform's objects, findings. A document with an error is still looked at by every later stage that can, so that
all its findings come in one run; it is never rendered.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from taugen.diag import Diagnostic, Span, has_errors, ordered
from taugen.load.tree import Unreadable
from taugen.pipeline.code import gather
from taugen.pipeline.project import Project, workspace_of
from taugen.render import overlay
from taugen.render.platform import render_platform
from taugen.render.run import render_run
from taugen.render.types import Rendered
from taugen.resolve.code import plan
from taugen.resolve.resolve import resolve
from taugen.resolve.run import ResolvedRun
from taugen.spec.read import read_file
from taugen.spec.rundoc import RunDoc
from taugen.validate import engine
from taugen.validate.schemas import UnknownVersion, Validator
from taugen.words import dotted

DOCUMENT_LIMIT = 256 * 1024
"""Bytes of a tau.yaml file (spec: the whole file)."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """What became of a document. `run` and `rendered` are there only if no finding is an error."""

    doc: RunDoc
    findings: tuple[Diagnostic, ...]
    run: ResolvedRun | None = None
    rendered: tuple[Rendered, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the run can be published."""
        return self.run is not None and not has_errors(self.findings)


class Compiler:
    """Compiles documents of one project. Keeps what is the same for all of them: the validator and the policy's own lookups."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.policy = project.policy
        self.validator = validator(project)

    def read(self, path: str) -> tuple[list[RunDoc], list[Diagnostic]]:
        """Read one file of documents; findings are those that belong to no document."""
        try:
            raw = self.project.tree.read(path, DOCUMENT_LIMIT)
        except Unreadable as error:
            hint = f"a document is at most {DOCUMENT_LIMIT // 1024} KiB; move data out of it" if "bytes" in error.why else "make it a plain file of this repository"
            return [], [Diagnostic("document-unreadable", f"{path} {error.why}", Span(path), hint=hint)]
        return read_file(path, raw, workspace_of(path))

    def compile(self, doc: RunDoc) -> Compiled:
        """Take one document through every stage."""
        findings = [*doc.findings, *engine.check_document(doc, self.policy)]
        code = gather(self.project.tree, doc, plan(doc), self.project.matcher)
        run, more = resolve(doc, self.policy, code)
        findings += more
        if run is None:
            return Compiled(doc, tuple(ordered(findings)))
        findings += engine.check_run(run, self.policy)
        if has_errors(findings):
            return Compiled(doc, tuple(ordered(findings)), run)
        rendered = render_run(run, self.project.tree.read)
        rendered, more = overlay.apply(self.project.overlays, run.cluster, rendered)
        findings += [*more, *self.validate(rendered), *engine.check_objects(rendered, self.policy)]
        return Compiled(doc, tuple(ordered(findings)), run, tuple(rendered))

    def platform(self) -> tuple[list[Rendered], list[Diagnostic]]:
        """The platform's objects of every cluster, patched and validated.

        Objects are judged only where policy has no error: what broken policy renders would repeat the finding in other words.
        """
        findings = engine.check_policy(self.policy)
        sound = not has_errors([*self.project.findings, *findings])
        out: list[Rendered] = []
        rendered = render_platform(self.policy)
        for cluster in sorted(self.policy.clusters):
            mine, more = overlay.apply(self.project.overlays, cluster, [r for r in rendered if r.path.startswith(f"{cluster}/")])
            out += mine
            findings += [*more, *(self.validate(mine) if sound else [])]
        if sound:
            findings += engine.check_objects(out, self.policy)
        return out, ordered(findings)

    def validate(self, rendered: Iterable[Rendered]) -> list[Diagnostic]:
        """Every object against its schema, in the versions that the platform pins."""
        found = []
        for item in rendered:
            for fault in self.validator.faults(item.obj):
                message = f"{item.kind} {item.name}: {dotted(fault.path)}: {fault.message}"
                found.append(Diagnostic("schema", message, item.span, hint="the API server would refuse it; an overlay may have put it there"))
        return found


def validator(project: Project) -> Validator:
    """The validator for the versions that Platform pins; the newest shipped where it pins one that is not shipped (a rule has said so)."""
    platform = project.policy.platform
    pinned = {} if platform is None else {k: v for k, v in platform.spec.versions.model_dump().items() if v is not None}
    try:
        return Validator(pinned, project.schemas)
    except UnknownVersion:
        known = {}
        for product, version in pinned.items():
            try:
                Validator({product: version})
            except UnknownVersion:
                continue
            known[product] = version
        return Validator(known, project.schemas)


def duplicates(docs: Sequence[RunDoc]) -> list[Diagnostic]:
    """Two documents of one workspace with one name: an error at both places."""
    seen: dict[tuple[str, str], RunDoc] = {}
    found = []
    for doc in docs:
        if not doc.name:
            continue
        first = seen.setdefault((doc.workspace, doc.name), doc)
        if first is not doc:
            for here, there in ((doc, first), (first, doc)):
                message = f"two runs of workspace {doc.workspace} are named {doc.name}: the other stands in {there.span(('name',))}"
                found.append(here.finding("run-name-twice", ("name",), message, hint="rename one of them", origin=there.span(("name",))))
    return ordered(found)
