"""What evidence says of live runs.

In: a commit of the evidence branch, the states of live runs. Out: for each run of which something may follow, `Seen`: its attempts as their
events tell, its complete checkpoints, and the files that say so. The names of files tell which runs these are: of a run that goes on
nothing is read. What must never happen: evidence of another cluster, another document or another object taken for that of a run.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from taugen.advance import settings
from taugen.advance.decide import Tried, moment
from taugen.advance.settings import Settings
from taugen.evidence.event import TERMINAL, Event, EventType
from taugen.evidence.history import fold
from taugen.evidence.paths import AttemptKey, RunKey, parse
from taugen.evidence.store import Branch, Checkpoint, checkpoints_in
from taugen.publish.state import RunState
from taugen.words import Json

_BACK = frozenset({EventType.PREEMPTED, EventType.EVICTED})


@dataclass(frozen=True, slots=True)
class Seen:
    """Evidence of a run. `events` by attempt, `checkpoints` by path of the file that lists them, `records` the attempts that have one."""

    run: RunKey
    settings: Settings
    events: Mapping[AttemptKey, Sequence[Event]]
    checkpoints: Mapping[str, Sequence[Checkpoint]]
    records: frozenset[AttemptKey]
    intent: bool = False
    """Whether the run's intent is there."""

    @property
    def tried(self) -> list[Tried]:
        """What became of each attempt of which anything is known."""
        found = ((key, fold(self.events[key])) for key in sorted(self.events))
        return [Tried(key.number, history, key in self.records) for key, history in found if history is not None]

    @property
    def complete(self) -> list[Checkpoint]:
        """The complete checkpoints of all attempts."""
        return [one for path in sorted(self.checkpoints) for one in self.checkpoints[path]]

    @property
    def paths(self) -> list[str]:
        """Every file that this rests on."""
        found = [event.path(key) for key, events in self.events.items() for event in events]
        return [*found, *self.checkpoints, *(key.record for key in sorted(self.records)), *([self.run.intent] if self.intent else [])]

    def without(self, paths: Collection[str]) -> "Seen":
        """The same, had these files never been written."""
        return replace(
            self,
            events={key: [event for event in events if event.path(key) not in paths] for key, events in self.events.items()},
            checkpoints={path: found for path, found in self.checkpoints.items() if path not in paths},
            records=frozenset(key for key in self.records if key.record not in paths),
            intent=self.intent and self.run.intent not in paths,
        )

    def path_of(self, number: int, kind: EventType | None, time: str) -> str:
        """The file that a decision points to: the record of the attempt, else the event."""
        key = self.run.attempt(number)
        if key in self.records and kind in TERMINAL:
            return key.record
        return next((e.path(key) for e in self.events.get(key, ()) if e.time == time and kind in (None, e.type)), key.record)


@dataclass(frozen=True, slots=True)
class Look:
    """What stands on the branch: `runs` to be read, with their attempts; `elsewhere` files that would end a run, under a cluster where it
    was never placed."""

    runs: dict[RunKey, tuple[RunState, list[AttemptKey]]] = field(default_factory=dict)
    elsewhere: dict[str, RunState] = field(default_factory=dict)


def key_of(state: RunState) -> RunKey:
    """Where the evidence of a published run stands."""
    return RunKey(state.cluster, state.workspace, state.run)


def look(branch: Branch, live: Sequence[RunState]) -> Look:
    """Find the runs of which something may follow, by the names of their files."""
    states = {key_of(state): state for state in live}
    clusters = branch.clusters()
    others = {RunKey(cluster, state.workspace, state.run): state for state in live for cluster in clusters if cluster != state.cluster}
    attempts = branch.attempts_of([*states, *others])
    newer = {key: [a for a in found if key in others or a.number >= states[key].attempt] for key, found in attempts.items()}
    names = branch.folders(path for found in newer.values() for a in found for path in (a.folder, f"{a.folder}/events"))
    out = Look()
    for key, state in states.items():
        for attempt in newer[key]:
            record = "record.json" in names[attempt.folder]
            if record or attempt.number > state.attempt or _matters(_types(attempt, names[f"{attempt.folder}/events"])):
                out.runs[key] = (state, attempts[key])
    for key, state in others.items():
        for attempt in newer[key]:
            files = [f"{attempt.folder}/events/{name}" for name in names[f"{attempt.folder}/events"]]
            found = [path for path in files if (place := parse(path)) is not None and place.type in TERMINAL]
            found += [attempt.record] if "record.json" in names[attempt.folder] else []
            out.elsewhere.update(dict.fromkeys(found, state))
    return out


def _types(attempt: AttemptKey, names: Iterable[str]) -> set[str]:
    places = (parse(f"{attempt.folder}/events/{name}") for name in names)
    return {place.type for place in places if place is not None}


def _matters(types: set[str]) -> bool:
    """Whether events of these types end an attempt, or may leave half a gang."""
    return bool(types & TERMINAL) or (EventType.INDEX_SUCCEEDED in types and bool(types & _BACK))


def read(branch: Branch, found: Look) -> list[tuple[RunState, Seen]]:
    """Read the evidence of these runs, of all their attempts."""
    every = [attempt for _, attempts in found.runs.values() for attempt in attempts]
    events, folders = branch.events_of(every), branch.folders(attempt.folder for attempt in every)
    lists = [f"{a.folder}/{name}" for a in every for name in folders[a.folder] if _is_list(f"{a.folder}/{name}")]
    checkpoints = {path: sorted(checkpoints_in(raw or b""), key=_step) for path, raw in zip(lists, branch.read_many(lists), strict=True)}
    out = []
    for run, (state, attempts) in found.runs.items():
        said = settings.of(state)
        intent = branch.intent(run)
        if intent is not None and _digest(intent) != state.digest:
            continue
        mine = {attempt: own(events[attempt], attempt, said.namespace) for attempt in attempts}
        listed = {path: many for path, many in checkpoints.items() if path.startswith(f"{run.folder}/")}
        records = frozenset(attempt for attempt in attempts if "record.json" in folders[attempt.folder])
        out.append((state, Seen(run, said, mine, listed, records, intent is not None)))
    return out


def own(events: Iterable[Event], attempt: AttemptKey, namespace: str) -> list[Event]:
    """The events that are those of the attempt's object: anybody may label an object of his own with the name of somebody else's run, so
    that what an object of another name or namespace says does not count, nor what has no time."""
    kept = [event for event in events if _timely(event)]
    foreign = {
        str(about["uid"])
        for event in kept
        if event.type is EventType.SUBMITTED and isinstance(about := event.data.get("object"), dict) and about.get("uid")
        if about.get("name", attempt.object) != attempt.object or about.get("namespace", namespace) != namespace
    }
    return [event for event in kept if event.uid not in foreign]


def _timely(event: Event) -> bool:
    try:
        moment(event.time)
    except ValueError:
        return False
    return True


def _step(checkpoint: Checkpoint) -> tuple[int, str]:
    return checkpoint.step, checkpoint.uri


def _is_list(path: str) -> bool:
    place = parse(path)
    return place is not None and place.kind == "checkpoints"


def _digest(intent: Mapping[str, Json]) -> str:
    said = intent.get("intent")
    return str(said.get("digest")) if isinstance(said, dict) else ""
