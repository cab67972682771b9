"""Every run and where it stands: what the deploy branch says joined with evidence.

In: a `View`, what is asked for, the time. Out: `Row`s, newest first. States come from the names of evidence files; contents are read only
of rows that are shown and need them. What must never happen: evidence under another cluster than the one where the state placed the run
taken for the run's own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct

from taugen.diag import Refused
from taugen.evidence import index
from taugen.evidence.history import State
from taugen.evidence.paths import RunKey, stamp
from taugen.evidence.standing import Standing
from taugen.load import ask, git
from taugen.pipeline import details
from taugen.pipeline.details import Asked, Why
from taugen.pipeline.view import View
from taugen.publish import branch as published
from taugen.publish.state import Key
from taugen.words import Json, durations
from taugen.words.errors import TextError
from taugen.words.suggest import closest

STALE = timedelta(minutes=15)
"""After this long without a word from a cluster's collector, what it said last need not be so any more."""
PUBLISHED, ENDED = "published", "ended"
"""States of runs without evidence: in the deploy tree, and not there any more."""
_NONE = Standing(0, None, "", "", "", "", "", 0, recorded=False)
"""Of a run without evidence."""
_CONFIRMED = 500
"""Rows of which the files are looked at though a summary tells of them."""
STATES = (PUBLISHED, *map(str, State), "replaced")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for; empty is everything. `name` is a pattern as shells have it; `since` the earliest last change, RFC 3339 in UTC."""

    workspaces: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()
    name: str = ""
    since: str = ""
    limit: int = 0


class Row(Struct, frozen=True, gc=False):
    """A run and its newest attempt. `live` tells whether its manifests stand in the deploy tree; `last` is the state before it was stale.
    Times are RFC 3339 in UTC, "" if there was none."""

    key: RunKey
    state: str
    since: str
    live: bool
    attempt: int
    attempts: int
    last: str
    submitted: str
    started: str
    ended: str
    interruptions: int
    name: str
    source: str
    reason: str
    message: str
    request: Mapping[str, str]

    @property
    def id(self) -> str:
        """`<workspace>/<name>/<digest8>`."""
        return f"{self.key.workspace}/{self.name}/{self.key.run[-8:]}"

    @property
    def gpus(self) -> int | None:
        """GPUs of all its nodes; None where that is not known."""
        gpus, nodes = self.request.get("gpus", ""), self.request.get("nodes", "1")
        return int(gpus) * int(nodes) if gpus.isdecimal() and nodes.isdecimal() else None


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows, how many there would be without the limit, documents that publish holds back or lets wait, and what is to be said besides."""

    rows: tuple[Row, ...]
    total: int
    waiting: tuple[str, ...]
    notes: tuple[str, ...] = ()


def one(view: View, key: RunKey, now: datetime) -> Row:
    """One run."""
    pick = _pick(key, attempts_of(view, [key]).get(key, ()), live_runs(view), silent=stale(view, key.cluster, now))
    return _rows(view, [pick])[0]


def listing(view: View, wanted: Wanted, now: datetime) -> Listing:
    """The runs that are asked for. Raises `GitError` for a damaged repository."""
    found = [one for one in _picks(view, wanted, now) if _asked(one, wanted)]
    if wanted.states:
        # What became of a run whose end was not seen stands in its state alone.
        unsure = [one for one in found if not one.settled]
        told = {one.key: _row(one, asked).state for one, asked in zip(unsure, _asked_for(view, unsure), strict=True)}
        found = [one for one in found if told.get(one.key, one.state) in wanted.states]
    shown = _newest(found, wanted.limit)
    if view.summaries and not _confirmed(view, shown[:_CONFIRMED]):
        again = listing(replace(view, summaries={}), wanted, now)
        return replace(again, notes=("a summary of evidence says what the evidence does not: taugen evidence verify tells which",))
    return Listing(tuple(_rows(view, shown)), len(found), waiting(view))


def _newest(found: list["_Pick"], limit: int) -> list["_Pick"]:
    """The newest `limit` of what was found, all if it is 0; newest first."""
    if 0 < limit < len(found):
        # Only what may be shown is worth putting in order.
        earliest_ = sorted([one.since for one in found], reverse=True)[limit - 1]
        found = [one for one in found if one.since >= earliest_]
    return sorted(found, key=_BY_TIME, reverse=True)[: limit or None]


def _confirmed(view: View, shown: Sequence["_Pick"]) -> bool:
    """Whether the files of evidence say what was told of these runs."""
    told = {one.key: one.attempts for one in shown if one.attempts and one.key.cluster in view.summaries}
    return attempts_of(view, told) == told


def attempts_of(view: View, keys: Iterable[RunKey]) -> dict[RunKey, list[Standing]]:
    """The attempts of some runs by number, told from the names of their files; runs without evidence are left out."""
    evidence = view.evidence
    return index.of_keys(evidence.objects, evidence.tip, keys) if evidence.tip is not None else {}


def known_states(names: Iterable[str]) -> frozenset[str]:
    """The states of these names. Raises `Refused` (exit 2) for one that is none."""
    for name in names:
        if name not in STATES:
            near = closest(name, STATES)
            raise Refused(f"no state is called {name}", hint=f"did you mean {near}?" if near else f"there are {', '.join(STATES)}", code=2)
    return frozenset(names)


def earliest(text: str, now: datetime) -> str:
    """RFC 3339 of a duration before now, or of a date. Raises `Refused` (exit 2)."""
    try:
        return (now - timedelta(seconds=durations.parse(text))).strftime("%Y-%m-%dT%H:%M:%SZ")
    except TextError:
        pass
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise Refused(f"{text!r} is no time", hint="write a duration such as 24h or 7d, or a date such as 2026-05-31", code=2) from None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def waiting(view: View) -> tuple[str, ...]:
    """The documents that the last publish held back or let wait."""
    if view.deploy.tip is None:
        return ()
    found = published.deployed(view.deploy.repo, view.deploy.tip, view.settings.tree, view.settings.project).last
    return found.pending if found is not None else ()


# ----------------------------------------------------------------------------------------------------------------------- states


class _Pick(NamedTuple):
    """A run of many: what filters and order need. `since` is as file names have it."""

    since: str
    key: RunKey
    state: str
    last: str
    live: bool
    attempts: Sequence[Standing] = ()

    @property
    def settled(self) -> bool:
        """Whether nothing but its evidence is needed to know its state."""
        return self.live or bool(self.attempts and self.attempts[-1].ended)


_BY_TIME = attrgetter("since", "key")


def _picks(view: View, wanted: Wanted, now: datetime) -> Iterator[_Pick]:
    if view.deploy.tip is not None:  # git lists the deploy branch while evidence is read
        ask.begin(published.states_args(view.deploy.tip), view.deploy.repo)
        ask.begin(_live_args(view.deploy.tip, view.settings.tree), view.deploy.repo)
    stood = standings(view, wanted)
    live = live_runs(view)
    silent = {cluster: stale(view, cluster, now) for cluster in {key.cluster for key in stood}}
    yield from [_pick(key, attempts, live, silent=silent[key.cluster]) for key, attempts in stood.items()]
    every = published_runs(view)
    known = {(key.workspace, key.run) for key in stood} if every else set()
    for name in every - known:
        yield _Pick("", RunKey(live.get(name, ""), *name), PUBLISHED if name in live else ENDED, "", name in live)


def _pick(key: RunKey, attempts: Sequence[Standing], live: Mapping[Key, str], *, silent: bool) -> _Pick:
    is_live = live.get((key.workspace, key.run)) == key.cluster
    last = attempts[-1] if attempts else None
    if last is None or last.state is None:
        return _Pick("", key, PUBLISHED if is_live else ENDED, "", is_live)
    if is_live and silent and not last.ended:
        return _Pick(last.since, key, str(State.STALE), str(last.state), is_live, attempts)
    return _Pick(last.since, key, str(last.state), "", is_live, attempts)


def standings(view: View, wanted: Wanted) -> dict[RunKey, list[Standing]]:
    """The runs that have evidence. One that has it under two clusters counts under that where its state placed it."""
    if view.evidence.tip is None:
        return {}
    told = index.standings(
        view.evidence.repo, view.evidence.tip, view.cache,
        clusters=wanted.clusters, workspaces=wanted.workspaces, summaries=view.summaries,
    )  # fmt: skip
    found = dict(told)
    right = placed(view, found)
    return found if len(right) == len(found) else {key: found[key] for key in right}


def placed(view: View, found: Iterable[RunKey]) -> list[RunKey]:
    """Those of some runs that stand under the cluster where their state placed them: who writes under another can't end them."""
    listed = list(found)
    if len({key[1:] for key in listed}) == len(listed):
        return listed
    places: dict[Key, list[RunKey]] = {}
    for key in listed:
        places.setdefault((key.workspace, key.run), []).append(key)
    double = [name for name, clusters in places.items() if len(clusters) > 1]
    wrong = set()
    for name, asked in details.states(view, double).items():
        wrong |= {one for one in places[name] if asked is not None and asked.cluster and one.cluster != asked.cluster}
    return [key for key in listed if key not in wrong] if wrong else listed


def stale(view: View, cluster: str, now: datetime) -> bool:
    """Whether nothing was heard from the cluster's collector for so long that what it said last need not be so any more.

    What counts is the collector, not the run: it commits whenever anything happens in its cluster, so a run that trains quietly for days
    is well as long as its collector is heard of.
    """
    heard = view.heard(cluster)
    return not heard or now - moment(heard) > STALE


def moment(time: str) -> datetime:
    """A time of evidence."""
    return datetime.fromisoformat(time).astimezone(UTC)


def _asked(one: _Pick, wanted: Wanted) -> bool:
    return (
        (not wanted.workspaces or one.key.workspace in wanted.workspaces)
        and (not wanted.clusters or one.key.cluster in wanted.clusters or not one.key.cluster)
        and (not wanted.states or one.state in wanted.states or not one.settled)
        and (not wanted.name or fnmatchcase(one.key.run[:-9], wanted.name))
        and (not wanted.since or one.since >= stamp(wanted.since) or (not one.since and one.live))
    )


# ---------------------------------------------------------------------------------------------------------------- deploy branch


def published_runs(view: View) -> frozenset[Key]:
    """(workspace, run) of every run that was ever published."""
    return published.deployed(view.deploy.repo, view.deploy.tip, view.settings.tree, view.settings.project).runs


def _live_args(tip: str, tree: str) -> list[str]:
    return ["ls-tree", "-r", "-d", "-z", "--name-only", "--full-tree", tip, f"{tree}/"]


def live_runs(view: View) -> dict[Key, str]:
    """The cluster of each run whose manifests stand in the deploy tree, told from its folders."""
    tip, tree = view.deploy.tip, view.settings.tree
    if tip is None:
        return {}
    listed = git.run(_live_args(tip, tree), cwd=view.deploy.repo).out
    out = {}
    for path in listed.decode("utf-8", "surrogateescape").split("\0"):
        parts = path[len(tree) + 1 :].split("/")
        if len(parts) == 5 and parts[1] == "runs":
            out[parts[2], parts[4]] = parts[0]
    return out


# ---------------------------------------------------------------------------------------------------------------------- details


def _rows(view: View, picks: Sequence[_Pick]) -> list[Row]:
    """Rows with what only contents tell: names, sizes, queues, and why those that did not succeed stand where they stand."""
    unclear = [one.key.attempt(one.attempts[-1].number) for one in picks if one.attempts and one.state != State.SUCCEEDED]
    whys = details.whys(view, unclear)
    return [_row(one, asked, whys.get(one.key)) for one, asked in zip(picks, _asked_for(view, picks), strict=True)]


def _asked_for(view: View, picks: Sequence[_Pick]) -> list[Asked | None]:
    """What each run asked for, as its state says, or the intent that the collector copied of it."""
    keys = [(one.key.workspace, one.key.run) for one in picks]
    states = details.states(view, keys)
    intents = details.intents(view, [one.key for one, key in zip(picks, keys, strict=True) if key not in states])
    return [states[key] if key in states else intents.get(one.key) for one, key in zip(picks, keys, strict=True)]


def _row(one: _Pick, asked: Asked | None, why: Why | None = None) -> Row:
    """A run of which is known what it asked for, and why its newest attempt stands where it stands."""
    if asked is not None and asked.cluster and asked.cluster != one.key.cluster:
        key = one.key._replace(cluster=asked.cluster)
        if one.key.cluster:
            # Somebody wrote under a cluster where the run never was.
            live = asked.phase == "live"
            one, why = _Pick("", key, PUBLISHED if live else ENDED, "", live), None
        else:
            one = one._replace(key=key)
    newest = one.attempts[-1] if one.attempts else _NONE
    state, last = one.state, one.last
    if asked is not None and asked.phase not in ("live", state) and (state == ENDED or not (one.live or newest.ended)):
        # Its manifests left before its end was seen.
        last = last or (state if newest.number else "")
        state = asked.phase
    reason, message = why or ("", "")
    submitted, started, ended = index.spelled(newest.submitted), index.spelled(newest.started), index.spelled(newest.ended)
    number = newest.number or (asked.attempt or 1 if asked is not None else 0)
    name, source, request = (asked.name, asked.source, asked.request) if asked is not None else (one.key.run[:-9], "", {})
    interruptions = sum([attempt.interruptions for attempt in one.attempts])
    return Row(
        one.key, state, index.spelled(one.since), one.live, number, len(one.attempts), last, submitted, started, ended, interruptions,
        name, source, reason, message, request,
    )  # fmt: skip


def data(row: Row) -> dict[str, Json]:
    """A row as an object of JSON."""
    asked = row.request
    out: dict[str, Json] = {
        "run": row.id, "workspace": row.key.workspace, "name": row.name, "cluster": row.key.cluster, "state": row.state,
        "since": row.since or None, "live": row.live, "attempt": row.attempt, "attempts": row.attempts,
        "object": f"{row.key.run}-{row.attempt}" if row.attempt else row.key.run, "reason": row.reason, "message": row.message,
        "submitted": row.submitted or None, "started": row.started or None, "ended": row.ended or None,
        "interruptions": row.interruptions, "kind": asked.get("kind"), "gpus": row.gpus, "queue": asked.get("queue"),
        "tier": asked.get("tier"), "source": row.source or None,
    }  # fmt: skip
    return out | {"last": row.last} if row.last else out
