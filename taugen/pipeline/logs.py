"""The log of an attempt, from the pieces that the collector committed.

In: a `View` and a run. Out: lines, container by container, oldest first; while following, those that come. What must never happen: a line
printed twice or lost because a piece came late: pieces are files that are written once, told apart by their names.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from taugen.diag import Refused
from taugen.evidence.paths import AttemptKey, RunKey, parse
from taugen.evidence.standing import Standing
from taugen.pipeline import runs
from taugen.pipeline.view import View

EVERY = 10.0
"""Seconds between two looks while following: evidence comes every 10 seconds."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a container's log."""

    pod: str
    container: str
    number: int
    path: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for: an attempt (None is the newest), a pod, a container; `tail` is how many lines of each container, None all."""

    attempt: int | None = None
    pod: str = ""
    container: str = ""
    tail: int | None = None


def pieces(view: View, attempt: AttemptKey, asked: Asked) -> list[Piece]:
    """The pieces that are there, by container and number."""
    found = []
    for path in view.evidence.paths(f"{attempt.folder}/logs"):
        place = parse(path)
        if place is not None and place.kind == "log":
            stem, number, _ = PurePosixPath(path).name.rsplit(".", 2)
            pod, _, container = stem.partition("+")
            found.append(Piece(pod, container, int(number), path))
    chosen = [one for one in found if asked.pod in ("", one.pod) and asked.container in ("", one.container)]
    if found and not chosen:
        names = ", ".join(sorted({f"{one.pod} {one.container}" for one in found}))
        raise Refused("no log is of that pod and container", hint=f"there are, each a pod and a container: {names}", code=2)
    return sorted(chosen, key=lambda one: (one.pod, one.container, one.number))


def attempt_of(view: View, key: RunKey, asked: Asked) -> tuple[AttemptKey, Standing | None]:
    """The attempt that is asked for. Raises `Refused` (exit 2) for one that nothing is known of."""
    known = {one.number: one for one in runs.attempts_of(view, [key]).get(key, [])}
    if asked.attempt is not None and asked.attempt not in known:
        listed = ", ".join(map(str, known)) or "none"
        raise Refused(f"there is no evidence of attempt {asked.attempt} of {key.workspace}/{key.run}", hint=f"attempts: {listed}", code=2)
    number = asked.attempt or max(known, default=1)
    return key.attempt(number), known.get(number)


def printed(view: View, attempt: AttemptKey, asked: Asked) -> Iterator[str]:
    """What is there now."""
    found = pieces(view, attempt, asked)
    yield from _lines(view, found, asked.tail, named=_several(found))


def followed(look: Callable[[], View], key: RunKey, asked: Asked, wait: Callable[[float], None]) -> Iterator[str]:
    """What is there, and what comes until the attempt has ended and all of it was read. `look` gives the branch as it is now."""
    told: set[str] = set()
    tail = asked.tail
    while True:
        view = look()
        attempt, standing = attempt_of(view, key, asked)
        found = pieces(view, attempt, asked)
        fresh = [one for one in found if one.path not in told]
        yield from _lines(view, fresh, tail, named=_several(found))
        told |= {one.path for one in found}
        tail = None
        if standing is not None and standing.state is not None and standing.state.terminal and standing.recorded:
            return
        wait(EVERY)


def _split(text: str) -> list[str]:
    """Lines as a terminal breaks them; a progress bar's steps are lines of their own. Tabs become spaces."""
    return [line.expandtabs() for line in re.sub(r"\r\n?", "\n", text).removesuffix("\n").split("\n")] if text else []


def _several(found: Sequence[Piece]) -> bool:
    return len({(one.pod, one.container) for one in found}) > 1


def _lines(view: View, found: Sequence[Piece], tail: int | None, *, named: bool) -> Iterator[str]:
    """The lines of pieces; where there are several containers, each line names its own."""
    contents = view.evidence.read_many([one.path for one in found])
    texts: dict[tuple[str, str], list[str]] = {}
    for one, content in zip(found, contents, strict=True):
        texts.setdefault((one.pod, one.container), []).extend(_split((content or b"").decode("utf-8", "replace")))
    for (pod, container), lines in texts.items():
        shown = lines if tail is None else lines[max(0, len(lines) - tail) :]
        yield from (f"{pod} {container}  {line}" if named else line for line in shown)
