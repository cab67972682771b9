"""What only contents tell of runs: what was asked for, and why those that did not succeed stand where they stand.

In: a `View`, runs. Out: `Asked` from the deploy branch or evidence, `Why` from evidence. Of a few runs their own files are read; of many
whole folders, by several processes, and what they say is kept by the ids of the folders. What must never happen: an answer that depends on
what was kept or on how many processes there are.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from taugen.evidence import index, summarize, trees
from taugen.evidence.cache import Cache
from taugen.evidence.history import fold
from taugen.evidence.paths import AttemptKey, RunKey
from taugen.evidence.store import Branch
from taugen.load.share import shared
from taugen.pipeline.view import View
from taugen.publish import state
from taugen.publish.state import Key

_STATES_FORM, _WHY_FORM, _INTENT_FORM = "states.1", "why.1", "intent.1"
"""Names what a kept text holds, of a folder of states and of the folder of a run; another form never takes it for its own."""
_MANY = 500
"""Runs from which on it is quicker to read whole folders of states, and to keep what was read."""
_RUNS, _FOLDERS, _WORTH = 2000, 250, 2
"""Of evidence and of states, what one process is given at once, and how many such parts there are at least."""
_REQUEST = re.compile(r"^request:\n((?:  .*\n)+)", re.MULTILINE)
_FIELD = re.compile(r"^  (\w+): \"?([^\"\n]*)\"?$", re.MULTILINE)
_HEAD = re.compile(r"^run: \"?([^\"\n]+?)\"?\nphase: (\S+)\n(?:.*\n)*?  source: \"?([^\"\n]+?)\"?\n", re.MULTILINE)
_ATTEMPT = re.compile(r"^attempt: (\d+)$", re.MULTILINE)
_CLUSTER = re.compile(r"^cluster: \"?([^\"\n]+?)\"?$", re.MULTILINE)


class Asked(Struct, frozen=True, array_like=True, gc=False):
    """What the state of a run says, or the intent that the collector copied of it. `cluster` is "" and `attempt` 0 where it does not say;
    `request` is kind, nodes, gpus, queue and so on."""

    name: str
    phase: str
    source: str
    cluster: str
    attempt: int
    request: dict[str, str]


Why = tuple[str, str]
"""Reason and message."""
_States = dict[str, Asked | None]
_STATES = msgspec.json.Decoder(_States)
_INTENT = msgspec.json.Decoder(Asked | None)
_Item = TypeVar("_Item")
_Said = TypeVar("_Said")
_Read = Callable[[Branch, Sequence[_Item]], list[str]]


def asked(body: str) -> Asked | None:
    """What the body of a state says; None for what is none."""
    head, cluster, attempt = _HEAD.search(body), _CLUSTER.search(body), _ATTEMPT.search(body)
    if head is None:
        return None
    name = head[1].partition("/")[2].rpartition("/")[0]
    request = _REQUEST.search(body)
    fields = dict(_FIELD.findall(request[1])) if request is not None else {}
    return Asked(name, head[2], head[3], cluster[1] if cluster is not None else "", int(attempt[1]) if attempt is not None else 0, fields)


def bodies(view: View, keys: Iterable[Key]) -> list[str]:
    """The states of published runs as texts, "" for one that is not there."""
    return [_body(content) for content in view.deploy.read_many([state.state_path(*key) for key in keys])]


def _body(content: bytes | None) -> str:
    """A state without its first line, which names its writer."""
    return content.decode("utf-8", "replace").partition("\n")[2] if content is not None else ""


# ---------------------------------------------------------------------------------------------------------------- deploy branch


def states(view: View, keys: Collection[Key]) -> dict[Key, Asked | None]:
    """What the states of published runs say: None for one that says nothing of the kind; runs without one are left out."""
    if len(keys) < _MANY or view.deploy.tip is None:
        return {key: asked(text) for key, text in zip(keys, bodies(view, keys), strict=True) if text}
    places = _folders(view)
    wanted = {place: places[place] for place in {(workspace, run[-8:-6]) for workspace, run in keys} if place in places}
    kept = _kept(view.deploy, _Kind(_STATES_FORM, _states_in, _FOLDERS), {tree: tree for tree in wanted.values()}, places.values)
    read = {tree: _STATES.decode(text) for tree, text in kept.items()}
    out = {}
    for workspace, run in keys:
        found = read.get(wanted.get((workspace, run[-8:-6]), ""), {})
        if run in found:
            out[workspace, run] = found[run]
    return out


def _folders(view: View) -> dict[Key, str]:
    """(workspace, two digits) of each folder that holds states, with the id of its tree."""
    top = view.deploy.folders([state.FOLDER])[state.FOLDER]
    level = view.deploy.folders(f"{state.FOLDER}/{name}" for name, child in top.items() if child.folder)
    return {(path.rpartition("/")[2], two): child.id for path, inside in level.items() for two, child in inside.items() if child.folder}


def _states_in(branch: Branch, wanted: Sequence[str]) -> list[str]:
    """What the states in folders say of which the trees are given, as the texts of `_States`."""
    inside = trees.read(branch.objects, {tree: tree for tree in wanted})
    files = [
        (tree, name.removesuffix(".yaml"), child.id)
        for tree, found in inside.items()
        for name, child in found.items()
        if not child.folder and name.endswith(".yaml") and name.isascii()
    ]
    out: dict[str, _States] = {tree: {} for tree in wanted}
    for (tree, name, _), content in zip(files, branch.objects.read([sha for *_, sha in files]), strict=True):
        if text := _body(content):
            out[tree][name] = asked(text)
    return [_text(out[tree]) for tree in wanted]


# --------------------------------------------------------------------------------------------------------------------- evidence


def whys(view: View, attempts: Sequence[AttemptKey]) -> dict[RunKey, Why | None]:
    """Why the newest attempts of runs stand where they stand; None where no event says where."""
    return _told(view.evidence, _WHY_FORM, {one.of: one for one in attempts}, _whys_of, _why)


def _whys_of(branch: Branch, attempts: Sequence[AttemptKey]) -> list[str]:
    events = branch.deciding_of(attempts)
    histories = [fold(events[one]) for one in attempts]
    # Whoever wrote an event may have put halves of characters into it, which only this module of the two holds.
    return [json.dumps([found.reason, found.message] if found is not None else None) for found in histories]


def _why(text: str) -> Why | None:
    said = json.loads(text)
    return (said[0], said[1]) if said is not None else None


def intents(view: View, runs: Sequence[RunKey]) -> dict[RunKey, Asked | None]:
    """What runs were meant to be, as their collectors copied it; None for one of which that is not there."""
    return _told(view.evidence, _INTENT_FORM, {run: run for run in runs}, _intents_of, _INTENT.decode)


def _intents_of(branch: Branch, runs: Sequence[RunKey]) -> list[str]:
    contents = branch.read_many([run.intent for run in runs])
    return [_text(asked(content.decode("utf-8", "replace")) if content is not None else None) for content in contents]


def _told(
    branch: Branch, form: str, items: Mapping[RunKey, _Item], read: _Read[_Item], decode: Callable[[str], _Said]
) -> dict[RunKey, _Said]:
    """What follows from the folders of runs alone; `read` makes it of an item of each."""
    if branch.tip is None:
        return {}
    if len(items) < _MANY:
        return dict(zip(items, map(decode, read(branch, list(items.values()))), strict=True))
    objects, tip = branch.objects, branch.tip
    # In order of their folders, so that each of those above is read by few processes.
    folders = index.trees_of(objects, tip, sorted(items, key=lambda run: run.folder))
    kept = _kept(
        branch,
        _Kind(form, read, _RUNS),
        {tree: items[run] for run, tree in folders.items()},
        lambda: summarize.runs_in(objects, index.buckets(objects, tip)).values(),
    )
    return {run: decode(kept[tree]) for run, tree in folders.items()}


# ------------------------------------------------------------------------------------------------------------------------- kept


class _Kind(NamedTuple, Generic[_Item]):
    """What is kept: its form, what makes a text of each of some items, how many at once."""

    form: str
    read: _Read[_Item]
    size: int


def _kept(branch: Branch, kind: _Kind[_Item], items: Mapping[str, _Item], every: Callable[[], Collection[str]]) -> dict[str, str]:
    """The texts of items, by the ids of the trees that they follow from. `every` gives the ids of all such trees that are in use."""
    assert branch.tip is not None
    cache = Cache.of(branch.repo)
    known = cache.get(kind.form, items)
    missing = {tree: item for tree, item in items.items() if tree not in known}
    if not missing:
        return known
    wanted = list(missing.values())
    # What a partial clone lacks is fetched in one go; of little work a process takes longer to begin than it saves.
    size = len(wanted) if branch.objects.partial or len(wanted) < _WORTH * kind.size else kind.size
    parts = [wanted[start : start + size] for start in range(0, len(wanted), size)]
    texts = [text for part in shared(partial(_read, kind.read, branch.repo, branch.tip), parts) for text in part]
    fresh = dict(zip(missing, texts, strict=True))
    cache.put(kind.form, fresh, keep=every())
    return known | fresh


def _read(read: _Read[_Item], repo: Path, tip: str, part: Sequence[_Item]) -> list[str]:
    with closing(Branch(repo, tip)) as branch:
        return read(branch, part)


def _text(value: _States | Asked | None) -> str:
    return msgspec.json.encode(value).decode()
