"""Publishes: reads a commit, plans against the deploy branch, commits, and answers a lost race by planning anew.

In: a folder, a ref and where to publish. Out: `Outcome`. What must never happen: uncommitted files in the tree, a branch that goes back, a force-push, one workspace's fault
holding back another's runs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from taugen.diag import Diagnostic, Refused, Span, has_errors, ordered
from taugen.load import fastimport, git
from taugen.load.fastimport import Pushed
from taugen.pipeline import source
from taugen.pipeline.source import Reading
from taugen.publish import branch as deploy
from taugen.publish import commit, plan, platform
from taugen.publish.branch import Deployed
from taugen.publish.plan import Plan
from taugen.publish.state import RunState

ATTEMPTS = 6
"""Races that are answered before publish gives up; each costs a fetch and a plan."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for. `to` is a URL, a path or a remote's name instead of Project.spec.output.url; `accept` a tip that may replace the one seen last."""

    directory: Path
    ref: str = "HEAD"
    branch: str | None = None
    to: str | None = None
    allow: frozenset[str] = frozenset()
    full: bool = False
    dry_run: bool = False
    accept: str | None = None


@dataclass(slots=True)
class Outcome:
    """What happened. `commit` is None if there was nothing to commit."""

    where: str
    source: str
    commit: str | None = None
    tip: str | None = None
    plan: Plan = field(default_factory=Plan)
    findings: tuple[Diagnostic, ...] = ()
    refused: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    changes: int = 0
    incremental: bool = False
    live: int = 0
    older_policy: int | None = None
    left_out: tuple[str, ...] = ()

    @property
    def code(self) -> int:
        """The exit code: 4 refused or vanished, 1 errors held something back, else 0."""
        if self.refused or self.plan.vanished or self.plan.unused:
            return 4
        return int(has_errors(self.findings))


def publish(request: Request, progress: Callable[[str], None] = lambda _: None) -> Outcome:
    """Publish. Raises `Refused` for what stops it as a whole."""
    reading = source.open_commit(request.directory, request.ref)
    target = Target.of(reading, request)
    for attempt in range(ATTEMPTS):
        tip = target.tip()
        target.guard(tip, request.accept)
        outcome, made = _once(reading, target, tip, request, progress)
        if made is None or request.dry_run:
            return outcome
        if target.move(made, tip):
            outcome.commit = made
            target.remember(made)
            return outcome
        progress(f"the branch moved meanwhile: planning anew ({attempt + 1} of {ATTEMPTS})")
    raise Refused(f"{target.where} moved {ATTEMPTS} times while publishing", hint="run publish again; one writer at a time is quickest", code=4)


def _once(reading: Reading, target: "Target", tip: str | None, request: Request, progress: Callable[[str], None]) -> tuple[Outcome, str | None]:
    """Plan against `tip` and make the commit object; no branch moves."""
    branch = deploy.deployed(reading.repo, tip, reading.output_path)
    _descends(reading, branch)
    if branch.tip is not None and branch.memory is None:
        edits = deploy.edited(branch, reading.project_name)
        if edits:
            raise Refused(f"{len(edits)} file{'s' * (len(edits) > 1)} of the deploy branch {'were' if len(edits) > 1 else 'was'} edited by hand", code=4, findings=edits)
    wishes = reading.wishes(branch, full=request.full, progress=progress)
    setting = plan.Setting(branch, wishes.owner, wishes.claims, request.allow, reading.allow_cancel)
    planned = plan.plan(wishes.wishes, wishes.touched, setting)
    changed = platform.PlatformChange()
    live = branch.states() if wishes.full else []
    live = [state for state in live if state.phase == "live" and not any(state is gone for gone, _ in planned.end)]
    if wishes.full:
        changed = platform.change(branch, reading.project_name, wishes.platform, sorted(reading.policy.clusters), live, wishes.held)
    _refuse_foreign(branch, planned, reading)
    outcome = _outcome(reading, target, tip, wishes, planned, changed, live)
    files = commit.files(branch, reading.project_name, wishes.compiled, planned, changed, reading.commit)
    outcome.changes = len(files)
    if not files and tip is not None:
        return outcome, None
    memory = wishes.memory(planned)
    return outcome, commit.make(reading.repo, branch, files, planned, changed, memory)


def _outcome(
    reading: Reading, target: "Target", tip: str | None, wishes: source.Wishes, planned: Plan, changed: platform.PlatformChange, live: Sequence[RunState]
) -> Outcome:
    findings = list(wishes.findings)
    for wish, other in planned.twice:
        message = f"two runs of workspace {wish.workspace} are named {wish.name}: the other stands in {other}"
        findings.append(Diagnostic("run-name-twice", message, Span(wish.file), path="name", hint="rename one of them"))
    older = sum(state.policy != reading.policy.digest for state in live) if wishes.full else None
    vanished = [_vanished(state) for state in planned.vanished]
    unused = [
        Diagnostic("cancel-unknown", f"--allow-cancel {name}: no live run without a document has that name", Span("taugen.yaml"), hint="see the list of `taugen publish`")
        for name in planned.unused
    ]
    return Outcome(
        where=target.where,
        source=reading.commit,
        tip=tip,
        plan=planned,
        findings=tuple(ordered(findings)),
        refused=tuple(ordered([*changed.refused, *vanished, *unused])),
        notes=tuple(changed.notes),
        incremental=not wishes.full,
        live=len(live) + len(planned.add),
        older_policy=older,
        left_out=tuple(reading.left_out()),
    )


def _vanished(state: RunState) -> Diagnostic:
    message = f"the document of the live run {state.run_id} is gone; the run stays"
    hint = f"restore {state.source} (with `cancelled: true` to cancel the run), or publish with --allow-cancel {state.run_id}"
    return Diagnostic("run-vanished", message, Span(state.source), hint=hint)


def _descends(reading: Reading, branch: Deployed) -> None:
    """A source that does not descend from the recorded one would roll the branch back (law 2)."""
    recorded = branch.source
    if recorded is None or recorded == reading.commit:
        return
    if git.find(reading.repo, f"{recorded}^{{commit}}") is None:
        shallow = git.is_shallow(reading.repo)
        hint = "fetch the whole history (actions/checkout: fetch-depth: 0)" if shallow else "publish from the repository that the branch was published from"
        raise Refused(f"the deploy branch was published from {recorded[:12]}, which this repository does not have", hint=hint, code=4)
    if not git.is_ancestor(reading.repo, recorded, reading.commit):
        message = f"{reading.commit[:12]} does not descend from {recorded[:12]}, from which the deploy branch was published"
        raise Refused(message, hint="publish a commit that has it in its history; a late job must not roll the branch back", code=4)


def _refuse_foreign(branch: Deployed, planned: Plan, reading: Reading) -> None:
    """A file of somebody else in the folder of a new run stops that run only."""
    if branch.tip is None:
        return
    for wish in list(planned.add):
        folder = f"{branch.folder}/*/runs/{wish.workspace}/{wish.run[-8:-6]}/{wish.run}"
        if commit.exists(branch, reading.cluster_of(wish), wish):
            planned.add.remove(wish)
            planned.twice.append((wish, folder))


@dataclass(frozen=True, slots=True)
class Target:
    """The branch that is published to: local, or of a remote."""

    repo: Path
    name: str
    remote: str | None

    @classmethod
    def of(cls, reading: Reading, request: Request) -> "Target":
        """From the request and Project.spec.output. Raises `Refused` for the source branch itself."""
        output = reading.project.output
        remote = request.to or output.url
        name = request.branch or output.branch
        if git.run(["check-ref-format", "--branch", name], cwd=reading.repo, check=False).code:
            raise Refused(f"{name!r} is no branch name", code=2)
        head = git.run(["symbolic-ref", "-q", "HEAD"], cwd=reading.repo, check=False).out.decode().strip()
        if remote is None and head == f"refs/heads/{name}":
            raise Refused(f"{name} is the branch that is checked out", hint="the deploy tree never goes to the source branch: name another with --branch", code=2)
        return cls(reading.repo, name, remote)

    @property
    def ref(self) -> str:
        """The branch as a full name."""
        return f"refs/heads/{self.name}"

    @property
    def where(self) -> str:
        """How people name it."""
        return f"branch {self.name}" + (f" of {self.remote}" if self.remote else "")

    @property
    def seen(self) -> str:
        """Where the tip that this repository published or saw last is kept, so that a rewritten branch is noticed."""
        from hashlib import sha256

        key = f"{self.remote or ''}:{self.name}"
        return f"refs/taugen/seen/{sha256(key.encode()).hexdigest()[:16]}"

    def tip(self) -> str | None:
        """The branch's commit now. Raises `Refused` if the remote can't be reached."""
        if self.remote is None:
            return git.find(self.repo, self.ref)
        try:
            return fastimport.fetch(self.repo, self.remote, self.ref)
        except git.GitError as error:
            raise Refused(f"{self.where} can't be fetched: {error}", hint="check the URL and the credentials", code=4) from None

    def guard(self, tip: str | None, accept: str | None) -> None:
        """Raise `Refused` if the branch was set back, rewritten or deleted since this repository saw it."""
        last = git.find(self.repo, self.seen)
        if last is None or last == tip or (tip is not None and (tip == accept or git.is_ancestor(self.repo, last, tip))):
            return
        if tip is None:
            if accept == "none":
                return
            message, hint = f"{self.where} is gone; it was at {last[:12]}", f"restore it (git branch {self.name} {last}), or start anew with --accept none"
        else:
            message = f"{self.where} was rewritten: it is at {tip[:12]}, and {last[:12]} is not in its history"
            hint = f"restore it to {last}, or take what stands there with --accept {tip}"
        raise Refused(message, hint=hint, code=4)

    def move(self, new: str, old: str | None) -> bool:
        """Move the branch from `old` to `new`; False if somebody else was quicker. Raises `Refused`."""
        if self.remote is None:
            return fastimport.update_ref(self.repo, self.ref, new, old)
        result = fastimport.push(self.repo, self.remote, new, self.ref, old)
        if result.outcome is Pushed.FAILED:
            raise Refused(f"{self.where} refused the push: {result.message}", hint="check rights and branch protection; nothing was published", code=4)
        return result.outcome is Pushed.OK

    def remember(self, tip: str) -> None:
        """Note the tip that was published."""
        fastimport.update_ref(self.repo, self.seen, tip, git.find(self.repo, self.seen))


