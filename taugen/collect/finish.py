"""The record of an attempt that is over.

In: what the branch and the book have of it, its run's intent, output storage, a Prometheus. Out: the bytes of `record.json`, and with it
the files of metrics and checkpoints. What can't be read is named in the record. What must never happen: a record that depends on when it
was made: what was noted after the end is no part of it.
"""

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from taugen import __version__
from taugen.collect import checkpoints, metrics, stores
from taugen.collect.around import Around
from taugen.collect.book import Book, Tracked
from taugen.collect.config import Settings
from taugen.collect.derive import shape
from taugen.collect.logs import moment
from taugen.evidence import event as events_
from taugen.evidence import history, record
from taugen.evidence.event import Event, EventType
from taugen.evidence.paths import AttemptKey
from taugen.evidence.redact import MARK
from taugen.evidence.store import Branch, Checkpoint
from taugen.load.nodes import parse
from taugen.words import Json


@dataclass
class Gathered:
    """What stands beside the events of an attempt: where, its run's intent `meant` and the `settings` say. `lost` are (what, why)."""

    attempt: AttemptKey
    meant: Mapping[str, Json]
    settings: Settings
    namespace: str
    lost: set[tuple[str, str]]
    files: dict[str, bytes] = field(default_factory=dict)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    rows: list[dict[str, Json]] = field(default_factory=list)
    samples: list[dict[str, Json]] = field(default_factory=list)


def finish(tracked: Tracked, intent: bytes | None, branch: Branch, *, book: Book, settings: Settings, around: Around) -> dict[str, bytes]:
    """The last files of an attempt: its record, metrics and checkpoints, by path."""
    attempt, meant = tracked.attempt, _mapping(intent)
    happened = told(attempt, book, branch)
    past = history.fold(happened)
    gathered = Gathered(attempt, meant, settings, _namespace(attempt, settings), set(tracked.lost))
    if intent is None:
        gathered.lost.add(("intent", "the deploy branch has no state of the run"))
    if not around.version:
        gathered.lost.add(("version of Kubernetes", "the API server does not tell it to the collector"))
    if past is not None and past.ended is not None:
        _checkpoints(gathered)
        _history(gathered)
        _samples(gathered, past, happened)
        for number, piece in enumerate(metrics.pieces([*gathered.rows, *gathered.samples])):
            gathered.files[attempt.series("metrics", number)] = piece
    extras = record.Extras(
        checkpoints=tuple(gathered.checkpoints),
        metrics={"rows": [*gathered.rows], "samples": [*gathered.samples]},
        logs=(*_logs(attempt, book, branch), *tracked.wholes),
        platform=_platform(around, settings),
        cohorts=around.cohorts,
        prices=settings.prices,
        collector=__version__,
        missing=tuple(sorted(gathered.lost)),
    )
    return gathered.files | {attempt.record: record.content(record.build(attempt, meant, happened, extras))}


def _platform(around: Around, settings: Settings) -> dict[str, Json]:
    """The version of Kubernetes as the API server tells it, and those of the other parts as policy declares them: no API tells those."""
    told: dict[str, Json] = {"kubernetes": around.version} if around.version else {}
    return told | ({"declared": dict(settings.versions)} if settings.versions else {})


def told(attempt: AttemptKey, book: Book, branch: Branch) -> list[Event]:
    """The events of an attempt, of the branch and of the book; notes only until it ended, since nobody knows how many more will come."""
    start = f"{attempt.folder}/events/"
    own = [found for path, (_, content) in book.files.items() if path.startswith(start) and (found := events_.read(content)) is not None]
    happened = history.order([*branch.events(attempt), *own])
    past = history.fold(happened)
    end = past.ended if past is not None and past.ended is not None else ""
    return [event for event in happened if event.type is not EventType.NOTE or event.time <= end]


def _namespace(attempt: AttemptKey, settings: Settings) -> str:
    return next((name for name, workspace in settings.namespaces.items() if workspace == attempt.of.workspace), "")


def next_piece(names: Iterable[str], pod: str, container: str) -> int:
    """The number of the first piece of a log that the branch does not have, of the names of files that it has."""
    start = f"{pod}+{container}."
    numbers = (name[len(start) : -len(".txt")] for name in names if name.startswith(start) and name.endswith(".txt"))
    return max((int(number) + 1 for number in numbers if number.isdecimal()), default=0)


def _mapping(intent: bytes | None) -> dict[str, Json]:
    documents, findings = parse("run.yaml", intent) if intent is not None else ([], [])
    return documents[0].data if len(documents) == 1 and not findings else {}


def _logs(attempt: AttemptKey, book: Book, branch: Branch) -> list[dict[str, Json]]:
    """The pieces of logs: where, digest, size, and how often something was taken out of each."""
    paths = branch.logs(attempt)
    contents = {path: content for path, content in zip(paths, branch.read_many(paths), strict=True) if content is not None}
    contents |= {path: content for path, (_, content) in book.files.items() if path.startswith(f"{attempt.folder}/logs/")}
    return [
        {"path": path, "sha256": sha256(content).hexdigest(), "bytes": len(content), "redactions": content.count(MARK.encode())}
        for path, content in sorted(contents.items())
    ]


# ------------------------------------------------------------------------------------------------------------------------ storage


def mounted(path: str, meant: Mapping[str, Json], settings: Settings, namespace: str) -> Path | None:
    """Where a path of the run's containers is on this machine; None if no mount holds it, or it leads out of the one that does."""
    claims = {mount: claim for mount, claim in shape.mapping(meant, "mounts").items() if isinstance(claim, str)}
    whole = posixpath.normpath(path)
    for mount in sorted(claims, key=len, reverse=True):
        rest = posixpath.relpath(whole, mount) if whole.startswith("/") else ".."
        if rest != ".." and not rest.startswith("../"):
            folder = settings.mounts.get(f"{namespace}/{claims[mount]}") or settings.mounts.get(claims[mount])
            # Who writes to the storage may have put a link there that leads to something else of the collector's.
            top = folder.resolve() if folder is not None else None
            found = (top / rest).resolve() if top is not None else None
            return found if found is not None and top is not None and found.is_relative_to(top) else None
    return None


def _checkpoints(gathered: Gathered) -> None:
    path, run = shape.text(gathered.meant, "checkpoint", "path"), shape.text(gathered.meant, "run")
    if not path:
        return
    where = path if "://" in path else mounted(path, gathered.meant, gathered.settings, gathered.namespace)
    if where is None:
        gathered.lost.add(("checkpoints", f"no storage of the collector holds {path}"))
        return
    try:
        gathered.checkpoints = checkpoints.complete(stores.files(str(where)), run, path)
    except FileNotFoundError:
        return  # the program wrote none
    except OSError as error:
        gathered.lost.add(("checkpoints", f"{path} can't be read: {error.strerror or error}"))
        return
    for one in gathered.checkpoints:
        gathered.files[gathered.attempt.series("checkpoints", one.step)] = metrics.pieces([one.line()])[0]


def _history(gathered: Gathered) -> None:
    """The rows that the program wrote."""
    globs = _texts(shape.at(gathered.meant, "metrics", "history"))
    output = shape.text(gathered.meant, "output")
    if not globs:
        return
    where = mounted(output, gathered.meant, gathered.settings, gathered.namespace) if output else None
    if where is None:
        gathered.lost.add(("metrics history", f"no storage of the collector holds {output or 'the output'}"))
        return
    try:
        gathered.rows = list(metrics.history(where, [_inside(glob, output) for glob in globs]))
    except OSError as error:
        gathered.lost.add(("metrics history", f"{output} can't be read: {error.strerror or error}"))


def _samples(gathered: Gathered, past: history.History, happened: Iterable[Event]) -> None:
    """What a Prometheus answers to the cluster's and the run's queries, as of the end."""
    own = shape.mapping(gathered.meant, "metrics", "prometheus")
    queries = {**gathered.settings.queries, **{name: query for name, query in own.items() if isinstance(query, str)}}
    url, end = gathered.settings.prometheus, past.ended or ""
    if not queries:
        return
    if url is None:
        gathered.lost |= {(f"metrics query {name}", "the cluster names no Prometheus") for name in queries}
        return
    pods = {shape.text(event.data, "pod") for event in happened if event.type is EventType.POD_STARTED}
    first, last = moment(past.started or ""), moment(end)
    seconds = int((last - first).total_seconds()) if first is not None and last is not None else 0
    asked = {name: metrics.filled(query, gathered.namespace, pods, seconds) for name, query in queries.items()}
    found, failed = metrics.ask(url, asked, end)
    gathered.samples = [sample.row(end) for sample in found]
    gathered.lost |= {(f"metrics query {name}", "Prometheus did not answer") for name in failed}


def _inside(glob: str, output: str) -> str:
    """A glob relative to the output folder, whether it was written so or from the root."""
    return posixpath.relpath(glob, output) if glob.startswith("/") else glob


def _texts(value: Json) -> list[str]:
    return [value] if isinstance(value, str) else [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
