"""The collector at work: streams in, commits out, until it is told to stop.

In: settings, an API, a sink, the deploy branch. Out: evidence. The branch is its only state: what was not committed is seen again from the
resume point that the last commit names. What must never happen: more than six pushes a minute, an event that waits for more than the ten
seconds between two of them while the remote is there, a write to a branch that somebody rewrote.
"""

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from taugen.collect import around, finish, logs, writing
from taugen.collect.api import Api, ApiError, Denied, Missing, Resource
from taugen.collect.around import Around
from taugen.collect.book import Book
from taugen.collect.clock import Clock
from taugen.collect.config import Settings
from taugen.collect.deploy import Deploy
from taugen.collect.logs import Looked, Wanted
from taugen.collect.runs import NAMESPACED, NODES, Where
from taugen.collect.watch import WATCH, Following, Item, Stream
from taugen.collect.writing import Writer
from taugen.diag import Refused
from taugen.evidence.redact import Redactor
from taugen.evidence.sink import Conflict, Full, Rewritten, Sink, Unreachable

_QUEUE, _AT_ONCE = 5000, 500
"""Items that wait to be taken in, and that are taken in between two looks at what is due: after a long absence there are many."""
_SOON = 1.0
"""Seconds that the first of several events waits for the others."""
_PATIENCE = 30.0
"""Seconds that a commit waits for streams that were never listed: what they would have said first, nobody could tell later."""
_READERS = 4
_TRIES = 120
"""Looks at the log of a container that ended, a second apart and without success, before it is given up."""


class _Again(Exception):  # noqa: N818 - it says what to do
    """More is waiting for a commit than should: begin again from the last one."""


@dataclass
class Collector:
    """The collector of one cluster. `say` tells people what goes wrong."""

    settings: Settings
    api: Api
    sink: Sink
    deploy: Deploy
    clock: Clock
    say: Callable[[str], None]
    redactor: Redactor = field(default_factory=Redactor)
    denied: set[str] = field(default_factory=set)

    def once(self) -> str:
        """Look once at everything; the commit, or empty where there is no news. Raises `Refused`."""
        out: queue.Queue[Item] = queue.Queue()
        streams = self._streams(self._shared(out), {})
        book = Book(self.settings.cluster, {stream.name: "" for stream in streams}, self.redactor)
        for stream in streams:
            try:
                stream.once()
            except Missing as error:
                if not stream.resource.optional:
                    raise Refused(f"{stream.name}: {error}") from None
                out.put(Item(stream, "absent", error=error))
            except ApiError as error:
                if not isinstance(error, Denied) or stream.resource.namespaced:
                    raise Refused(f"{stream.name} can't be listed: {error}") from None
                # Whoever may read the namespaces alone gets all of the runs' evidence.
                self.say(f"{stream.name}: {error}")
                out.put(Item(stream, "denied", error=error))
            while not out.empty():
                book.take(out.get())
        try:
            writer = self._writer(book, around.look(self.api))
        except ApiError as error:
            raise Refused(f"what stands around the runs can't be read: {error}") from None
        writer.known(list(book.attempts.values()))
        # What says how an attempt ended was listed before what says it more closely: the lists are as good as streams that went on.
        book.current()
        while wanted := self._logs(book):
            for one in wanted:
                self._looked(book, self.look(one), final=True)
        book.ended()
        book.current()
        try:
            made = writer.write()
            self.sink.flush()
        except (Unreachable, Full) as error:
            raise Refused(f"evidence can't be written: {error}", code=4) from None
        return made

    def run(self) -> None:
        """Follow everything until the clock is stopped, then commit what there is. Raises `Refused` (exit 4) for a branch that
        was rewritten."""
        delays, first = self.clock.delays(1.0, 60.0), self.clock.delays()
        while not self.clock.stopped.is_set():
            try:
                trailers = self.sink.tip_trailers(self.settings.cluster)
                self._session(trailers, around.look(self.api))
            except _Again:
                self.say("the evidence branch can't be written: beginning again from its last commit once it can")
                self.clock.wait(next(delays))
            except (Unreachable, Full) as error:
                self.say(f"evidence: {error}")
                self.clock.wait(next(delays))
            except ApiError:
                # Of the look around: the streams themselves try again.
                self.clock.wait(next(first))
            except Rewritten as error:
                hint = "nothing more is written: settle who changed the branch, then start the collector with an empty state folder"
                raise Refused(f"the evidence branch was rewritten: {error}", hint=hint, code=4) from None

    # ------------------------------------------------------------------------------------------------------------------- one session

    def _session(self, trailers: Mapping[str, Sequence[str]], seen: Around) -> None:
        resume = writing.resume(trailers)
        out: queue.Queue[Item] = queue.Queue(_QUEUE)
        clock = Clock()
        streams = self._streams(self._shared(out, clock), resume)
        book = Book(self.settings.cluster, {stream.name: resume.get(stream.name, "") for stream in streams}, self.redactor)
        for attempt in writing.unrecorded(trailers):
            book.tracked(attempt).terminal = True
        for attempt, what, why in writing.lost(trailers):
            book.tracked(attempt).lost.add((what, why))
        for stream in streams:
            threading.Thread(target=stream.follow, name=stream.name, daemon=True).start()
        readers = ThreadPoolExecutor(_READERS, thread_name_prefix="logs")
        try:
            _Session(self, book, self._writer(book, seen), out, readers).run()
        finally:
            clock.stopped.set()
            readers.shutdown(wait=False, cancel_futures=True)

    def _shared(self, out: "queue.Queue[Item]", clock: Clock | None = None) -> Following:
        where = Where(self.settings.cluster, self.settings.namespaces)
        # Many streams begin their watches anew less often, so that the API server has no more to do for them.
        seconds = self.settings.watch or max(WATCH, len(NAMESPACED) * len(self.settings.namespaces) / 8)
        return Following(self.api, where, out, clock or self.clock, seconds)

    def _streams(self, shared: Following, resume: dict[str, str]) -> list[Stream]:
        wanted: list[tuple[Resource, str]] = [(kind, namespace) for kind in NAMESPACED for namespace in sorted(self.settings.namespaces)]
        streams = [Stream(kind, namespace, shared) for kind, namespace in [*wanted, (NODES, "")]]
        return [Stream(s.resource, s.namespace, shared, resume.get(s.name, "")) for s in streams]

    def _writer(self, book: Book, seen: Around) -> Writer:
        made = partial(finish.finish, book=book, settings=self.settings, around=seen)
        return Writer(book, self.deploy, self.sink, made, lambda: self.api.date)

    # -------------------------------------------------------------------------------------------------------------------------- logs

    def _logs(self, book: Book, *, running: bool = False) -> list[Wanted]:
        """The logs to look at: those of containers that ended, and those of containers that run if it is time for them."""
        out = []
        for tracked in book.attempts.values():
            if tracked.recorded or tracked.names is None:
                continue
            for uid, pod in tracked.pods.items():
                for name, started, finished in pod.containers:
                    if name in pod.done or name in pod.busy or not (finished or pod.over or running):
                        continue
                    if name not in pod.read:
                        pod.read[name] = finish.next_piece(tracked.names, pod.name, name)
                    pod.busy.add(name)
                    end = finished or (started if pod.over else "")
                    out.append(Wanted(tracked.attempt, uid, pod.namespace, pod.name, name, started, end, pod.read[name]))
        return out

    def look(self, wanted: Wanted) -> Looked:
        """Look at a log."""
        return logs.read(wanted, self.api, self.settings.log_every, self.redactor, self.settings.log_store)

    def _looked(self, book: Book, looked: Looked, *, final: bool = False) -> None:
        """Take in what a look at a log brought; `final`: there will be no other."""
        wanted = looked.wanted
        tracked = book.attempts.get(wanted.attempt)
        pod = tracked.pods.get(wanted.uid) if tracked is not None else None
        if tracked is None or pod is None:
            return
        for path, content in looked.files:
            book.add(path, content)
        pod.busy.discard(wanted.container)
        pod.read[wanted.container] = looked.next
        pod.tries = pod.tries + 1 if looked.next == wanted.first else 0
        stuck = not looked.done and bool(wanted.finished) and (final or pod.tries >= _TRIES)
        if looked.done or stuck:
            pod.done.add(wanted.container)
        if looked.whole is not None:
            tracked.wholes.append(looked.whole)
        if looked.unkept:
            tracked.lost.add((f"whole log of {wanted.pod}/{wanted.container}", looked.unkept))
        if looked.lost or stuck:
            tracked.lost.add((f"log of {wanted.pod}/{wanted.container}", looked.lost or "the API server does not give it"))


class _Session:
    """From one start of the streams to the next."""

    def __init__(self, of: Collector, book: Book, writer: Writer, out: "queue.Queue[Item]", readers: ThreadPoolExecutor) -> None:
        self._of, self._book, self._writer, self._out, self._readers = of, book, writer, out, readers
        self._looking: list[Future[Looked]] = []
        now = of.clock.now()
        self._due, self._last, self._tails = 0.0, now - of.settings.interval, now + of.settings.log_every
        self._beat, self._started = now, now

    def run(self) -> None:
        """Until the clock is stopped."""
        clock = self._of.clock
        while not clock.stopped.is_set():
            self._listen()
            now = clock.now()
            if now >= self._beat:
                self._beat = now + min(_SOON, self._of.settings.interval / 3)
                self._read_logs(now)
                self._book.settle()
                news = self._book.files or self._book.vanished or self._book.gap or self._book.ended()
                begun = self._book.begun or now >= self._started + _PATIENCE
                if begun and not self._due and (news or self._writer.quiet):
                    interval = self._of.settings.interval
                    self._due = max(now + min(_SOON, interval / 10), self._last + interval, now + self._of.sink.wait())
            if self._due and now >= self._due:
                self._write(now)
        self._read_logs(clock.now())
        self._writer.write()
        self._of.sink.flush()

    def _listen(self) -> None:
        """Take in what came, and wait a moment if nothing did."""
        try:
            self._take(self._out.get(timeout=0.1))
            for _ in range(_AT_ONCE - 1):
                self._take(self._out.get_nowait())
        except queue.Empty:
            return

    def _take(self, item: Item) -> None:
        if item.type == "failed" and item.error is not None:
            raise item.error
        if item.type == "denied" and item.stream.name not in self._of.denied:
            self._of.denied.add(item.stream.name)
            self._of.say(f"{item.stream.name}: {item.error}")
        self._book.take(item)

    def _read_logs(self, now: float) -> None:
        for done in [future for future in self._looking if future.done()]:
            self._looking.remove(done)
            self._of._looked(self._book, done.result())
        tails = now >= self._tails
        if tails:
            self._tails = now + self._of.settings.log_every
        wanted = [t for t in self._book.attempts.values() if t.names is None and t.pods and (tails or t.terminal)]
        try:
            self._writer.known(wanted)
        except (Unreachable, Full):
            return  # which pieces the branch has can't be known now; the logs are there later too
        for one in self._of._logs(self._book, running=tails):
            self._looking.append(self._readers.submit(self._of.look, one))

    def _write(self, now: float) -> None:
        self._due = 0.0
        try:
            if self._writer.write():
                self._last = now
        except (Unreachable, Full, Conflict) as error:
            self._of.say(f"evidence: {error}")
            self._last = now
            self._due = now + self._of.settings.interval
        if self._book.full:
            raise _Again
