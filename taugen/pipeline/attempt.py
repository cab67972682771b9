"""One attempt to publish: everything up to the commit object, against the tip that was seen.

In: a commit, a branch and its tip, what is asked for. Out: `Outcome` and the commit's id, to which nothing points yet. What must never
happen: a branch that moves, a decision against another tip than the one that is seen.
"""

from collections.abc import Callable

from msgspec.structs import replace

from taugen.diag import Diagnostic, Refused, ordered
from taugen.load import git
from taugen.load.fastimport import Writer
from taugen.pipeline.decide import Decision, decide, refuse_edits
from taugen.pipeline.outcome import Outcome, Request
from taugen.pipeline.source import Reading, Wishes
from taugen.publish import branch as deploy
from taugen.publish import commit, needs
from taugen.publish.branch import Deployed
from taugen.publish.target import Target


def once(
    reading: Reading, target: Target, tip: str | None, request: Request, progress: Callable[[str], None]
) -> tuple[Outcome, str | None]:
    """Plan against `tip` and make the commit object; no branch moves."""
    branch = deploy.deployed(reading.repo, tip, reading.output_path, reading.name)
    refused: tuple[Diagnostic, ...] = ()
    allow = request.allow
    if tip is not None:
        _may(reading, target, branch, tip)
    if tip is None or request.accept == tip:
        from taugen.pipeline.rebuild import rebuild

        back = rebuild(reading, target, allow, branch.runs)
        refused, allow = back.refused, allow - back.used
        branch = replace(branch, restored=back.restored)
    with Writer(reading.repo) as writer:
        wishes = reading.wishes(branch, None if request.dry_run else writer, full=request.full or bool(branch.restored), progress=progress)
        decision = decide(branch, wishes, allow=allow, allow_all=reading.project.safety.cancel == "allow")
        _all_back(branch, decision)
        outcome = _outcome(reading, target, wishes, decision)
        outcome.restored = [one.state for one in branch.restored.values()]
        outcome.refused = (*refused, *outcome.refused)
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
        opened=reading,
        plan=plan,
        findings=tuple(ordered([*wishes.findings, *plan.findings])),
        refused=tuple(ordered(decision.refusals())),
        notes=tuple(change.notes),
        platform=len(change.writes) + len(change.deletes),
        live=len(decision.live) + len(plan.add),
        older_policy=sum(state.policy != reading.whole.policy.digest for state in decision.live) if wishes.full else None,
    )


# ------------------------------------------------------------------------------------------------------------------ may it?


def _all_back(branch: Deployed, decision: Decision) -> None:
    """Raise `Refused` if the platform no longer has what a run needs that evidence brings back: on a new branch nothing could stay."""
    lost = [found for found in decision.change.refused if found.rule == needs.RULE] if branch.restored else []
    if lost:
        hint = "restore the branch, or bring back in policy what these runs need"
        raise Refused("the deploy branch can't be made anew: its runs need what policy lacks now", hint=hint, code=4, findings=lost)


def _may(reading: Reading, target: Target, branch: Deployed, tip: str) -> None:
    """Raise `Refused` for a branch that must not be published to from this commit."""
    _descends(reading, branch)
    if branch.base is None and git.is_ancestor(reading.repo, tip, reading.commit):
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
