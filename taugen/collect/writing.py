"""What the collector commits: files, one commit a batch.

In: a `Book` and the deploy branch. Out: commits by a `Sink`. What must never happen: an event that is committed twice with two contents, a
commit without news, evidence that says when the collector looked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from taugen import __version__
from taugen.collect import deploy
from taugen.collect.book import Book, Tracked, Vanished
from taugen.collect.deploy import Deploy
from taugen.evidence.event import TERMINAL, EventType
from taugen.evidence.paths import AttemptKey, RunKey, node_event, parse
from taugen.evidence.sink import Conflict, Sink
from taugen.evidence.store import Branch
from taugen.load import git

RESUME, OPEN, LOST = "Tau-Resume", "Tau-Unrecorded", "Tau-Lost"
_LOOK = 2000
"""Attempts whose folders are read at once."""


@dataclass
class Writer:
    """Turns a book into commits. `finish` makes the last files of an attempt that is over, from what the branch and the book have of it;
    `now` is the API server's time, empty where it is not known."""

    book: Book
    deploy: Deploy
    sink: Sink
    finish: Callable[[Tracked, bytes | None, Branch], Mapping[str, bytes]]
    now: Callable[[], str]
    _intents: dict[RunKey, bytes] = field(default_factory=dict)
    _asked: set[RunKey] = field(default_factory=set)

    def write(self) -> str:
        """Commit what is new, or that there was nothing new for long; the commit, or empty where there is none. Raises `SinkError`, and
        then nothing is lost."""
        book = self.book
        book.settle()
        if book.gap:
            self._remember()
        self._why_gone()
        if not book.files and not book.ended():
            return self._beat()
        branch = self.sink.branch()
        self.known([book.tracked(attempt) for attempt in self._touched()], branch)
        self._drop_known()
        ended = self._ended(branch)
        files = {path: content for path, (_, content) in book.files.items()}
        for tracked in ended:
            files |= self.finish(tracked, self._intents.get(tracked.attempt.of), branch)
        files = dict(sorted(files.items()))
        if not files:
            return self._beat()
        try:
            commit = self.sink.append(files, _subject(files), self._trailers(files), _time(files) or self.now(), on=branch)
        except Conflict:
            # Somebody wrote the same event: what the branch has stays, and is looked at again.
            for attempt in self._touched():
                book.tracked(attempt).names = None
            raise
        for tracked in ended:
            tracked.recorded = True
        book.committed(files)
        return commit

    @property
    def quiet(self) -> bool:
        """Whether it is time to say that the collector lives: something of taugen's does, and nothing was committed for long."""
        now = self.now()
        return bool(now) and self.sink.quiet(now) and self.book.lives

    def _beat(self) -> str:
        return self.sink.beat(self.book.cluster, self._trailers({}), self.now()) if self.quiet else ""

    def _touched(self) -> list[AttemptKey]:
        places = (parse(path) for path in self.book.files)
        return list(dict.fromkeys(place.attempt for place in places if place is not None and place.attempt is not None))

    def known(self, attempts: Sequence[Tracked], branch: Branch | None = None) -> None:
        """Learn what the branch has of attempts, and what their runs were meant to be. Raises `SinkError`."""
        fresh = [tracked for tracked in attempts if tracked.names is None]
        if not fresh:
            return
        branch = branch or self.sink.branch()
        for start in range(0, len(fresh), _LOOK):
            self._look(branch, fresh[start : start + _LOOK])

    def _look(self, branch: Branch, fresh: Sequence[Tracked]) -> None:
        folders = [f"{t.attempt.folder}{part}" for t in fresh for part in ("", "/events", "/logs")]
        level = branch.folders([*folders, *(t.attempt.of.folder for t in fresh)])
        for tracked in fresh:
            at = tracked.attempt.folder
            tracked.names = {name for part in ("", "/events", "/logs") for name, child in level[at + part].items() if not child.folder}
            tracked.recorded = tracked.recorded or "record.json" in tracked.names
        missing = [t.attempt.of for t in fresh if "run.yaml" not in level[t.attempt.of.folder]]
        there = [t.attempt.of for t in fresh if "run.yaml" in level[t.attempt.of.folder]]
        contents = zip(there, branch.read_many([run.intent for run in there]), strict=True)
        self._intents |= {run: content for run, content in contents if content is not None}
        self._asked |= set(missing)

    def _drop_known(self) -> None:
        """Leave out what the branch has; add what runs were meant to be, where the deploy branch says it."""
        book = self.book
        for path in list(book.files):
            place = parse(path)
            tracked = book.attempts.get(place.attempt) if place is not None and place.attempt is not None else None
            if tracked is not None and tracked.names is not None and path.rpartition("/")[2] in tracked.names:
                book.drop(path)
        if self._asked:
            try:
                self.deploy.refresh()
            except git.GitError:
                return
            for run, found in self.deploy.states(sorted(self._asked)).items():
                self._intents[run] = deploy.intent(found)
                book.add(run.intent, self._intents[run])
                self._asked.discard(run)

    def _remember(self) -> None:
        """After a gap that the API server could not bridge: attempts that the branch has without a record, and of which no object stands,
        ended meanwhile. How, nobody saw; why, the deploy branch may know."""
        book, branch = self.book, self.sink.branch()
        runs = branch.runs(book.cluster)
        for start in range(0, len(runs), _LOOK):
            attempts = [attempt for found in branch.attempts_of(runs[start : start + _LOOK]).values() for attempt in found]
            level = branch.folders(attempt.folder for attempt in attempts)
            away = [attempt for attempt in attempts if "record.json" not in level[attempt.folder] and not self._stands(attempt)]
            for attempt, events in branch.events_of(away).items():
                book.tracked(attempt).terminal = any(event.type in TERMINAL for event in events)
                uid = next((event.uid for event in events if event.type is EventType.SUBMITTED), "")
                if uid and not book.tracked(attempt).terminal:
                    stream = min(book.forgot)
                    book.vanished.append(Vanished(attempt, uid, events[-1].time, stream, book.progress[stream].resume))
        book.forgot.clear()

    def _stands(self, attempt: AttemptKey) -> bool:
        """Whether an object of the attempt stands, or its going was seen."""
        tracked = self.book.attempts.get(attempt)
        return (tracked is not None and bool(tracked.objects)) or any(gone.attempt == attempt for gone in self.book.vanished)

    def _why_gone(self) -> None:
        """Ask the deploy branch why objects are gone; while it can't be asked, they are kept in mind."""
        book = self.book
        if not book.vanished:
            return
        try:
            self.deploy.refresh()
            states = self.deploy.states(sorted({gone.attempt.of for gone in book.vanished}))
        except git.GitError:
            return
        vanished, book.vanished = book.vanished, []
        for gone in vanished:
            event = deploy.verdict(gone.attempt, gone.uid, gone.time, states.get(gone.attempt.of))
            if event is not None:
                book.add_event(gone.attempt, event)

    def _ended(self, branch: Branch) -> list[Tracked]:
        ended = self.book.ended()
        self.known(ended, branch)
        return [tracked for tracked in ended if not tracked.recorded]

    def _trailers(self, files: Mapping[str, bytes]) -> list[tuple[str, str]]:
        out = [("Tau-Collector", f"{self.book.cluster} taugen {__version__}")]
        out += [(OPEN, tracked.attempt.folder) for tracked in self.book.open() if tracked.attempt.record not in files]
        out += [
            (LOST, f"{tracked.attempt.folder} {quote(what, safe='')} {quote(why, safe='')}")
            for tracked in self.book.attempts.values()
            for what, why in sorted(tracked.lost)
            if not tracked.recorded and tracked.attempt.record not in files
        ]
        return out + [(RESUME, f"{name}={version}") for name, version in sorted(self.book.resume().items())]


def resume(trailers: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The resume point of each stream in a commit's trailers."""
    pairs = (line.rpartition("=") for line in trailers.get(RESUME, ()))
    return {name: version for name, _, version in pairs if name and version.isdecimal()}


def unrecorded(trailers: Mapping[str, Sequence[str]]) -> list[AttemptKey]:
    """The attempts in a commit's trailers whose object is gone and whose record was not written yet."""
    places = (parse(f"{folder}/record.json") for folder in trailers.get(OPEN, ()))
    return [place.attempt for place in places if place is not None and place.attempt is not None]


def lost(trailers: Mapping[str, Sequence[str]]) -> list[tuple[AttemptKey, str, str]]:
    """What could not be captured of attempts whose record was not written yet: (attempt, what, why)."""
    out = []
    for line in trailers.get(LOST, ()):
        folder, _, rest = line.partition(" ")
        what, _, why = rest.partition(" ")
        place = parse(f"{folder}/record.json")
        if place is not None and place.attempt is not None:
            out.append((place.attempt, unquote(what), unquote(why)))
    return out


def _subject(files: Mapping[str, bytes]) -> str:
    """What a commit brings, counted."""
    places = [place for place in map(parse, files) if place is not None]
    attempts = len({place.attempt for place in places if place.attempt is not None})
    counts = {kind: sum(place.kind == kind for place in places) for kind in ("event", "log", "record")}
    nodes = sum(node_event(path) is not None for path in files)
    said = [f"{count} {kind}{'s' * (count != 1)}" for kind, count in counts.items() if count]
    said += [f"{nodes} of nodes"] if nodes else []
    return (", ".join(said) or "intent") + (f" of {attempts} attempt{'s' * (attempts != 1)}" if attempts else "")


def _time(files: Mapping[str, bytes]) -> str:
    """The newest time among the events of a commit."""
    times = [place.time for path in files if (place := parse(path)) is not None and place.time]
    times += [found[1] for path in files if (found := node_event(path)) is not None]
    return max(times, default="")
