"""What a publish would do to a deploy branch, all laws taken together.

In: what documents and policy want, and the branch. Out: `Decision`: the plan for runs, the platform's changes, refusals for people. Nothing
is written.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from taugen.diag import Diagnostic, Refused, Span
from taugen.pipeline.project import ROOT_FILE
from taugen.pipeline.source import Wishes
from taugen.publish import branch as deploy
from taugen.publish import plan, platform
from taugen.publish.branch import Deployed
from taugen.publish.plan import Plan, Setting
from taugen.publish.platform import PlatformChange
from taugen.publish.state import RunState


class Decision(Struct, frozen=True):
    """`live` are the runs that stay, in a full pass; `unsettled`: something of the platform is held back, so that the next pass is a full
    one."""

    plan: Plan
    change: PlatformChange
    live: tuple[RunState, ...]
    unsettled: bool

    def refusals(self) -> list[Diagnostic]:
        """What is refused (exit 4) while the rest goes on."""
        return [*self.change.refused, *map(_vanished, self.plan.vanished), *map(_unused, self.plan.unused)]


def decide(branch: Deployed, wishes: Wishes, *, allow: frozenset[str] = frozenset(), allow_all: bool = False) -> Decision:
    """Plan the runs and compare the platform; plan anew for workspaces that get no new runs because of what live runs need, until nothing
    changes."""
    _taken(branch, wishes)
    blocked: dict[str, str] = {}
    everything = branch.states() if wishes.full else []
    while True:
        planned = plan.plan(wishes.wishes, wishes.touched, Setting(branch, allow, allow_all, blocked))
        # That a run has ended is said to those who touch its document, not for ever.
        planned.ended_before = [wish for wish in planned.ended_before if wish.file in wishes.changed]
        if wishes.platform is None:
            return Decision(planned, PlatformChange(), (), unsettled=False)
        gone = {state.key for state, _ in planned.end}
        live = [state for state in everything if state.live and state.key not in gone]
        _still_there(branch, live)
        change = platform.change(branch, wishes.platform, live)
        if change.blocked.keys() <= blocked.keys():
            return Decision(planned, change, tuple(live), unsettled=change.unsettled or wishes.platform.held.any)
        blocked = {**change.blocked, **blocked}


def refuse_edits(branch: Deployed, clusters: Iterable[str], where: str) -> None:
    """Raise `Refused` (exit 4) for a branch on which somebody edited taugen's files by hand (law 4). `clusters` are those of the fleet."""
    edits = deploy.edited(branch, frozenset(clusters)) if branch.memory is None else []
    if edits:
        count = f"{len(edits)} files were" if len(edits) > 1 else "a file was"
        raise Refused(f"{count} edited by hand on {where}", code=4, findings=edits)


def _taken(branch: Deployed, wishes: Wishes) -> None:
    """New runs whose place on the branch is taken by somebody else's files are held."""
    taken = branch.occupied({key: made.folder for key, made in wishes.compiled.items()})
    for at, wish in enumerate(wishes.wishes):
        foreign = wish.key in branch.runs and branch.state(wish.key) is None
        if wish.readable and not wish.cancelled and (foreign or wish.key in taken):
            message = f"something that is not taugen's stands on the deploy branch where the run {wish.run} would go"
            wishes.findings.append(Diagnostic("deploy-foreign", message, wish.span, path="name", hint="remove it there, or rename the run"))
            wishes.wishes[at] = replace(wish, ok=False)


def _still_there(branch: Deployed, live: list[RunState]) -> None:
    """Raise `Refused` if the live runs stand in another folder than the deploy tree: its path changed."""
    live = [run for run in live if run.key not in branch.restored]
    if live and not branch.files_below([live[0].folder]):
        message = f"the live run {live[0].run_id} does not stand in {branch.folder}/: spec.output.path can't change while runs are live"
        raise Refused(message, hint="write the old path again, or cancel the runs first", code=4)


def _vanished(state: RunState) -> Diagnostic:
    message = f"the document of the live run {state.run_id} is gone; the run goes on"
    hint = f"restore {state.source} (with `cancelled: true` to end the run), or publish with --allow-cancel {state.run_id}"
    return Diagnostic("run-vanished", message, Span(state.source), hint=hint)


def _unused(name: str) -> Diagnostic:
    message = f"--allow-cancel {name} lets nothing go: no live run of that name is without its document or edited"
    return Diagnostic("cancel-unknown", message, Span(ROOT_FILE), hint="copy the name from what publish lists")
