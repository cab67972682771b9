"""Work that several processes share.

In: a function, and the parts of its work. Out: what it makes of each part, in their order. Processes are forked, as many as there are
processors: they know what this one knows, and open git processes of their own. What must never happen: an answer that depends on how many
there are; a fork where one part is all there is.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_MOST = 8
_Part = TypeVar("_Part")
_Made = TypeVar("_Made")


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shared(work: Callable[[_Part], _Made], parts: Sequence[_Part]) -> Iterator[_Made]:
    """`work` of each part. It stands in a module, and takes and gives what can be pickled. Raises what it raises."""
    workers = min(_MOST, processors(), len(parts))
    if workers > 1:
        # Most commands share nothing, and these take 30 ms to load.
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        if "fork" in multiprocessing.get_all_start_methods():
            with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
                yield from pool.map(work, parts)
            return
    yield from map(work, parts)
