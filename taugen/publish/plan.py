"""Decides what happens to each run: the laws of publishing as one pure function.

In: what documents wish, and the published runs of the same names. Out: `Plan`. What must never happen: a published run that changes, starts
again or goes without somebody having said so in a document or by name; a decision about a name of which not all documents are known.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from taugen.diag import Diagnostic, Span
from taugen.publish.branch import Deployed
from taugen.publish.state import Key, Phase, RunState

OnEdit = Literal["wait", "replace", "beside"]


class Wish(Struct, frozen=True):
    """What one document wants.

    `readable` is False if its identity can't be trusted (`run` is then empty, `name` perhaps); `ok` says that it compiled without error;
    `span` is the place of its name.
    """

    file: str
    workspace: str
    name: str
    span: Span
    run: str = ""
    digest: str = ""
    cancelled: bool = False
    on_edit: OnEdit = "wait"
    readable: bool = True
    ok: bool = True

    @property
    def key(self) -> Key:
        """(workspace, run)."""
        return self.workspace, self.run

    @property
    def run_id(self) -> str:
        """`<workspace>/<name>/<digest8>`."""
        return f"{self.workspace}/{self.name}/{self.digest[:8]}"


class Plan(Struct):
    """The decisions. `findings` say why a document is held where its own findings don't."""

    add: list[Wish] = field(default_factory=list)
    end: list[tuple[RunState, Phase]] = field(default_factory=list)
    waiting: list[tuple[Wish, RunState]] = field(default_factory=list)
    """Edited documents, each with the older run that it waits for."""
    held: list[Wish] = field(default_factory=list)
    vanished: list[RunState] = field(default_factory=list)
    """Live runs whose document is gone."""
    unread: list[RunState] = field(default_factory=list)
    """Live runs whose document can't be read: they stay, and are not said to have vanished."""
    ended_before: list[Wish] = field(default_factory=list)
    """Documents of runs that were cancelled or replaced: those never start again."""
    idle: list[Wish] = field(default_factory=list)
    """Cancelled documents that were never published: they still claim their name."""
    places: dict[Key, str] = field(default_factory=dict)
    """Where the document of a published run stands now: of live runs, and of ended ones that a document still asks for."""
    decided: set[Key] = field(default_factory=set)
    """All published runs of the names that were decided, ended ones included."""
    findings: list[Diagnostic] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    """Names of --allow-cancel that let no run go."""

    def pending(self) -> tuple[str, ...]:
        """Documents that the next publish reads again even if nothing changed."""
        return tuple(sorted({w.file for w in (*self.held, *(w for w, _ in self.waiting), *self.idle)}))

    def adrift(self) -> tuple[str, ...]:
        """Live runs without a readable document, for the next publish to look at again."""
        return tuple(sorted("/".join(s.key) for s in (*self.vanished, *self.unread)))


class Setting(Struct, frozen=True):
    """What surrounds the wishes. `blocked` says of workspaces why they get no new runs; `allow` are runs that may go, `allow_all` lets all
    go whose document is gone."""

    branch: Deployed
    allow: frozenset[str] = frozenset()
    allow_all: bool = False
    blocked: Mapping[str, str] = field(default_factory=dict)


def plan(wishes: Sequence[Wish], touched: Iterable[Key], setting: Setting) -> Plan:
    """Decide for every name of `wishes` and of `touched` (workspace, name). All documents that claim one of these names are among the
    wishes."""
    out = Plan()
    groups: dict[Key, list[Wish]] = {}
    for wish in wishes:
        if wish.name:
            groups.setdefault((wish.workspace, wish.name), []).append(wish)
    out.held = [wish for wish in wishes if not wish.readable]
    one = _Names(setting, out, frozenset(w.file for w in out.held), frozenset(w.workspace for w in out.held if not w.name))
    keys = sorted({*groups, *touched})
    states = setting.branch.named(keys)
    for key in keys:
        one.decide(groups.get(key, []), states[key])
    for state, _ in out.end:
        if state.key not in one.asked:
            out.places.pop(state.key, None)
    out.unused = sorted(setting.allow - one.used)
    return out


class _Names(Struct):
    """Decides name by name. `unreadable` are files, `blind` workspaces in which some file can't be read that may hold any name."""

    setting: Setting
    out: Plan
    unreadable: frozenset[str]
    blind: frozenset[str]
    used: set[str] = field(default_factory=set)
    asked: set[Key] = field(default_factory=set)
    """Runs that a document asks for as it stands."""

    def decide(self, wishes: list[Wish], states: list[RunState]) -> None:
        """One name of one workspace: its documents, and its published runs, ended ones included."""
        self.out.decided |= {state.key for state in states}
        live = [state for state in states if state.live]
        current = self.speaker(wishes)
        if current is None:
            self.without(wishes, live)
            return
        self.asked.add(current.key)
        known = next((state for state in states if state.run == current.run), None)
        doubt = self.doubt(current, live) if known is None and not current.cancelled else None
        if doubt is not None:
            self.out.places |= {state.key: self.setting.branch.owner(state) for state in live}
            message = f"{doubt} can't be read, and the run {current.workspace}/{current.name} stood there"
            self.hold(current, "run-name-twice", message, "mend or remove that file")
            return
        self.out.places |= {s.key: current.file for s in states if s.live or s.run == current.run}
        if current.cancelled:
            self.out.end += [(state, "cancelled") for state in live]
            if known is None:
                self.out.idle.append(current)
        elif known is None:
            self.new(current, live)
        elif known.digest != current.digest:
            message = f"this run would have the object name of {known.run_id}, which is published: {known.run}"
            self.hold(current, "run-collision", message, "bump `generation`: it makes another name")
        elif not known.live:
            self.out.ended_before.append(current)

    def speaker(self, wishes: list[Wish]) -> Wish | None:
        """The one readable wish that speaks for the name: the only one, or the one that is published already. The others are held."""
        published = [w for w in wishes if w.readable and self.setting.branch.state(w.key) is not None]
        first = (
            min(published, key=lambda w: w.file, default=None) if len(wishes) > 1 else wishes[0] if wishes and wishes[0].readable else None
        )
        for wish in wishes:
            if len(wishes) > 1 and wish is not first and wish.readable:
                other = first or next(w for w in wishes if w is not wish)
                message = f"two runs of workspace {wish.workspace} are named {wish.name}: the other stands in {other.file}"
                self.hold(wish, "run-name-twice", message, "rename one of them", other.span)
        return first

    def hold(self, wish: Wish, rule: str, message: str, hint: str, origin: Span | None = None) -> None:
        """Hold a wish that has no finding of its own."""
        self.out.held.append(wish)
        self.out.findings.append(Diagnostic(rule, message, wish.span, path="name", hint=hint, origin=origin))

    def without(self, wishes: list[Wish], live: list[RunState]) -> None:
        """Live runs without a document that speaks for them."""
        self.out.places |= {state.key: self.setting.branch.owner(state) for state in live}
        if wishes or any(self.setting.branch.owner(state) in self.unreadable for state in live):
            self.out.unread += live
            return
        for state in live:
            if self.allowed(state) or (self.setting.allow_all and state.workspace not in self.blind):
                self.out.end.append((state, "cancelled"))
            else:
                self.out.vanished.append(state)

    def doubt(self, wish: Wish, live: list[RunState]) -> str | None:
        """Another file in which the name stood and that can't be read now: the wish may be a second document of the name."""
        owners = (self.setting.branch.owner(state) for state in live)
        return next((path for path in owners if path in self.unreadable and path != wish.file), None)

    def new(self, wish: Wish, live: list[RunState]) -> None:
        """A run that is not published yet."""
        if not wish.ok:
            self.out.held.append(wish)
        elif (why := self.setting.blocked.get(wish.workspace)) is not None:
            self.hold(wish, "workspace-blocked", f"held back: {why}", "settle it, and publish again")
        else:
            self.start(wish, live)

    def start(self, wish: Wish, live: list[RunState]) -> None:
        """Publish it, unless it has to wait for an older run of its name."""
        ends: list[tuple[RunState, Phase]] = []
        for state in live:
            if wish.on_edit == "replace":
                ends.append((state, "replaced"))
            elif self.allowed(state):
                ends.append((state, "cancelled"))
        self.out.end += ends
        staying = [state for state in live if all(state is not gone for gone, _ in ends)]
        if staying and wish.on_edit == "wait":
            self.out.waiting.append((wish, staying[0]))
        else:
            self.out.add.append(wish)

    def allowed(self, state: RunState) -> bool:
        """Whether --allow-cancel names the run: by its id, its name, its object's name or that of its attempt."""
        names = {state.run_id, f"{state.workspace}/{state.name}", state.run, f"{state.run}-{state.attempt}"} & self.setting.allow
        self.used |= names
        return bool(names)
