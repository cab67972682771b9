"""Where every attempt stands, told from the names of files alone.

In: a repository, the tip of an evidence branch, perhaps a cache. Out: for each run its attempts with state and times. An event's name holds
its time and type, so no content is read: a million files are one git process. What must never happen: an answer that differs from that of
the events' contents (`history.fold`), or one that a cache changes: the cache is keyed by the ids of trees, which say all that is below.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import groupby
from operator import eq, itemgetter
from pathlib import Path
from typing import NamedTuple

import msgspec

from taugen.evidence import summary, trees
from taugen.evidence.cache import Cache
from taugen.evidence.event import TERMINAL, EventType
from taugen.evidence.history import RANK, STATES, State
from taugen.evidence.paths import RunKey, is_run
from taugen.evidence.standing import Standing
from taugen.evidence.trees import Entries
from taugen.load import git, stream
from taugen.load.partial import Objects
from taugen.load.share import shared

FORM, RUN_FORM = "standings.2", "standings.run.2"
"""Names what a cached text holds, of a folder of runs and of a run; another form never takes it for its own."""
_AT_ONCE = 64
"""Folders that git is told to list at once: it compares each path with each of them."""
_ENOUGH = 8
"""Workspaces on clusters from which on each is a part of the work."""
_RUN_END = b"/run.yaml\0"
"""Git lists this file of a run after its attempts."""
_OTHER, _TERMINAL, _SUBMITTED, _STARTED, _READY, _COUNTED = range(6)
_ROLES = {
    EventType.SUBMITTED: _SUBMITTED, EventType.POD_STARTED: _STARTED, EventType.READY: _READY,
    EventType.PREEMPTED: _COUNTED, EventType.EVICTED: _COUNTED, **dict.fromkeys(TERMINAL, _TERMINAL),
}  # fmt: skip
_STATES = {str(kind).encode(): state for kind, state in STATES.items()}
_TYPES = {str(kind).encode(): (RANK.get(kind, 9), _ROLES.get(kind, _OTHER)) for kind in STATES}
_FILE = re.compile(rb"/attempts/([1-9]\d{0,2})/(?:events/(\d{8}T\d{6}Z)-(" + b"|".join(_TYPES) + rb")-[0-9a-f]{16}\.json|record\.json)\0")
"""An event that sets a state, or the record of an attempt."""
_NUMBER = re.compile(r"[1-9]\d{0,2}")
_MANY = 6000
"""Runs from which on it is quicker to have git list all files than to read the folders of each."""
Bucket = list[tuple[str, list[Standing]]]
"""The runs of a folder with their attempts."""
_BUCKET = msgspec.json.Decoder(Bucket)
_RUN = msgspec.json.Decoder(list[Standing])


def standings(
    repo: Path,
    tip: str,
    cache: Cache | None = None,
    *,
    clusters: Iterable[str] = (),
    workspaces: Iterable[str] = (),
    summaries: Mapping[str, str] | None = None,
) -> Iterator[tuple[RunKey, list[Standing]]]:
    """The runs below `tip` with their attempts by number, in order of their paths; only those of some clusters or workspaces if named.
    `summaries` are commits of summaries by their clusters: what they say of a run that is still as it was then is believed.

    Raises `GitError` for a damaged repository.
    """
    with Objects(repo) as objects:
        chosen = frozenset(clusters), frozenset(workspaces)
        folders = buckets(objects, tip, *chosen)
        whole = not any(chosen)
        short = {path: tree for path, tree in folders.items() if path.partition("/")[0] in (summaries or {})}
        found = _from_summaries(objects, short, cache, summaries or {}, whole=whole)
        left = {path: tree for path, tree in folders.items() if path not in found}
        found |= _from_names(objects, tip, left, cache, whole=whole)
    for path in folders:
        cluster, _, workspace, _ = path.split("/")
        for run, attempts in found[path]:
            yield RunKey(cluster, workspace, run), attempts


def buckets(objects: Objects, tip: str, clusters: Collection[str] = (), workspaces: Collection[str] = ()) -> dict[str, str]:
    """The folders `<cluster>/runs/<workspace>/<two hex digits>` and the ids of their trees."""
    tops = [name for name, child in trees.top(objects, tip).items() if child.folder and (not clusters or name in clusters)]
    level = trees.children(objects, tip, [f"{cluster}/runs" for cluster in tops])
    places = {
        f"{folder}/{name}": child.id
        for folder, inside in level.items()
        for name, child in inside.items()
        if child.folder and (not workspaces or name in workspaces)
    }
    inside = trees.read(objects, places)
    return {f"{place}/{two}": child.id for place, found in inside.items() for two, child in found.items() if child.folder}


def of_runs(objects: Objects, runs: Mapping[str, str]) -> dict[str, list[Standing] | None]:
    """The attempts of runs by their folders, of whose trees the ids are given; None for a folder that is no run. Raises `GitError`."""
    tops = trees.read(objects, runs)
    numbers = trees.read(objects, _below(tops, lambda name: name == "attempts"))
    tries = trees.read(objects, _below(numbers, lambda name: _NUMBER.fullmatch(name) is not None))
    events = trees.read(objects, _below(tries, lambda name: name == "events"))
    names: dict[str, list[str]] = {}
    for folder, inside in tries.items():
        run, _, number = folder.rpartition("/attempts/")
        files = [name for name, child in inside.items() if not child.folder]
        files += [f"events/{name}" for name, child in events.get(f"{folder}/events", {}).items() if not child.folder]
        names.setdefault(run, []).extend(f"/attempts/{number}/{name}\0" for name in files)
    out: dict[str, list[Standing] | None] = {}
    for folder, inside in tops.items():
        has = any(name in inside and inside[name].folder is kind for name, kind in (("run.yaml", False), ("attempts", True)))
        text = "".join(names.get(folder, ())).encode("utf-8", "surrogateescape")
        out[folder] = _folded(text) if has and is_run(folder) else None
    return out


def of_keys(objects: Objects, tip: str, keys: Iterable[RunKey]) -> dict[RunKey, list[Standing]]:
    """The attempts of some runs, without those that have no evidence. Raises `GitError`."""
    wanted = {key.folder: key for key in keys}
    found = of_runs(objects, {key.folder: tree for key, tree in trees_of(objects, tip, wanted.values()).items()})
    return {wanted[folder]: attempts for folder, attempts in found.items() if attempts is not None}


def trees_of(objects: Objects, tip: str, keys: Iterable[RunKey]) -> dict[RunKey, str]:
    """The ids of the trees of some runs' folders, in the order of `keys`, without those that have none. Raises `GitError`."""
    places = {key: key.folder.rpartition("/")[0] for key in keys}
    level = trees.children(objects, tip, places.values())
    there = {key: level[place].get(key.run) for key, place in places.items()}
    return {key: child.id for key, child in there.items() if child is not None and child.folder}


def _below(level: Mapping[str, Entries], wanted: Callable[[str], bool]) -> dict[str, str]:
    return {f"{path}/{name}": child.id for path, inside in level.items() for name, child in inside.items() if child.folder and wanted(name)}


def _from_summaries(
    objects: Objects, folders: Mapping[str, str], cache: Cache | None, summaries: Mapping[str, str], *, whole: bool
) -> dict[str, Bucket]:
    """Folders of clusters that have a summary; what it says nothing of is read. Nothing where that is too much. `whole`: these are all."""
    if not folders:
        return {}
    level = trees.read(objects, folders)
    runs = {f"{path}/{name}": child.id for path, inside in level.items() for name, child in inside.items() if child.folder}
    told: dict[str, list[Standing] | None] = {}
    for cluster, commit in summaries.items():
        told.update(summary.read(objects, commit, cluster, runs))
    left = {path: tree for path, tree in runs.items() if path not in told}
    if len(left) > _MANY:
        return {}
    known = cache.get(RUN_FORM, left.values()) if cache is not None else {}
    told |= {path: _RUN.decode(known[tree]) for path, tree in left.items() if tree in known}
    fresh = of_runs(objects, {path: tree for path, tree in left.items() if tree not in known})
    if cache is not None and fresh:
        texts = {left[path]: msgspec.json.encode(found).decode() for path, found in fresh.items() if found is not None}
        cache.put(RUN_FORM, texts, keep=left.values() if whole else ())
    told |= fresh
    out: dict[str, Bucket] = {}
    for path, inside in level.items():
        both = ((name, told.get(f"{path}/{name}")) for name in inside)
        out[path] = [(name, attempts) for name, attempts in both if attempts is not None]
    return out


# ------------------------------------------------------------------------------------------------------------------- from names


def _from_names(objects: Objects, tip: str, folders: Mapping[str, str], cache: Cache | None, *, whole: bool) -> dict[str, Bucket]:
    known = cache.get(FORM, folders.values()) if cache is not None and folders else {}
    missing = [path for path, tree in folders.items() if tree not in known]
    fresh = _read(objects, tip, missing)
    if cache is not None and missing:
        cache.put(FORM, {folders[path]: fresh[path][0] for path in missing}, keep=folders.values() if whole else ())
    return {path: fresh[path][1] if path in fresh else _BUCKET.decode(known[tree]) for path, tree in folders.items()}


def _read(objects: Objects, tip: str, folders: list[str]) -> dict[str, tuple[str, Bucket]]:
    """What stands in folders, from the paths of all files, and its text."""
    try:
        return _shared(objects.repo, tip, folders)
    except git.GitError:
        # Of a remote perhaps only the upper folders are here.
        if not objects.fetch([str(git.find(objects.repo, f"{tip}:"))]):
            raise
        return _shared(objects.repo, tip, folders)


def _shared(repo: Path, tip: str, folders: list[str]) -> dict[str, tuple[str, Bucket]]:
    parts = _parts(folders)
    # Read back while the other parts are made.
    return {path: (text, _BUCKET.decode(text)) for part in shared(partial(_texts, repo, tip), parts) for path, text in part.items()}


def _parts(folders: list[str]) -> list[list[str]]:
    """Work that processes share: a workspace each, or less where there are few."""
    parts = [list(some) for _, some in groupby(folders, lambda path: path.rpartition("/")[0])]
    if len(parts) < _ENOUGH:
        parts = [folders[start : start + _AT_ONCE] for start in range(0, len(folders), _AT_ONCE)]
    return parts


def _texts(repo: Path, tip: str, folders: list[str]) -> dict[str, str]:
    return {path: msgspec.json.encode(bucket).decode() for path, bucket in _listing(repo, tip, folders).items()}


def _listing(repo: Path, tip: str, folders: list[str]) -> dict[str, Bucket]:
    found: dict[str, Bucket] = {path: [] for path in folders}
    for folder, paths in _runs(_listed(repo, tip, folders)):
        bucket, _, run = folder.rpartition("/")
        if bucket in found and is_run(folder):
            found[bucket].append((run, _folded(paths)))
    return found


def _listed(repo: Path, tip: str, folders: list[str]) -> Iterator[bytes]:
    """The paths of all files in git's order, each ended by NUL, in blocks."""
    # Of more than these, all of a workspace is listed.
    wanted = folders if len(folders) <= _AT_ONCE else [folders[0].rpartition("/")[0]]
    args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", tip, *(f"{path}/" for path in wanted)]
    return stream.blocks(args, repo)


def _runs(blocks: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """The folder of each run and the paths of its files."""
    rest = b""
    for block in blocks:
        *whole, rest = (rest + block).split(_RUN_END)
        for piece in whole:
            yield from _pieces(piece)
    yield from _pieces(rest.rpartition(b"\0")[0])


def _pieces(piece: bytes) -> Iterator[tuple[str, bytes]]:
    """What stood before the end of a run: its files, after its folder's name; and runs that lack their own end."""
    start = piece.rfind(b"\0") + 1
    folder, at, _ = piece[start:].partition(b"/attempts/")
    own = folder + b"/attempts/"
    if piece.count(own) + (not at) == piece.count(b"\0") + 1:
        yield folder.decode("utf-8", "surrogateescape"), piece + b"\0"
        return
    lines: dict[bytes, list[bytes]] = {}
    for line in piece.split(b"\0"):
        lines.setdefault(line.partition(b"/attempts/")[0], []).append(line)
    for name, found in lines.items():
        yield name.decode("utf-8", "surrogateescape"), b"\0".join(found) + b"\0"


def _folded(paths: bytes) -> list[Standing]:
    """The attempts of a run, by number, from the paths of its files, of which those of an attempt stand together."""
    found = [_attempt(int(number), list(files)) for number, files in groupby(_FILE.findall(paths), itemgetter(0))]
    return found if len(found) < 2 else sorted(found, key=lambda one: one.number)


def _attempt(number: int, files: list[tuple[bytes, bytes, bytes]]) -> Standing:
    """An attempt, from number, time and type of its events that set a state, as `history.fold` has them; a record has neither."""
    happened = sorted([(time, kind) for _, time, kind in files if time])
    recorded = len(happened) < len(files)
    if not happened:
        return Standing(number, None, "", "", "", "", "", 0, recorded)
    stamps, kinds = zip(*happened, strict=True)
    told = _told(kinds, tuple(map(eq, stamps, stamps[1:])))
    times = [stamp.decode() for stamp in stamps]
    times.append("")
    return Standing(
        number, told.state, times[told.since], told.last, times[told.submitted], times[told.started], times[told.ended],
        told.interruptions, recorded,
    )  # fmt: skip


class _Told(NamedTuple):
    """What events come to, whatever their times: `Standing` with the places of times among those of the events, -1 where there is none."""

    state: State
    since: int
    last: str
    submitted: int
    started: int
    ended: int
    interruptions: int


@lru_cache(1 << 14)
def _told(kinds: tuple[bytes, ...], same: tuple[bool, ...]) -> _Told:
    """What events of these types come to that happened in this order; `same` says of each but the last whether the next has its time.
    Most attempts go one of few ways."""
    second, happened = 0, []
    for at, kind in enumerate(kinds):
        rank, role = _TYPES[kind]
        happened.append((second, rank, kind, role, at))
        second += at < len(same) and not same[at]
    happened.sort()
    first: dict[int, int] = {}
    for *_, role, at in happened:
        first.setdefault(role, at)
    ended = first.get(_TERMINAL, -1)
    last = happened[-1][-1] if ended < 0 else ended
    count = sum(role == _COUNTED for *_, role, _ in happened)
    started = first.get(_STARTED, first.get(_READY, -1))
    return _Told(_STATES[kinds[last]], last, kinds[last].decode(), first.get(_SUBMITTED, -1), started, ended, count)


def spelled(stamp: str) -> str:
    """RFC 3339 of a time as file names have it."""
    s = stamp
    return f"{s[:4]}-{s[4:6]}-{s[6:8]}T{s[9:11]}:{s[11:13]}:{s[13:15]}Z" if s else ""
