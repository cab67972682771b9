"""Work that several processes share.

In: a function, and the parts of its work. Out: what it makes of each part, in their order. Processes are forked, as many as there are
processors: they know what this one knows, and open git processes of their own. What must never happen: an answer that depends on how many
there are; a fork where one part is all there is; a worker that outlives the process it works for.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from taugen.diag import Refused

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

_MOST = 8
"""Processes."""
_Part = TypeVar("_Part")
_Made = TypeVar("_Made")


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers(parts: int) -> int:
    """How many processes share so many parts; 1 where they can't: some systems don't fork, some sandboxes have no semaphores."""
    count = min(_MOST, processors(), parts)
    if count > 1:
        # Most commands share nothing, and have nothing of pickles, sockets and logging to load.
        import multiprocessing

        try:
            multiprocessing.get_context("fork").Lock()
        except (ImportError, NotImplementedError, OSError, ValueError):
            return 1
    return count


def shared(work: Callable[[_Part], _Made], parts: Sequence[_Part]) -> Iterator[_Made]:
    """`work` of each part. It stands in a module, and takes and gives what can be pickled. Raises what it raises, `Refused` if a worker
    dies."""
    count = workers(len(parts))
    if count < 2:
        yield from map(work, parts)
        return
    with forked(count) as pool:
        yield from pool.map(work, parts)


@contextmanager
def forked(count: int, begin: Callable[[], None] | None = None) -> Iterator["ProcessPoolExecutor"]:
    """Workers that know what this process knows, and end with it. Each calls `begin` first. Raises `Refused` if one dies."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    alive, ours = os.pipe()
    try:
        with ProcessPoolExecutor(count, multiprocessing.get_context("fork"), initializer=_start, initargs=(alive, ours, begin)) as pool:
            yield pool
    except BrokenProcessPool:
        raise Refused("a worker process was killed", hint="memory may have run out; nothing was written", code=4) from None
    finally:
        os.close(alive)
        os.close(ours)


def _start(alive: int, ours: int, begin: Callable[[], None] | None) -> None:
    # A pool that is broken ends its other workers by this signal, and waits for them: what the parent made of it must not count here.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if begin is not None:
        begin()
    os.close(ours)
    threading.Thread(target=_end_with, args=(alive,), daemon=True).start()


def _end_with(alive: int) -> None:
    """End this worker with the process that started it: the pipe is then closed. A worker of a killed command would wait for ever."""
    os.read(alive, 1)
    os._exit(1)
