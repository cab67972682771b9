"""Where every attempt stands, told from the names of files alone.

In: a repository, the tip of an evidence branch, perhaps a cache. Out: for each run its attempts with state and times. An event's name holds
its time and type, so no content is read: a million files are one git process. What must never happen: an answer that differs from that of
the events' contents (`history.fold`), or one that a cache changes: the cache is keyed by the ids of trees, which say all that is below.
"""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from taugen.evidence.cache import Cache
from taugen.evidence.event import TERMINAL, EventType
from taugen.evidence.history import RANK, STATES, State
from taugen.evidence.paths import RunKey, parse
from taugen.load import git

FORM = "standings.1"
"""Names what a cached text holds; another form never takes it for its own."""
_BLOCK = 1 << 20
_AT_ONCE = 400
"""Folders up to which git is told what to list; with more it lists all."""
_RUN_END = b"/run.yaml\0"
"""Git lists this file of a run after its attempts."""
_OTHER, _TERMINAL, _SUBMITTED, _STARTED, _READY, _COUNTED = range(6)
_ROLES = {
    EventType.SUBMITTED: _SUBMITTED, EventType.POD_STARTED: _STARTED, EventType.READY: _READY,
    EventType.PREEMPTED: _COUNTED, EventType.EVICTED: _COUNTED, **dict.fromkeys(TERMINAL, _TERMINAL),
}  # fmt: skip
Happened = tuple[bytes, int, bytes, int]
"""Time, rank within its second, type, role of an event."""
_TYPES = {str(kind).encode(): (RANK.get(kind, 9), _ROLES.get(kind, _OTHER)) for kind in STATES}
_EVENT = re.compile(
    rb"/attempts/([1-9]\d{0,2})/events/(\d{8}T\d{6}Z)-(" + b"|".join(_TYPES) + rb")-[0-9a-f]{16}\.json\0"
)
_KNOWN: dict[str, State | None] = {"": None, **{str(state): state for state in State}}
_RECORD = re.compile(rb"/attempts/([1-9]\d{0,2})/record\.json\0")


class Standing(NamedTuple):
    """An attempt as the names of its files tell it. Times are as file names have them (`spelled` makes RFC 3339 of them), "" if there was
    none; `state` is None where no event sets one; `last` is the type of the event that set it."""

    number: int
    state: State | None
    since: str
    last: str
    submitted: str
    started: str
    ended: str
    interruptions: int
    recorded: bool


def standings(
    repo: Path, tip: str, cache: Cache | None = None, *, clusters: Iterable[str] = (), workspaces: Iterable[str] = ()
) -> Iterator[tuple[RunKey, list[Standing]]]:
    """The runs below `tip` with their attempts by number, in order of their paths; only those of some clusters or workspaces if named.

    Raises `GitError` for a damaged repository.
    """
    folders = buckets(repo, tip, frozenset(clusters), frozenset(workspaces))
    known = cache.get(FORM, folders.values()) if cache is not None else {}
    missing = [path for path, tree in folders.items() if tree not in known]
    fresh = _read(repo, tip, missing)
    if cache is not None and missing:
        cache.put(FORM, {folders[path]: fresh[path] for path in missing}, keep=folders.values())
    for path, tree in folders.items():
        text = fresh.get(path) or known[tree]
        cluster, _, workspace, _ = path.split("/")
        for run, attempts in json.loads(text):
            yield RunKey(cluster, workspace, run), [Standing(one[0], _KNOWN[one[1]], *one[2:]) for one in attempts]


def buckets(repo: Path, tip: str, clusters: frozenset[str], workspaces: frozenset[str]) -> dict[str, str]:
    """The folders `<cluster>/runs/<workspace>/<two hex digits>` and the ids of their trees."""
    with git.CatFile(repo) as objects:
        tops = [name for name in _folders(objects, f"{tip}^{{tree}}") if not clusters or name in clusters]
        out = {}
        for cluster in tops:
            for workspace, tree in _folders(objects, f"{tip}:{cluster}/runs").items():
                if not workspaces or workspace in workspaces:
                    out.update({f"{cluster}/runs/{workspace}/{two}": found for two, found in _folders(objects, tree).items()})
    return out


def _folders(objects: git.CatFile, spec: str) -> dict[str, str]:
    """The folders in a tree and their ids; nothing where there is no such tree."""
    content = objects.read(spec) or b""
    width = 20 if len(spec.partition(":")[0].partition("^")[0]) == 40 else 32
    out, at = {}, 0
    while at < len(content):
        end = content.index(b"\0", at)
        mode, _, name = content[at:end].partition(b" ")
        at = end + 1 + width
        if mode == b"40000":
            out[name.decode("utf-8", "surrogateescape")] = content[end + 1 : at].hex()
    return out


# ------------------------------------------------------------------------------------------------------------------- from names


def _read(repo: Path, tip: str, folders: list[str]) -> dict[str, str]:
    """What stands in folders, as texts for the cache."""
    if not folders:
        return {}
    found: dict[str, list[tuple[str, list[list[object]]]]] = {path: [] for path in folders}
    for folder, paths in _runs(_listed(repo, tip, folders)):
        bucket, _, run = folder.rpartition("/")
        if bucket in found and (place := parse(f"{folder}/run.yaml")) is not None and place.run.run == run:
            found[bucket].append((run, _folded(paths)))
    return {path: json.dumps(runs, separators=(",", ":")) for path, runs in found.items()}


def _listed(repo: Path, tip: str, folders: list[str]) -> Iterator[bytes]:
    """The paths of all files in git's order, each ended by NUL, in blocks."""
    # More folders than that take longer to compare than the rest takes to list.
    only = [f"{path}/" for path in folders] if len(folders) <= _AT_ONCE else []
    args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", tip, *only]
    with git.spool(args) as said:
        process = git.start(args, cwd=repo, stdin=subprocess.DEVNULL, stderr=said)
        try:
            assert process.stdout is not None
            while block := process.stdout.read(_BLOCK):
                yield block
            if code := process.wait():
                said.seek(0)
                raise git.GitError(args, code, said.read().decode("utf-8", "replace"))
        finally:
            git.stop(process)


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


def _folded(paths: bytes) -> list[list[object]]:
    """The attempts of a run, by number, from the paths of its files."""
    recorded = set(_RECORD.findall(paths))
    attempts: dict[bytes, list[Happened]] = {number: [] for number in recorded}
    for number, time, name in _EVENT.findall(paths):
        rank, role = _TYPES[name]
        attempts.setdefault(number, []).append((time, rank, name, role))
    return [[int(number), *fold(attempts[number]), number in recorded] for number in sorted(attempts, key=int)]


def fold(happened: list[Happened]) -> list[object]:
    """Of events that set a state: state, since, last type, submitted, started, ended, interruptions; as `history.fold`
    has them."""
    happened.sort()
    first: dict[int, bytes] = {}
    terminal: Happened | None = None
    count = 0
    for one in happened:
        role = one[3]
        if role == _COUNTED:
            count += 1
        elif role not in first:
            first[role] = one[0]
            if role == _TERMINAL:
                terminal = one
    if not happened:
        return ["", "", "", "", "", "", 0]
    last = terminal or happened[-1]
    kind = last[2].decode()
    times = (first.get(_SUBMITTED, b""), first.get(_STARTED) or first.get(_READY) or b"", first.get(_TERMINAL, b""))
    return [STATES[EventType(kind)], last[0].decode(), kind, *(one.decode() for one in times), count]


def spelled(stamp: str) -> str:
    """RFC 3339 of a time as file names have it."""
    s = stamp
    return f"{s[:4]}-{s[4:6]}-{s[6:8]}T{s[9:11]}:{s[11:13]}:{s[13:15]}Z" if s else ""
