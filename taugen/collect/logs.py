"""Logs: pieces of a container's log by time, redacted.

In: the lines of a log with the API's times in front. Out: piece k holds the lines of the k-th stretch of time since the container's start,
the last 256 KiB of them: a function of the log alone, not of when it was read. A stretch counts as over once a later line or the
container's end is known, or once the API server's clock is past it by more than clocks of nodes may differ: what says a few lines and
then works for hours, as the pods of a Ray cluster do, has its tail written all the same. What must never happen: a piece that changes, a
secret in one, a whole log in memory.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from taugen.collect import stores
from taugen.collect.api import Api, ApiError, Missing
from taugen.evidence.paths import AttemptKey
from taugen.evidence.redact import Redactor
from taugen.words import Json

MOST = 256 << 10
_LOST = b"unable to retrieve container logs"
"""What a kubelet answers, with status 200, for a container that its runtime has removed (Kubernetes kuberuntime_container.go)."""
_BLOCK = 1 << 20
LATE = 60
"""Seconds after a stretch for which a line of it may still come: a node's clock stamps it, and may be behind that of the API server."""
AT_ONCE = 16
"""Pieces that one look at a log gives at most; the next goes on there."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A log to look at: from piece `first` on; `finished` is empty while the container runs."""

    attempt: AttemptKey
    uid: str
    namespace: str
    pod: str
    container: str
    started: str
    finished: str
    first: int


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look found: `next` is the piece to go on with, `done` that there is no more, `lost` why nothing more can be had. `whole` says
    where the whole log was put, `unkept` why that failed."""

    wanted: Wanted
    files: tuple[tuple[str, bytes], ...]
    next: int
    done: bool
    lost: str = ""
    whole: Mapping[str, Json] | None = None
    unkept: str = ""


def read(wanted: Wanted, api: Api, every: int, redactor: Redactor, store: str | None) -> Looked:
    """As `look`; a log that was read to its end is also put into the store as a whole, where there is one."""
    looked = look(wanted, api, every, redactor)
    if store is None or not looked.done or looked.lost:
        return looked
    try:
        return replace(looked, whole=keep(wanted, api, redactor, store))
    except (OSError, ApiError) as error:
        return replace(looked, unkept=str(error))


def keep(wanted: Wanted, api: Api, redactor: Redactor, store: str) -> dict[str, Json]:
    """Put a whole log, redacted, into a store; where it is, its digest and size, and how much was taken out. Raises OSError, ApiError."""
    path, count = f"{wanted.attempt.folder}/{wanted.pod}+{wanted.container}.log", 0

    def content() -> Iterator[bytes]:
        nonlocal count
        for block in _blocks(api.log(wanted.namespace, wanted.pod, wanted.container)):
            text, taken = redactor.text(block.decode("utf-8", "replace"))
            count += taken
            yield text.encode()

    digest, size = stores.opened(store).put(path, content())
    return {"path": f"{store.rstrip('/')}/{path}", "sha256": digest, "bytes": size, "redactions": count}


def _blocks(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines in pieces of about 1 MiB."""
    block = bytearray()
    for line in lines:
        block += line + b"\n"
        if len(block) >= _BLOCK:
            yield bytes(block)
            block.clear()
    if block:
        yield bytes(block)


def look(wanted: Wanted, api: Api, every: int, redactor: Redactor) -> Looked:
    """The pieces of a log that are over. An API that fails leaves the rest to the next look."""
    files: list[tuple[str, bytes]] = []
    at, over = wanted.first, bool(wanted.finished)
    # Before the log is asked for: what is read then is at least as new.
    past = stretches(wanted.started, api.date, every)
    try:
        lines = api.log(wanted.namespace, wanted.pod, wanted.container, later(wanted.started, wanted.first * every))
        for number, piece in pieces(lines, wanted.started, every, wanted.first, over=over, past=past):
            content = redacted(piece, redactor)
            if content is None:
                return Looked(wanted, tuple(files), at, done=True, lost="it can't be redacted")
            files.append((wanted.attempt.log(wanted.pod, wanted.container, number), content))
            at = number + 1
            if len(files) == AT_ONCE:
                return Looked(wanted, tuple(files), at, done=False)
    except Missing:
        return Looked(wanted, tuple(files), at, done=True, lost="the pod or its container is gone")
    except ApiError:
        return Looked(wanted, tuple(files), at, done=False)
    return Looked(wanted, tuple(files), at, done=over)


def stretches(started: str, now: str, every: int) -> int:
    """How many stretches since the container's start are over for good at the API server's time `now`; 0 where that is not known."""
    begin, date = moment(started), moment(now)
    return max(0, int(((date - begin).total_seconds() - LATE) // every)) if begin is not None and date is not None else 0


def pieces(lines: Iterable[bytes], started: str, every: int, first: int, *, over: bool, past: int = 0) -> Iterator[tuple[int, bytes]]:
    """(number, content) of each piece that is over and not empty, from `first` on; with `over`, the last one too. The first `past`
    stretches are over whatever follows."""
    number, kept = first, _Tail()
    begin = moment(started)
    for line in lines:
        time = moment(line[:35].split(b" ", 1)[0].decode("ascii", "replace"))
        if time is None or begin is None:
            # No line of the log, but what a kubelet says instead of one.
            if line.startswith(_LOST):
                raise Missing(line[:200].decode("utf-8", "replace"))
            continue
        at = int((time - begin).total_seconds() // every)
        if at > number:
            if kept.size:
                yield number, kept.content()
            number, kept = at, _Tail()
        if at >= number:
            kept.add(line + b"\n")
    if kept.size and (over or number < past):
        yield number, kept.content()


class _Tail:
    """The last lines of a text, up to `MOST` bytes."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self.size = 0

    def add(self, line: bytes) -> None:
        self._lines.append(line[-MOST:])
        self.size += len(self._lines[-1])
        while self.size > MOST:
            self.size -= len(self._lines.popleft())

    def content(self) -> bytes:
        return b"".join(self._lines)


def redacted(piece: bytes, redactor: Redactor) -> bytes | None:
    """The piece without secrets, not longer than `MOST`; None if that fails: then nothing of it may be kept."""
    try:
        text, _ = redactor.text(piece.decode("utf-8", "replace"))
    except (ValueError, RecursionError, MemoryError):
        return None
    tail = _Tail()
    for line in text.encode().splitlines(keepends=True):
        tail.add(line)
    return tail.content()


def moment(time: str) -> datetime | None:
    """A time in RFC 3339, with fractions of any length and any zone."""
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def later(time: str, seconds: int) -> str:
    """A time, some seconds after; as it is if it can't be read."""
    found = moment(time)
    return (found + timedelta(seconds=seconds)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if found is not None else time
