"""What the collector knows of attempts that are not over, and what it has not committed yet.

In: `Item`s of the streams. Out: files to commit, the resume point that a commit may name, attempts whose end is complete. What must never
happen: a resume point beyond something that is not among the files, the same event with two contents, memory that grows with attempts that
are over.

Some facts need an object of another stream: a Kubernetes Event names no run, a preemption names a uid. What can't be told yet is held, and
its stream's resume point with it, until that object was seen, or until every stream has come further than it was: then there is none.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from taugen.collect.runs import NAMESPACED, OWNERS, Found
from taugen.collect.watch import Item
from taugen.evidence.event import TERMINAL, Event
from taugen.evidence.paths import AttemptKey, parse
from taugen.evidence.redact import Redactor
from taugen.words import Json

SIGNS = 3
"""That a stream is current, after which it is believed to be, whatever versions it names."""
MOST_FILES, MOST_BYTES, MOST_HELD = 30_000, 64 << 20, 20_000
"""Of what is not committed: when the remote is away for longer, streams are begun again from the last commit instead."""


@dataclass(slots=True)
class Pod:
    """A pod of an attempt. `containers` are (name, started, finished); `read` is the next piece of each log; `done` those read to their
    end."""

    name: str
    namespace: str
    over: bool = False
    gone: bool = False
    containers: tuple[tuple[str, str, str], ...] = ()
    behind: tuple[str, str] = ("", "")
    """The pods' stream, and its resume point before the pod was gone."""
    tries: int = 0
    read: dict[str, int] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    busy: set[str] = field(default_factory=set)

    @property
    def read_out(self) -> bool:
        """Whether the logs of all its containers were read to their end."""
        return self.done >= {name for name, *_ in self.containers}


@dataclass(slots=True)
class Tracked:
    """An attempt. `objects`: uid -> (kind, newest time that is known of it) of its Job, JobSet or RayJob while it stands; `names`: the
    files that the branch has of it, None until somebody looked; `mark`: how far the streams were when it seemed complete."""

    attempt: AttemptKey
    objects: dict[str, tuple[str, str]] = field(default_factory=dict)
    namespace: str = ""
    pods: dict[str, Pod] = field(default_factory=dict)
    uids: set[str] = field(default_factory=set)
    names: set[str] | None = None
    terminal: bool = False
    recorded: bool = False
    mark: "Mark | None" = None
    wholes: list[Mapping[str, Json]] = field(default_factory=list)
    """Where whole logs were put."""
    lost: set[tuple[str, str]] = field(default_factory=set)
    """(what, why) of what could not be captured."""

    @property
    def complete(self) -> bool:
        """Whether it ended, none of its pods runs any more and all of their logs were read."""
        pods = self.pods.values()
        return self.terminal and not self.recorded and all(pod.over and pod.read_out for pod in pods)


@dataclass(slots=True)
class Progress:
    """How far a stream is. `count` grows with each sign that it is current; none counts before it has come to `target`, where the API stood
    when the stream began; `reached` is the version up to which it has delivered everything. Nobody waits for one that is
    `absent`: the cluster has no such kind, or the account may not read it."""

    resume: str = ""
    target: int = 0
    count: int = 0
    reached: int = 0
    absent: bool = False
    listed: bool = False
    """Whether all that stands is known, or that there is no such kind."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far everything was at a moment: the newest version that any stream had brought, and the signs of each."""

    version: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Held:
    """Something that needs an object that was not seen. `resume` is its stream's resume point before it."""

    found: Found
    stream: str
    resume: str
    mark: Mark


@dataclass(frozen=True, slots=True)
class Vanished:
    """An object of a run that is gone and did not end: the deploy branch knows why."""

    attempt: AttemptKey
    uid: str
    time: str
    stream: str
    resume: str


class Book:
    """All of it. `streams` are the names of the streams that will be heard of."""

    def __init__(self, cluster: str, streams: Mapping[str, str], redactor: Redactor) -> None:
        self.cluster = cluster
        self.progress = {name: Progress(resume) for name, resume in streams.items()}
        self.attempts: dict[AttemptKey, Tracked] = {}
        self.files: dict[str, tuple[int, bytes]] = {}
        self.vanished: list[Vanished] = []
        self.news = 0
        """Events that were taken in, for those who count."""
        self._redactor = redactor
        self._uids: dict[str, AttemptKey] = {}
        self._held: list[Held] = []
        self._listed: dict[str, set[str]] = {}
        self.forgot: set[str] = set()
        """Streams that had a resume point which the server had forgotten: what ended meanwhile is for the branch to tell."""
        self._bytes = 0
        self._newest = 0

    # ------------------------------------------------------------------------------------------------------------------- taking in

    def take(self, item: Item) -> None:
        """Take in what a stream says."""
        name, progress = item.stream.name, self.progress[item.stream.name]
        if item.found is not None:
            self._object(item, item.found, name)
        elif item.type == "listing":
            self._listed[name] = set()
        elif item.type == "listed":
            self._missed(name, item)
            if progress.resume and item.stream.resource.kind in OWNERS:
                self.forgot.add(name)
            progress.resume, progress.target, progress.reached = item.version, 0, _number(item.version)
            progress.count += 1
        elif item.type == "looked":
            progress.target = _number(item.version)
        elif item.type == "promise":
            progress.resume, progress.reached = item.version, _number(item.version)
            if _number(item.version) >= progress.target:
                progress.target = 0
                progress.count += 1
        elif item.type == "quiet":
            progress.target = 0
            progress.count += 1
        progress.listed = progress.listed or item.type in ("listed", "looked", "absent")
        if item.type in ("absent", "denied"):
            progress.absent = True
        elif item.type != "listing":
            progress.absent = False

    def _object(self, item: Item, found: Found, stream: str) -> None:
        if stream in self._listed:
            self._listed[stream].add(found.uid)
        if found.attempt is not None and not found.about:
            self._track(found, found.attempt, stream, news=item.type != "known")
        if item.type != "known":
            if found.kind != "Event":  # a cluster may keep them in a store of their own, with versions of their own
                self._newest = max(self._newest, found.version)
            self._events(found, stream, self.progress[stream].resume)
        if found.gone and found.attempt is not None and found.kind in OWNERS and not found.over:
            self.vanished.append(Vanished(found.attempt, found.uid, found.gone, stream, self.progress[stream].resume))

    def tracked(self, attempt: AttemptKey) -> Tracked:
        """The attempt, known from now on."""
        if attempt not in self.attempts:
            self.attempts[attempt] = Tracked(attempt)
        return self.attempts[attempt]

    def _track(self, found: Found, attempt: AttemptKey, stream: str, *, news: bool) -> None:
        tracked = self.tracked(attempt)
        tracked.uids.add(found.uid)
        tracked.namespace = found.namespace
        self._uids[found.uid] = attempt
        if news:
            tracked.mark = None
        if found.kind in OWNERS:
            tracked.terminal = tracked.terminal or found.over
            if found.gone:
                tracked.objects.pop(found.uid, None)
            else:
                known = tracked.objects.get(found.uid, ("", ""))[1]
                tracked.objects[found.uid] = found.kind, max(known, *(event.time for event in found.events))
        elif found.kind == "Pod":
            pod = tracked.pods.setdefault(found.uid, Pod(found.name, found.namespace))
            if found.gone and not pod.gone:
                pod.gone, pod.behind = True, (stream, self.progress[stream].resume)
            pod.over = pod.over or found.over
            if len([c for c in found.containers if c[2]]) >= len([c for c in pod.containers if c[2]]):
                pod.containers = found.containers or pod.containers
        tracked.terminal = tracked.terminal or any(event.type in TERMINAL for event in found.events)

    def _events(self, found: Found, stream: str, resume: str) -> None:
        """Put an object's events among the files, or hold them."""
        if found.kind == "Node":
            for event in found.events:
                self._file(event.path_of_node(self.cluster), event, found.version)
            return
        attempt = self._whose(found)
        if (found.about and attempt is None) or (found.by and found.by not in self._uids):
            if len(self._held) < MOST_HELD:
                self._held.append(Held(found, stream, resume, self._mark()))
            return
        if attempt is not None:
            self._put(found, attempt)

    def _whose(self, found: Found) -> AttemptKey | None:
        return self._uids.get(found.about, found.attempt) if found.about else found.attempt

    def _mark(self) -> Mark:
        return Mark(self._newest, {name: progress.count for name, progress in self.progress.items()})

    def _put(self, found: Found, attempt: AttemptKey) -> None:
        tracked = self.tracked(attempt)
        for event in found.events:
            whole = replace(event, data=self._named(event, found.by)) if found.by and "by" in event.data else event
            if self._file(whole.path(attempt), whole, found.version, tracked):
                self.news += 1

    def _named(self, event: Event, uid: str) -> Mapping[str, Json]:
        """The data of a preemption with the run that took the place, where it is one of ours."""
        who, by = self._uids.get(uid), event.data.get("by")
        if who is None or not isinstance(by, dict):
            return event.data
        return {**event.data, "by": {**by, "workspace": who.of.workspace, "run": who.of.run, "attempt": who.number}}

    def _file(self, path: str, event: Event, version: int, tracked: Tracked | None = None) -> bool:
        """Keep an event's file, once: what was seen first counts, and what the branch has stays."""
        there = self.files.get(path)
        name = path.rpartition("/")[2]
        if (there is not None and there[0] <= version) or (tracked is not None and tracked.names is not None and name in tracked.names):
            return False
        data, _ = self._redactor.tree(dict(event.data))
        content = replace(event, data=data if isinstance(data, dict) else {}).content()
        self._bytes += len(content) - (len(there[1]) if there is not None else 0)
        self.files[path] = (version, content)
        return there is None

    def add(self, path: str, content: bytes) -> None:
        """Keep a file that is no event."""
        if path not in self.files:
            self.files[path] = (0, content)
            self._bytes += len(content)

    def drop(self, path: str) -> None:
        """Forget a file that need not be committed."""
        self._bytes -= len(self.files.pop(path)[1])

    @property
    def lives(self) -> bool:
        """Whether an object stands of an attempt that is not over."""
        return any(t.objects and not t.terminal for t in self.attempts.values())

    def open(self) -> list[Tracked]:
        """The attempts that wait for their record, and of which no object stands that would bring them to mind after a restart."""
        return [t for t in self.attempts.values() if t.terminal and not t.recorded and not t.objects]

    def add_event(self, attempt: AttemptKey, event: Event) -> None:
        """Keep an event that no object said, since it is gone."""
        tracked = self.tracked(attempt)
        tracked.terminal = tracked.terminal or event.type in TERMINAL
        self._file(event.path(attempt), event, 0, tracked)

    def _missed(self, stream: str, item: Item) -> None:
        """After a list took the place of what a watch could not deliver: what is not in it is gone, and nobody saw how it stood."""
        there = self._listed.pop(stream, set())
        kind, namespace = item.stream.resource.kind, item.stream.namespace
        for tracked in self.attempts.values():
            if kind == "Pod":
                for uid, pod in tracked.pods.items():
                    if uid not in there and pod.namespace == namespace and not pod.gone:
                        pod.over, pod.gone, pod.behind = True, True, (stream, self.progress[stream].resume)
            elif kind in OWNERS:
                missing = [uid for uid, (of, _) in tracked.objects.items() if of == kind and uid not in there]
                for uid in missing if tracked.namespace == namespace else ():
                    _, time = tracked.objects.pop(uid)
                    if not tracked.terminal:
                        self.vanished.append(Vanished(tracked.attempt, uid, time, stream, self.progress[stream].resume))

    # ----------------------------------------------------------------------------------------------------------------- what follows

    def settle(self) -> None:
        """Look again at what is held."""
        waiting, self._held = self._held, []
        for held in waiting:
            found = held.found
            attempt = self._whose(found)
            if attempt is not None and (not found.by or found.by in self._uids or self._passed(held.mark)):
                self._put(found, attempt)
            elif attempt is None and self._passed(held.mark):
                continue
            else:
                self._held.append(held)

    def _passed(self, mark: Mark) -> bool:
        """Whether every stream has come further since: beyond the version that any had brought, or, where versions do not tell (a kind of
        which nothing changes may be told of an old one), has given several signs that it is current."""
        return all(
            one.absent or (one.count > mark.counts.get(name, 0) and (one.reached >= mark.version or one.count >= mark.counts[name] + SIGNS))
            for name, one in self.progress.items()
        )

    def current(self) -> None:
        """Every stream is as far as it can come."""
        for progress in self.progress.values():
            progress.count += SIGNS

    def ended(self) -> list[Tracked]:
        """The attempts of which nothing more is to come: complete, and every stream has come further since they seemed so."""
        held = {self._whose(held.found) for held in self._held} | {v.attempt for v in self.vanished}
        out = []
        for tracked in self.attempts.values():
            if not tracked.complete or tracked.attempt in held:
                continue
            if tracked.mark is None:
                tracked.mark = self._mark()
            elif self._passed(tracked.mark):
                out.append(tracked)
        return out

    def resume(self) -> dict[str, str]:
        """The resume point of each stream: nothing before it is missing among what is committed and what `files` holds."""
        points = {name: progress.resume for name, progress in self.progress.items() if progress.resume}
        behind = [(held.stream, held.resume) for held in self._held] + [(gone.stream, gone.resume) for gone in self.vanished]
        behind += [pod.behind for t in self.attempts.values() for pod in t.pods.values() if pod.gone and not pod.read_out]
        for stream, before in behind:
            points[stream] = min(points.get(stream, ""), before, key=_number)
        return {name: point for name, point in points.items() if point}

    def committed(self, paths: Iterable[str]) -> None:
        """Forget files that are on the branch now, and attempts that are over and gone."""
        for path in paths:
            if path in self.files:
                self.drop(path)
            place = parse(path)
            tracked = self.attempts.get(place.attempt) if place is not None and place.attempt is not None else None
            if tracked is not None and tracked.names is not None:
                tracked.names.add(path.rpartition("/")[2])
        over = [t for t in self.attempts.values() if t.recorded and not t.objects and all(pod.gone for pod in t.pods.values())]
        for tracked in over:
            del self.attempts[tracked.attempt]
            for uid in tracked.uids:
                self._uids.pop(uid, None)

    @property
    def begun(self) -> bool:
        """Whether a commit would name a resume point of every stream, so that whoever goes on from it misses nothing."""
        return all(one.resume or one.absent for one in self.progress.values())

    @property
    def gap(self) -> bool:
        """Whether the server had forgotten something, and all that stands is known by now."""
        kinds = {f"{kind.name}/" for kind in NAMESPACED if kind.kind in OWNERS}
        own = [one for name, one in self.progress.items() if name[: name.find("/") + 1] in kinds]
        return bool(self.forgot) and all(one.listed for one in own)

    @property
    def full(self) -> bool:
        """Whether more than should wait for a commit does."""
        return len(self.files) > MOST_FILES or self._bytes > MOST_BYTES


def _number(version: str) -> int:
    return int(version) if version.isdecimal() else 0
