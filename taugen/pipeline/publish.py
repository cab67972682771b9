"""Publishes: reads a commit, plans against the deploy branch, commits, and answers a lost race by planning anew.

In: a folder, a ref and where to publish. Out: `Outcome`. What must never happen: uncommitted files in the tree, a branch that goes back, a
force-push, one workspace's fault holding back another's runs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from taugen.diag import Diagnostic, Refused, has_errors, ordered
from taugen.load import git
from taugen.load.fastimport import Writer
from taugen.load.status import Uncommitted
from taugen.load.tree import GitTree
from taugen.pipeline import source
from taugen.pipeline.decide import Decision, decide, refuse_edits
from taugen.pipeline.project import LOCK_FILE, ROOT_FILE, policy_places
from taugen.pipeline.source import Reading, Wishes
from taugen.publish import branch as deploy
from taugen.publish import commit
from taugen.publish.branch import Deployed
from taugen.publish.plan import Plan
from taugen.publish.target import Target

ATTEMPTS = 8
"""Races that are answered before publish gives up; each costs a fetch and a plan."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for. `to` is a URL, a path or a remote's name instead of Project.spec.output.url; `accept` a tip that may
    replace the one seen last, or `none`."""

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
    """What happened. `commit` is None if there was nothing to commit; `older_policy` is None in an incremental pass, which does not count
    it."""

    where: str
    reading: Reading
    plan: Plan
    commit: str | None = None
    findings: tuple[Diagnostic, ...] = ()
    refused: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    files: int = 0
    platform: int = 0
    live: int = 0
    older_policy: int | None = None
    left_out: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """The commit that was published."""
        return self.reading.commit

    @property
    def tree(self) -> GitTree:
        """The files of that commit that findings are about."""
        files = sorted({finding.span.file for finding in self.findings}) or [ROOT_FILE]
        return GitTree(self.reading.repo, self.reading.commit, self.reading.prefix, files)

    @property
    def code(self) -> int:
        """The exit code: 4 refused or vanished, 1 errors held something back, else 0."""
        return 4 if self.refused else int(has_errors(self.findings))


def publish(request: Request, progress: Callable[[str], None] = lambda _: None, uncommitted: Uncommitted | None = None) -> Outcome:
    """Publish. `uncommitted` is that of the project's folder, where it runs already. Raises `Refused` for what stops it as a whole."""
    reading = source.open_commit(request.directory, request.ref)
    try:
        if request.ref != "HEAD" or reading.bare:
            return _publish(reading, request, progress)
        with uncommitted or Uncommitted(reading.root) as status:
            outcome = _publish(reading, request, progress)
            outcome.left_out = tuple(path for path in status.paths(reading.prefix) if _counts(reading, path))
            return outcome
    except git.GitError as error:
        raise Refused(f"nothing was published: {error}", hint=_git_hint(error), code=4) from None


def _git_hint(error: git.GitError) -> str:
    if "File exists" in error.stderr and ".lock" in error.stderr:
        return "another git works here, or one was killed and left its lock: when none runs, remove the file"
    return "the deploy branch is as it was; publish again when that is mended"


def _counts(reading: Reading, path: str) -> bool:
    """Whether a file that is not committed would have mattered."""
    places = [ROOT_FILE, LOCK_FILE, "workspaces", *policy_places(reading.project)]
    return reading.matcher(path) or any(path == place or path.startswith(place + "/") or place.startswith(path) for place in places)


def _publish(reading: Reading, request: Request, progress: Callable[[str], None]) -> Outcome:
    output = reading.project.output
    target = Target.of(reading.repo, request.branch or output.branch, request.to or output.url)
    for attempt in range(1, ATTEMPTS + 1):
        tip = target.tip()
        target.guard(tip, request.accept)
        outcome, made = _once(reading, target, tip, request, progress)
        if request.dry_run:
            return outcome
        if made is None or target.move(made, tip):
            outcome.commit = made
            target.remember(made or tip)
            return outcome
        progress(f"{target.where} moved meanwhile: planning anew ({attempt} of {ATTEMPTS})")
    raise Refused(f"{target.where} moved {ATTEMPTS} times while publishing", hint="publish again; one writer at a time is quickest", code=4)


def _once(
    reading: Reading, target: Target, tip: str | None, request: Request, progress: Callable[[str], None]
) -> tuple[Outcome, str | None]:
    """Plan against `tip` and make the commit object; no branch moves."""
    branch = deploy.deployed(reading.repo, tip, reading.output_path, reading.name)
    _may(reading, target, branch)
    with Writer(reading.repo) as writer:
        wishes = reading.wishes(branch, None if request.dry_run else writer, full=request.full, progress=progress)
        decision = decide(branch, wishes, allow=request.allow, allow_all=reading.project.safety.cancel == "allow")
        outcome = _outcome(reading, target, wishes, decision)
        files = commit.files(branch, wishes.compiled, decision.plan, decision.change)
        outcome.files = len(files)
        if not files or request.dry_run:
            return outcome, None
        memory = reading.memory(branch, wishes, decision.plan, unsettled=decision.unsettled)
        return outcome, commit.make(branch, files, decision.plan, decision.change, memory, writer=writer)


def _outcome(reading: Reading, target: Target, wishes: Wishes, decision: Decision) -> Outcome:
    plan, change = decision.plan, decision.change
    return Outcome(
        where=target.where,
        reading=reading,
        plan=plan,
        findings=tuple(ordered([*wishes.findings, *plan.findings])),
        refused=tuple(ordered(decision.refusals())),
        notes=tuple(change.notes),
        platform=len(change.writes) + len(change.deletes),
        live=len(decision.live) + len(plan.add),
        older_policy=sum(state.policy != reading.whole.policy.digest for state in decision.live) if wishes.full else None,
    )


# ------------------------------------------------------------------------------------------------------------------ may it?


def _may(reading: Reading, target: Target, branch: Deployed) -> None:
    """Raise `Refused` for a branch that must not be published to from this commit."""
    if branch.tip is None:
        evidence = reading.project.evidence
        if (place := target.evidence(evidence.url, evidence.branch)) is not None:
            message = f"{target.where} is not there, but evidence of its runs is ({place}): published anew, finished work would run again"
            hint = "restore the branch: push the newest commit of it that a clone still has, or the one that Argo CD or Flux synced last"
            raise Refused(message, hint=hint, code=4)
        return
    _descends(reading, branch)
    if branch.base is None and git.is_ancestor(reading.repo, branch.tip, reading.commit):
        hint = "the deploy tree has a branch of its own: name a new one with --branch, or delete this one"
        raise Refused(f"{target.where} belongs to the history of the sources", hint=hint, code=2)
    if branch.memory is None:
        refuse_edits(branch, reading.whole.policy.clusters, target.where)


def _descends(reading: Reading, branch: Deployed) -> None:
    """A source that does not descend from the recorded one would roll the branch back (law 2)."""
    recorded = branch.last.source if branch.last is not None else None
    if recorded is None or recorded == reading.commit:
        return
    shallow = "fetch the whole history of the sources (git fetch --unshallow; actions/checkout: fetch-depth: 0)"
    if git.find(reading.repo, recorded) is None:
        hint = (
            shallow
            if git.is_shallow(reading.repo)
            else "publish from the repository that the branch was published from, or fetch that commit"
        )
        raise Refused(f"the deploy branch was published from {recorded[:12]}, which this repository does not have", hint=hint, code=4)
    if not git.is_ancestor(reading.repo, recorded, reading.commit):
        message = f"{reading.commit[:12]} does not descend from {recorded[:12]}, from which the deploy branch was published"
        hint = (
            shallow
            if git.is_shallow(reading.repo)
            else "publish a commit that has it in its history: a late job must not roll the branch back"
        )
        raise Refused(message, hint=hint, code=4)
