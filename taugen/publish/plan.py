"""Decides what happens to each run: the laws of publishing as one pure function.

In: what documents wish, and the published runs. Out: `Plan`. What must never happen: a published run that changes, starts again or goes without somebody having
said so in a document or by name.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from taugen.publish.branch import Deployed
from taugen.publish.state import Phase, RunState
from taugen.words.names import slug

OnEdit = Literal["wait", "replace", "beside"]


@dataclass(frozen=True, slots=True)
class Wish:
    """What one document wants. `readable` is False if its identity can't be trusted (`run` is then empty); `ok` says that it compiled without error."""

    file: str
    workspace: str
    name: str
    run: str = ""
    digest: str = ""
    cancelled: bool = False
    on_edit: OnEdit = "wait"
    readable: bool = True
    ok: bool = True

    @property
    def run_id(self) -> str:
        """`<workspace>/<name>/<digest8>`."""
        return f"{self.workspace}/{self.name}/{self.digest[:8]}"


@dataclass(slots=True)
class Plan:
    """`add` wishes to publish, `end` live runs that leave, `waiting` (wish, older run), `held` wishes with errors, `vanished` live runs without a document."""

    add: list[Wish] = field(default_factory=list)
    end: list[tuple[RunState, Phase]] = field(default_factory=list)
    waiting: list[tuple[Wish, RunState]] = field(default_factory=list)
    held: list[Wish] = field(default_factory=list)
    twice: list[tuple[Wish, str]] = field(default_factory=list)
    """Held because the file that is named has the name already."""
    vanished: list[RunState] = field(default_factory=list)
    ended_before: list[Wish] = field(default_factory=list)
    """Documents of runs that were cancelled or replaced: they never start again."""
    published: list[Wish] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    """--allow-cancel names that match no live run that may go."""

    def pending(self) -> tuple[str, ...]:
        """Documents that the next publish reads again even if nothing changed."""
        files = {w.file for w in self.held} | {w.file for w, _ in self.waiting} | {w.file for w, _ in self.twice}
        return tuple(sorted(files))


@dataclass(frozen=True, slots=True)
class Setting:
    """What surrounds the wishes. `owner` gives the path of the document that a state belongs to; `claims` whether a document outside of the wishes has its name."""

    branch: Deployed
    owner: Callable[[RunState], str]
    claims: Callable[[RunState], str | None]
    allow: frozenset[str] = frozenset()
    allow_all: bool = False


def plan(wishes: Sequence[Wish], touched: Iterable[tuple[str, str]], setting: Setting) -> Plan:
    """Decide. `touched` are (workspace, name) whose live runs may have lost their document; names of wishes are looked at in any case."""
    out = Plan()
    groups: dict[tuple[str, str], list[Wish]] = {}
    unreadable = set()
    for wish in wishes:
        if wish.name:
            groups.setdefault((wish.workspace, wish.name), []).append(wish)
        if not wish.readable:
            unreadable.add(wish.file)
            out.held.append(wish)
    used: set[str] = set()
    for key in sorted({*groups, *touched}):
        _name(key, groups.get(key, []), unreadable, setting, out, used)
    out.unused = sorted(setting.allow - used)
    return out


def _name(key: tuple[str, str], wishes: list[Wish], unreadable: set[str], setting: Setting, out: Plan, used: set[str]) -> None:
    """Decide for one name of one workspace."""
    live = live_runs(setting.branch, *key)
    current = _current(key, [w for w in wishes if w.readable], setting, out)
    if current is None:
        if not wishes:
            _vanished(live, unreadable, setting, out, used)
        return
    if current.cancelled:
        out.end += [(state, "cancelled") for state in live]
        if (current.workspace, current.run) in setting.branch.runs:
            out.published.append(current)
        return
    known = setting.branch.state(current.workspace, current.run)
    if known is not None or (current.workspace, current.run) in setting.branch.runs:
        (out.published if known is None or known.phase == "live" else out.ended_before).append(current)
        return
    older = [state for state in live if state.run != current.run]
    if older and (other := next((path for state in older if (path := setting.claims(state)) is not None), None)) is not None:
        out.twice.append((current, other))
        return
    _new(current, older, setting, out, used)


def _current(key: tuple[str, str], wishes: list[Wish], setting: Setting, out: Plan) -> Wish | None:
    """The one wish that speaks for the name; the others are held as second documents of one name."""
    if len(wishes) < 2:
        return wishes[0] if wishes else None
    published = [w for w in wishes if (w.workspace, w.run) in setting.branch.runs]
    first = min(published, key=lambda w: w.file) if published else None
    for wish in wishes:
        if wish is not first:
            other = first or next(w for w in wishes if w is not wish)
            out.twice.append((wish, other.file))
    return first


def _new(wish: Wish, older: list[RunState], setting: Setting, out: Plan, used: set[str]) -> None:
    if not wish.ok:
        out.held.append(wish)
        return
    staying = []
    for state in older:
        if wish.on_edit == "replace":
            out.end.append((state, "replaced"))
        elif (name := _allowed(state, setting)) is not None:
            used.add(name)
            out.end.append((state, "cancelled"))
        else:
            staying.append(state)
    if staying and wish.on_edit == "wait":
        out.waiting.append((wish, staying[0]))
    else:
        out.add.append(wish)


def _vanished(live: list[RunState], unreadable: set[str], setting: Setting, out: Plan, used: set[str]) -> None:
    for state in live:
        if setting.owner(state) in unreadable or setting.claims(state) is not None:
            continue
        name = _allowed(state, setting)
        if name is not None or setting.allow_all:
            used.update([name] if name else [])
            out.end.append((state, "cancelled"))
        else:
            out.vanished.append(state)


def _allowed(state: RunState, setting: Setting) -> str | None:
    names = (state.run_id, f"{state.workspace}/{state.name}", state.run, f"{state.run}-{state.attempt}")
    return next((name for name in names if name in setting.allow), None)


def live_runs(branch: Deployed, workspace: str, name: str) -> list[RunState]:
    """The live runs of one name, sorted by run."""
    found = []
    for run in branch.by_slug.get((workspace, slug(name)), ()):
        state = branch.state(workspace, run)
        if state is not None and state.name == name and state.phase == "live":
            found.append(state)
    return found
