"""A lost deploy branch, brought back from evidence, or not at all (law 6).

In: a commit of the sources, the evidence branch, names of runs that may go. Out: `Rebuild`: the runs that were published, as the new branch
has to hold them, and evidence that does not count. A run that is over comes back as a state without manifests. One that is not comes back
with the very bytes that it had: its document is compiled anew at the commit that evidence names, and only where the state comes out as
evidence has it are the objects believed to be the same; those of a later attempt where they are what evidence says it was started with
(`started`). What must never happen: a finished run that starts again, a running one that is
left out, other bytes under a name that was used.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from taugen.advance import change, seen
from taugen.advance.decide import Action, End, Retry, decide
from taugen.advance.seen import Look, Seen
from taugen.advance.trust import Trust
from taugen.diag import Diagnostic, Refused, Span
from taugen.evidence.paths import RunKey
from taugen.evidence.store import Branch
from taugen.load import git
from taugen.load.mainline import Mainline
from taugen.pipeline import evidence, started
from taugen.pipeline.compile import Compiled, Compiler
from taugen.pipeline.opening import Opened
from taugen.pipeline.source import Reading, read
from taugen.publish import state as states
from taugen.publish.branch import Restored
from taugen.publish.state import Key, RunState
from taugen.publish.target import Target
from taugen.render import file
from taugen.render.types import Object

_OVER = datetime(9999, 1, 1, tzinfo=UTC)
"""A time at which every backoff is over: what comes back must not depend on the hour."""


@dataclass(slots=True)
class Rebuild:
    """What evidence brings back; `refused` are files of evidence that don't count; `used` names of --allow-cancel that let a run go."""

    restored: dict[Key, Restored] = field(default_factory=dict)
    refused: tuple[Diagnostic, ...] = ()
    used: frozenset[str] = frozenset()


def rebuild(reading: Reading, target: Target, allow: frozenset[str], known: frozenset[Key] = frozenset()) -> Rebuild:
    """Bring back the runs that evidence knows and the branch, which holds the states of `known`, does not; nothing where there are none.

    Raises `Refused` (exit 4) if one of them can't be brought back and is not allowed to go.
    """
    branch = evidence.find(reading, target)
    if not branch.clusters():
        return Rebuild()
    every = branch.runs()
    runs = [key for key in every if (key.workspace, key.run) not in known]
    work = _Work(reading, branch, evidence.trust(reading, branch), allow)
    if not every:
        work.lost = {RunKey(name, "", ""): "evidence is there that this version can't read" for name in branch.clusters()}
    work.all(runs)
    place, remote = reading.project.evidence, reading.project.evidence.url or target.remote
    if work.lost:
        where = f"branch {place.branch}" + (f" of {remote}" if remote else "")
        count = f"{len(work.lost)} run{'s' * (len(work.lost) != 1)}"
        gone = "has lost runs" if known else "is not there"
        message = f"{target.where} {gone}, and evidence ({where}) does not bring back all: {count} would be lost or run again"
        hint = (
            "restore the branch: push the newest commit of it that a clone still has, or the one that Argo CD or Flux synced last; "
            "or let single runs go with --allow-cancel"
        )
        raise Refused(message, hint=hint, code=4, findings=[*work.trust.findings, *work.unproven()])
    return Rebuild(work.out, tuple(work.trust.findings), frozenset(work.used))


@dataclass
class _Work:
    reading: Reading
    branch: Branch
    trust: Trust
    allow: frozenset[str]
    out: dict[Key, Restored] = field(default_factory=dict)
    lost: dict[RunKey, str] = field(default_factory=dict)
    """Runs that can't be brought back, and why."""
    used: set[str] = field(default_factory=set)
    elsewhere: set[RunKey] = field(default_factory=set)
    lines: dict[str, Mainline] = field(default_factory=dict)
    """The main line of each commit from which runs were published, which has looked for the documents of all of them."""

    def unproven(self) -> list[Diagnostic]:
        """The runs that stand in the way, each a finding."""
        return [
            Diagnostic("restore-unproven", f"{key.workspace}/{key.run} on cluster {key.cluster}: {why}", Span(key.intent))
            for key, why in sorted(self.lost.items())
        ]

    def all(self, runs: Iterable[RunKey]) -> None:
        """Bring back every run."""
        told = self.told(list(runs))
        missing = [key for key in runs if key not in told]
        compiled = self.compiled(told)
        now = self.documents() if missing else {}
        for key in missing:
            found = now.get((key.workspace, key.run))
            if found is None or found.run is None:
                self.lose(key, None, "evidence does not hold what it was meant to be, and no document says so now")
            else:
                told[key] = states.of(found.run, self.reading.commit)
                compiled[key] = found
        believed = {key: state for key, state in told.items() if self.placed(key, state, compiled.get(key))}
        attempts = self.branch.attempts_of(believed)
        for state, about in self.judged(Look({key: (state, attempts[key]) for key, state in believed.items()})):
            self.bring(state, about, compiled[about.run], proven=about.run not in missing)
        self.trust.elsewhere({path: told[key] for key in self.elsewhere for path in [key.intent]})

    def told(self, runs: list[RunKey]) -> dict[RunKey, RunState]:
        """What evidence says that each run was meant to be, where its word counts."""
        contents = zip(runs, self.branch.read_many([key.intent for key in runs]), strict=True)
        read = {key: states.of_body(content) for key, content in contents if content is not None}
        found = {key: one for key, one in read.items() if one is not None and seen.key_of(one) == key and one.live and one.attempt == 1}
        for cluster in sorted({key.cluster for key in found}):
            bad = self.trust.unsigned(cluster, [key.intent for key in found if key.cluster == cluster])
            found = {key: one for key, one in found.items() if key.intent not in bad}
        return found

    def judged(self, look: Look) -> list[tuple[RunState, Seen]]:
        """The evidence that counts."""
        every = seen.read(self.branch, look)
        bad: set[str] = set()
        for cluster in sorted({about.run.cluster for _, about in every}):
            bad |= self.trust.unsigned(cluster, [path for _, about in every if about.run.cluster == cluster for path in about.paths])
        return [(state, about.without(bad)) for state, about in every]

    def compiled(self, told: Mapping[RunKey, RunState]) -> dict[RunKey, Compiled]:
        """The documents as they were when the runs were published, compiled by what this version is."""
        out: dict[RunKey, Compiled] = {}
        for commit in sorted({state.commit for state in told.values()}):
            mine = {key: state for key, state in told.items() if state.commit == commit}
            found = self.documents_at(commit, sorted({state.source for state in mine.values()}))
            out |= {key: one for key in mine if (one := found.get((key.workspace, key.run))) is not None}
        return out

    def documents_at(self, commit: str, paths: Sequence[str]) -> dict[Key, Compiled]:
        """Documents of an earlier commit of these sources; none of one that is not."""
        now = self.reading
        if git.find(now.repo, commit) is None or not git.is_ancestor(now.repo, commit, now.commit):
            return {}
        try:
            then = now if commit == now.commit else read(Opened(now.repo, now.root, now.prefix, commit, now.bare))
            compiler = Compiler(then.whole)
        except Refused:
            return {}
        self.lines[commit] = Mainline(now.repo, commit, now.prefix)
        self.lines[commit].look(paths)
        return _compiled(compiler, paths)

    def documents(self) -> dict[Key, Compiled]:
        """The documents as they are now."""
        return _compiled(Compiler(self.reading.whole), self.reading.whole.documents())

    def placed(self, key: RunKey, state: RunState, found: Compiled | None) -> bool:
        """Whether the run was placed where evidence of it stands: else whoever writes for one cluster could end runs of another."""
        if found is None or found.run is None or not found.ok:
            self.lose(key, state, f"its document can't be compiled any more as it was at {state.commit[:12]}")
        elif found.run.cluster != key.cluster or found.doc.digest != state.digest:
            self.elsewhere.add(key)
        else:
            return True
        return False

    def bring(self, state: RunState, about: Seen, found: Compiled, *, proven: bool) -> None:
        """One run whose evidence counts."""
        assert found.run is not None
        number = max((one.number for one in about.tried), default=1)
        action = decide(number, about.settings, about.tried, about.complete, _OVER)
        if isinstance(action, End):
            self.out[state.key] = Restored(change.after(state, action))
            return
        why = self.doubt(state, about, found, action, number) if proven else "evidence does not hold what it was meant to be"
        made = why or self.made(about, found, action, number)
        if isinstance(made, str):
            self.lose(about.run, state, made)
            return
        at, resume, objects = made
        name = self.reading.name
        texts = {item.path: file.of_object(obj, item.source, name) for item, obj in zip(found.rendered, objects, strict=True)}
        self.out[state.key] = Restored(state.at(at, resume) if at > 1 else state, texts)

    def doubt(self, state: RunState, about: Seen, found: Compiled, action: Action | None, number: int) -> str:
        """Why a run that is not over can't come back with the bytes that it had; empty if nothing speaks against it."""
        assert found.run is not None
        if state.body not in self.bodies(found, state.commit):
            return "it is not over, and compiled anew it is another: by another version of taugen, or with other policy"
        if _follows(about, action) and about.tried[-1].history.superseded:
            # The branch held it, and it was made of checkpoints that may have been fewer than those of now.
            return f"attempt {number} was followed by another, of which evidence says nothing yet"
        if _follows(about, action) and not about.tried[-1].recorded:
            return f"attempt {number} failed, and the collector has not written its record yet"
        return ""

    def bodies(self, found: Compiled, commit: str) -> set[str]:
        """What a run's state says where it was published from a commit: as it is written now, and as it was before it said who brought the
        document and what was rendered."""
        assert found.run is not None
        texts = {item.path: file.of_object(item.obj, item.source, self.reading.name) for item in found.rendered}
        by = self.lines[commit].brought([found.doc.file]).get(found.doc.file)
        return {states.of(found.run, commit, states.digest_of(texts), by).body, states.of(found.run, commit).body}

    @staticmethod
    def made(about: Seen, found: Compiled, action: Action | None, number: int) -> tuple[int, str, list[Object]] | str:
        """The attempt that the branch held: its number, where it resumed, its objects; or why that can't be told."""
        first = [item.obj for item in found.rendered]
        if isinstance(action, Retry) and _follows(about, action):
            objects = started.attempt(first, action.attempt, action.resume_from, action.reason)
            if objects is None:
                return f"attempt {number} failed, and how the variables of the next were ordered can't be told"
            return action.attempt, action.resume_from, objects
        if number == 1:
            return 1, "", first
        told = started.proven(first, about, number)
        return f"attempt {number} is not over, and {told}" if isinstance(told, str) else (number, *told)

    def lose(self, key: RunKey, state: RunState | None, why: str) -> None:
        """A run that can't come back: it stands in the way, unless it is allowed to go."""
        names = {f"{key.workspace}/{key.run}", key.run}
        if state is not None:
            names |= {state.run_id, f"{state.workspace}/{state.name}"}
        if given := names & self.allow:
            self.used |= given
            if state is not None:
                self.out[state.key] = Restored(state.ended("cancelled"))
        else:
            self.lost[key] = why


def _follows(about: Seen, action: Action | None) -> bool:
    """Whether the newest attempt is over, and another follows it."""
    return isinstance(action, Retry) and bool(about.tried) and about.tried[-1].history.state.terminal


def _compiled(compiler: Compiler, paths: Iterable[str]) -> dict[Key, Compiled]:
    docs = [doc for path in paths for doc in compiler.read(path)[0] if doc.name]
    return {(one.doc.workspace, one.doc.run): one for one in compiler.compile_all(docs)}
