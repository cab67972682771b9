"""Follows one resource of one namespace: list, then watch, for as long as it takes.

In: the API, and the resourceVersion up to which a commit already says everything. Out: `Item`s in a bounded queue: what is kept of each
object, and promises. A promise is a resourceVersion up to which everything was delivered: that of a whole list, of a bookmark, of the end
of a watch that the server closed itself. What must never happen: a resume point that is no promise (a stream may repeat and reorder what is
between two of them), a stream that ends silently, objects that pile up.
"""

import queue
from dataclasses import dataclass
from typing import Literal

from taugen.collect.api import Api, ApiError, Denied, Gone, Missing, Resource, Throttled
from taugen.collect.clock import Clock
from taugen.collect.runs import Found, Where, reduce

WATCH = 10.0
"""Seconds of one watch: shortly before its end the API server sends a bookmark, earlier than the minute it takes otherwise."""
_TRIES = 3
"""Times that a server says 410 before it is believed: behind one address may be several, and one that was restarted remembers less."""
_ABSENT, _DENIED = 60.0, 30.0


@dataclass(frozen=True, slots=True)
class Item:
    """What a stream has to say.

    `object`, `gone`: an object as it is, as it was when it was deleted. `known`: one that stands, of which everything is committed or will
    be delivered by the watch: no news. `listing`, `listed`: around a list that takes the place of what a watch could not deliver any more.
    `looked`: the end of what is `known`, as it was at `version`. `promise`: everything up to `version` was delivered. `quiet`: the server
    ended a watch, and had nothing to send. `absent`: the cluster has no such kind. `denied`: the account may not read it. `failed`: a bug.
    """

    stream: "Stream"
    type: Literal["object", "gone", "known", "listing", "listed", "looked", "promise", "quiet", "absent", "denied", "failed"]
    found: Found | None = None
    version: str = ""
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class Following:
    """What all streams share. `seconds` is the length of one watch."""

    api: Api
    where: Where
    out: "queue.Queue[Item]"
    clock: Clock
    seconds: float = WATCH


class Stream:
    """One resource of one namespace. `since` is the resume point, empty for a first look."""

    def __init__(self, resource: Resource, namespace: str, shared: Following, since: str = "") -> None:
        self.resource, self.namespace, self._since = resource, namespace, since
        self.name = f"{resource.name}/{namespace}" if resource.namespaced else resource.name
        self._api, self._where, self._out, self._clock = shared.api, shared.where, shared.out, shared.clock
        self._seconds = shared.seconds

    def follow(self) -> None:
        """Run until the clock is stopped; the body of a thread."""
        try:
            self._follow()
        except Exception as error:
            # A thread that ends unseen would lose evidence: who reads the queue raises it again.
            self._put(Item(self, "failed", error=error))

    def once(self) -> None:
        """One list, as a first look or with everything in it taken for news. Raises ApiError."""
        self._list("object")

    def _follow(self) -> None:
        delays = self._clock.delays()
        looked, forgotten = not self._since, 0
        while not self._clock.stopped.is_set():
            try:
                if not looked:
                    self._list("known")
                    looked = True
                elif not self._since:
                    self._list("object")
                self._watch()
                delays, forgotten = self._clock.delays(), 0
            except Gone:
                forgotten += 1
                if forgotten >= _TRIES:
                    self._since, looked, forgotten = "", True, 0
                self._clock.wait(next(delays))
            except Throttled as error:
                self._clock.wait(max(error.seconds, next(delays)))
            except Missing as error:
                self._put(Item(self, "absent" if self.resource.optional else "denied", error=error))
                self._clock.wait(_ABSENT)
            except Denied as error:
                self._put(Item(self, "denied", error=error))
                self._clock.wait(_DENIED)
            except ApiError:
                self._clock.wait(next(delays))

    def _list(self, kind: Literal["object", "known"]) -> None:
        """Deliver a whole list. One that breaks off is begun anew."""
        if kind == "object":
            self._put(Item(self, "listing"))
        version = ""
        for objects, version in self._api.list(self.resource, self.namespace):  # noqa: B007 - the last page's is that of the list
            for obj in objects:
                self._put(Item(self, kind, reduce(obj, self._where)))
        if kind == "object":
            self._since = version
            self._put(Item(self, "listed", version=version))
        else:
            self._put(Item(self, "looked", version=version))

    def _watch(self) -> None:
        seen = newest = 0
        for change in self._api.watch(self.resource, self.namespace, self._since, self._seconds):
            if change.type == "BOOKMARK":
                self._since, seen = change.version, 0
                self._put(Item(self, "promise", version=change.version))
                continue
            seen += 1
            newest = max(newest, int(change.version) if change.version.isdecimal() else 0)
            found = reduce(change.object, self._where, gone=change.type == "DELETED")
            self._put(Item(self, "gone" if found.gone else "object", found))
        # The server ended the watch itself, so nothing of it is missing.
        if seen and newest:
            self._since = str(newest)
            self._put(Item(self, "promise", version=self._since))
        else:
            self._put(Item(self, "quiet"))

    def _put(self, item: Item) -> None:
        """Hand over; wait while the reader has enough."""
        while not self._clock.stopped.is_set():
            try:
                self._out.put(item, timeout=1)
            except queue.Full:
                continue
            return
