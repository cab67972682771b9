"""One document through every stage, and the platform through its own.

In: a `Project`. Out: `Compiled` runs, the platform's objects, findings. A document with an error is still looked at by every later stage
that can, so that all its findings come in one run; it is never rendered.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from taugen.diag import Diagnostic, Severity, Span, has_errors, ordered
from taugen.load.tree import Unreadable
from taugen.pipeline.code import gather
from taugen.pipeline.project import Project, workspace_of
from taugen.render import overlay
from taugen.render.run import render_run
from taugen.render.types import Rendered
from taugen.resolve.code import CodeInput, plan
from taugen.resolve.resolve import resolve
from taugen.resolve.run import ResolvedRun
from taugen.spec.read import read_file
from taugen.spec.rundoc import RunDoc
from taugen.validate import engine
from taugen.validate.schemas import UnknownVersion, Validator
from taugen.words import dotted

if TYPE_CHECKING:
    from taugen.pipeline.scope import Scope

DOCUMENT_LIMIT = 256 * 1024
"""Bytes of a tau.yaml file (spec: the whole file)."""
BATCH = 16
"""Documents that go through a stage together. Fewer change the code in the caches more often, more of them push out each other's data."""


class Compiled(Struct, frozen=True):
    """What became of a document. `run` and `rendered` are there only if no finding is an error."""

    doc: RunDoc
    findings: tuple[Diagnostic, ...]
    run: ResolvedRun | None = None
    rendered: tuple[Rendered, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the run can be published."""
        return self.run is not None and not has_errors(self.findings)


class _Work(Struct):
    """A document on its way. `sound`: it may be rendered, since no finding so far is an error."""

    doc: RunDoc
    findings: list[Diagnostic]
    code: CodeInput | None = None
    run: ResolvedRun | None = None
    sound: bool = False
    rendered: list[Rendered] = field(default_factory=list)
    before: Sequence[Rendered] = ()
    """The objects without overlays."""
    judged: list[Diagnostic] = field(default_factory=list)
    """What was found at the objects."""


class Compiler:
    """Compiles documents of one project. Keeps what is the same for all of them: the validator and the policy's own lookups."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.policy = project.policy
        self.validator = validator(project)
        self.used: set[int] = set()
        """The patches of overlays that were for something so far."""
        self._scope: Scope | None = None

    def read(self, path: str) -> tuple[list[RunDoc], list[Diagnostic]]:
        """Read one file of documents; findings are those that belong to no document."""
        if not path.isprintable():
            hint = "rename the folder or the file: the path stands in what is rendered"
            return [], [
                Diagnostic("document-unreadable", f"{path} has a character that can't be shown, or is not UTF-8", Span(path), hint=hint)
            ]
        try:
            raw = self.project.tree.read(path, DOCUMENT_LIMIT)
        except Unreadable as error:
            hint = (
                f"a document is at most {DOCUMENT_LIMIT // 1024} KiB; move data out of it"
                if "bytes" in error.why
                else "make it a plain file of this repository"
            )
            return [], [Diagnostic("document-unreadable", f"{path} {error.why}", Span(path), hint=hint)]
        return read_file(path, raw, workspace_of(path))

    def compile(self, doc: RunDoc) -> Compiled:
        """Take one document through every stage."""
        return self.compile_all([doc])[0]

    def compile_all(self, docs: Sequence[RunDoc]) -> list[Compiled]:
        """Take documents through every stage, some of them through one before the next: its code then stays in the processor's caches,
        which saves a fifth of the time.
        """
        out = []
        stages = (self._look, self._gather, self._resolve, self._judge_run, self._render, self._patch, self._check, self._judge_objects)
        for at in range(0, len(docs), BATCH):
            works = [_Work(doc, list(doc.findings)) for doc in docs[at : at + BATCH]]
            for stage in stages:
                for work in works:
                    stage(work)
            out += [Compiled(work.doc, tuple(ordered(work.findings)), work.run, tuple(work.rendered)) for work in works]
        return out

    def _look(self, work: "_Work") -> None:
        found = engine.check_document(work.doc, self.policy)
        # Where something is wrong with a field, that comes first: it may be to go, and need not be spelt another way.
        wrong = {one.span for one in found if one.severity is not Severity.NOTE}
        work.findings = [one for one in work.findings if one.severity is not Severity.NOTE or one.span not in wrong] + found

    def _gather(self, work: "_Work") -> None:
        work.code = gather(self.project.tree, work.doc, plan(work.doc), self.project.matcher)

    def _resolve(self, work: "_Work") -> None:
        assert work.code is not None
        work.run, found = resolve(work.doc, self.policy, work.code)
        work.findings += found

    def _judge_run(self, work: "_Work") -> None:
        if work.run is not None:
            work.findings += engine.check_run(work.run, self.policy)
            work.sound = not has_errors(work.findings)

    def _render(self, work: "_Work") -> None:
        if work.run is not None and work.sound:
            work.rendered = render_run(work.run, self.project.tree.read)

    def _patch(self, work: "_Work") -> None:
        if work.run is not None and work.sound:
            work.before = work.rendered
            work.rendered, found = overlay.apply(self.project.overlays, work.run.cluster, work.rendered, self.used)
            work.findings += found

    def _check(self, work: "_Work") -> None:
        if not self._held(work):
            work.judged += self.validate(work.rendered)

    def _judge_objects(self, work: "_Work") -> None:
        if work.sound and not self._held(work):
            work.judged += engine.check_objects(work.rendered, self.policy)
        if work.judged and work.run is not None:
            work.findings += self._blamed(work.judged, work.run.cluster, work.before)

    def _blamed(self, findings: Sequence[Diagnostic], cluster: str, before: Sequence[Rendered]) -> list[Diagnostic]:
        """Findings at objects, those that an overlay caused at its patch."""
        if not self.project.overlays.by_cluster.get(cluster):
            return list(findings)
        from taugen.pipeline.blame import blamed

        def judge(objects: Sequence[Rendered]) -> list[Diagnostic]:
            return [*self.validate(objects), *engine.check_objects(objects, self.policy)]

        return blamed(findings, self.project.overlays, cluster, before, judge)

    def _held(self, work: "_Work") -> bool:
        """Whether an error in policy holds the run back: what its objects show of that would be a second finding."""
        return self._scope is not None and work.run is not None and self._scope.holds(work.doc.workspace, work.run.cluster)

    def judge_policy(self) -> list[Diagnostic]:
        """Findings of the rules on policy. Objects of the runs that its errors hold back are not judged from here on."""
        findings = engine.check_policy(self.policy)
        if has_errors([*self.project.findings, *findings]):
            from taugen.pipeline.scope import scope

            self._scope = scope(self.policy, self.project.tree, [*self.project.findings, *findings])
        return findings

    def platform(self) -> tuple[list[Rendered], list[Diagnostic]]:
        """The platform's objects of every cluster, patched and validated.

        Objects are judged only where policy has no error: what broken policy renders would repeat the finding in other words.
        """
        from taugen.render.platform import render_platform

        findings = self.judge_policy()
        sound = not has_errors([*self.project.findings, *findings])
        out: list[Rendered] = []
        rendered = render_platform(self.policy)
        before = {c: [r for r in rendered if r.path.startswith(f"{c}/")] for c in sorted(self.policy.clusters)}
        judged: list[Diagnostic] = []
        for cluster, objects in before.items():
            mine, more = overlay.apply(self.project.overlays, cluster, objects, self.used)
            out += mine
            findings += more
            judged += self.validate(mine) if sound else []
        if sound:
            judged += engine.check_objects(out, self.policy)
        for cluster, objects in before.items() if judged else ():
            judged = self._blamed(judged, cluster, objects)
        return out, ordered([*findings, *judged])

    def idle_patches(self) -> list[Diagnostic]:
        """Patches that were for no object, once platform and every run are compiled."""
        return overlay.unused(self.project.overlays, self.used)

    def validate(self, rendered: Iterable[Rendered]) -> list[Diagnostic]:
        """Every object against its schema, in the versions that the platform pins."""
        found = []
        for item in rendered:
            for fault in self.validator.faults(item.obj):
                message = f"{item.kind} {item.name}: {dotted(fault.path)}: {fault.message}"
                found.append(
                    Diagnostic("schema", message, item.span, hint="the API server would refuse it; an overlay may have put it there")
                )
        return found


def validator(project: Project) -> Validator:
    """The validator for the versions that Platform pins; the newest shipped where it pins one that is not shipped (a rule has said so)."""
    pinned = project.policy.versions
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
    """Two documents of one workspace with one name: an error at both places, one for each document."""
    seen: dict[tuple[str, str], list[RunDoc]] = {}
    found = []
    for doc in docs:
        if not doc.name:
            continue
        known = seen.setdefault((doc.workspace, doc.name), [])
        known.append(doc)
        if len(known) > 1:
            first = known[0]
            for here, there in ((doc, first), (first, doc))[: 2 if len(known) == 2 else 1]:
                message = f"two runs of workspace {doc.workspace} are named {doc.name}: the other stands in {there.span(('name',))}"
                found.append(here.finding("run-name-twice", ("name",), message, hint="rename one of them", origin=there.span(("name",))))
    return ordered(found)
