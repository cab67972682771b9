"""Advances: reads what evidence says of live runs, and commits what follows to the deploy branch.

In: a folder, where it publishes to, the time. Out: `Outcome`. One commit for all runs, made of the tip and the evidence alone; a lost race
is answered by looking anew. What must never happen: a commit without news, a force-push, a forged record that ends a run, one run's
trouble holding back another's.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path

from taugen.advance import change, commit, seen, trust
from taugen.advance.decide import Action, End, Retry, Wait, decide
from taugen.advance.seen import Seen
from taugen.advance.trust import Trust
from taugen.diag import Diagnostic, Refused, ordered
from taugen.evidence.store import Branch
from taugen.load import git
from taugen.pipeline import evidence, opening
from taugen.pipeline.decide import refuse_edits
from taugen.pipeline.source import Reading, read
from taugen.publish import branch as deploy
from taugen.publish.commit import Files
from taugen.publish.state import RunState
from taugen.publish.target import Target

RACES = 8
"""That are answered before advance gives up; each costs a fetch and a look."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: as in `publish`; `now` is the time by which backoffs are over."""

    directory: Path
    now: datetime
    branch: str | None = None
    to: str | None = None
    dry_run: bool = False


@dataclass(slots=True)
class Outcome:
    """What happened. `done` and `waiting` are the runs that changed, and those that will."""

    where: str
    done: list[tuple[RunState, Retry | End]] = field(default_factory=list)
    waiting: list[tuple[RunState, Wait]] = field(default_factory=list)
    refused: tuple[Diagnostic, ...] = ()
    live: int = 0
    commit: str | None = None

    @property
    def code(self) -> int:
        """The exit code: 4 if evidence or a run was refused, else 0."""
        return 4 if self.refused else 0


def advance(request: Request, progress: Callable[[str], None] = lambda _: None) -> Outcome:
    """Advance. Raises `Refused` for what stops it as a whole."""
    reading = read(opening.opened(request.directory, "HEAD"))
    output = reading.project.output
    target = Target.of(reading.repo, request.branch or output.branch, request.to or output.url)
    try:
        for number in range(1, RACES + 1):
            tip = target.tip()
            target.guard(tip, None)
            # After the tip: what evidence says of a later attempt than the tip holds is answered by the lost race.
            outcome, made = _Pass(reading, target, tip, request).run()
            if request.dry_run:
                return outcome
            if made is None or tip is None or target.move(made, tip):
                outcome.commit = made
                target.remember(made or tip)
                return outcome
            progress(f"{target.where} moved meanwhile: looking anew ({number} of {RACES})")
    except git.GitError as error:
        hint = "the deploy branch is as it was; advance again when that is mended"
        raise Refused(f"nothing was advanced: {error}", hint=hint, code=4) from None
    raise Refused(f"{target.where} moved {RACES} times while advancing", hint="advance again; one writer at a time is quickest", code=4)


@dataclass
class _Pass:
    """One look at both branches, against the tip that was seen."""

    reading: Reading
    target: Target
    tip: str | None
    request: Request
    findings: list[Diagnostic] = field(default_factory=list)

    def run(self) -> tuple[Outcome, str | None]:
        """What follows, and the commit that does it, to which nothing points yet."""
        outcome = Outcome(self.target.where)
        if self.tip is None:
            return outcome, None
        reading = self.reading
        branch = deploy.deployed(reading.repo, self.tip, reading.output_path, reading.name)
        if branch.last is None:
            hint = "name the deploy branch with --branch, or publish first"
            raise Refused(f"{self.target.where} holds nothing that project {reading.name} published", hint=hint, code=4)
        if branch.memory is None:
            refuse_edits(branch, reading.whole.policy.clusters, self.target.where)
        live = [state for state in branch.states() if state.live]
        outcome.live = len(live)
        acts = self.actions(self.evidence, live)
        outcome.waiting = [(state, action) for state, _, action in acts if isinstance(action, Wait)]
        changed: Files = {}
        done: list[commit.Act] = []
        for state, about, action in acts:
            if isinstance(action, Wait):
                continue
            files = change.files(branch, state, action)
            if isinstance(files, Diagnostic):
                self.findings.append(files)
            else:
                changed |= files
                done.append(commit.Act(state, action, about.path_of(*action.of)))
        outcome.done = [(act.state, act.action) for act in done]
        outcome.refused = tuple(ordered([*self.findings, *self.trust_findings]))
        if not done or self.request.dry_run:
            return outcome, None
        return outcome, commit.make(branch, self.evidence, changed, done)

    @cached_property
    def evidence(self) -> Branch:
        """The evidence branch."""
        return evidence.find(self.reading, self.target)

    @cached_property
    def trust(self) -> Trust:
        """Whose word counts; policy is read for it, so only where something is to be done."""
        return evidence.trust(self.reading, self.evidence)

    @property
    def trust_findings(self) -> list[Diagnostic]:
        """What was found untrusted, if anything was judged."""
        return self.trust.findings if "trust" in self.__dict__ else []

    def actions(self, branch: Branch, live: list[RunState]) -> list[tuple[RunState, Seen, Action]]:
        """What follows for which run; first by all evidence, then by that which counts."""
        found = seen.look(branch, live)
        if found.elsewhere:
            self.trust.elsewhere(found.elsewhere)
        every = [(state, about) for state, about in seen.read(branch, found) if self.after(state, about) is not None or self.odd(about)]
        known = [(state, about) for state, about in every if state.cluster in self.trust.keys]
        self.findings += [trust.no_cluster(state) for state, _ in every if state.cluster not in self.trust.keys]
        bad: set[str] = set()
        for cluster in sorted({state.cluster for state, _ in known}):
            bad |= self.trust.unsigned(cluster, [path for state, about in known if state.cluster == cluster for path in about.paths])
        trusted = [(state, about.without(bad) if bad else about) for state, about in known]
        return [(state, about, action) for state, about in trusted if (action := self.after(state, about)) is not None]

    def after(self, state: RunState, about: Seen) -> Action | None:
        """What follows from evidence."""
        return decide(state.attempt, about.settings, about.tried, about.complete, self.request.now)

    @staticmethod
    def odd(about: Seen) -> bool:
        """Whether a record stands there of an attempt that no event ended: only a forger writes one."""
        over = {one.number for one in about.tried if one.history.state.terminal}
        return any(key.number not in over for key in about.records)
