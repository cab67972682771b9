"""Where each value of a run came from, and what it overrode.

In: a `ResolvedRun` and the policy it was resolved with. Out: `ExplainLine` values. Computed when somebody asks: compiling never pays for
it.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from msgspec import Struct
from pydantic import BaseModel

from taugen.diag import Span
from taugen.policy.model import Profile
from taugen.policy.set import Item, Policy
from taugen.resolve.context import Layer, WorkspaceContext
from taugen.resolve.origins import ROWS, Row
from taugen.resolve.resolve import context_of
from taugen.resolve.run import EnvVar, ResolvedRun
from taugen.resolve.sizes import times
from taugen.words import Json, Path, dotted, quantity


class Setting(NamedTuple):
    """A layer's value: `document`, `profile`, `workspace`, `platform` or `builtin`; which document; the value as that document has it;
    its place.
    """

    layer: str
    label: str
    value: str
    span: Span | None


class ExplainLine(Struct, frozen=True):
    """A field of a run: the dotted path, the value that counts, the layer that set it, what that layer overrode (the strongest first)."""

    field: str
    value: str
    source: Setting
    overrode: tuple[Setting, ...] = ()


def explain(run: ResolvedRun, policy: Policy) -> list[ExplainLine]:
    """Every field of the run that has a value: the document's in its order, then those that policy or a default set."""
    workspace = context_of(policy).workspace(run.doc.workspace)
    if workspace is None:
        return []
    layers = _Layers(run, workspace, policy.profiles.get(run.profile) if run.profile is not None else None)
    decided = [line for row in ROWS if (line := layers.line(row)) is not None]
    decided += [*layers.size(), *layers.variables(), *layers.labels(), *layers.resilience(), *layers.tenancy(), *_prices(run, policy)]
    known = {line.field for line in decided}
    typed = [line for line in layers.document() if line.field not in known]
    return typed + decided


class _Layers(Struct, frozen=True):
    run: ResolvedRun
    workspace: WorkspaceContext
    profile: Item[Profile] | None

    def line(self, row: Row) -> ExplainLine | None:
        value = row.value(self.run)
        if value is None or value == []:
            return None
        settings = list(self.settings(row))
        if not settings and row.path == ("policy", "queue"):
            settings.append(_workspace(self.workspace, "queues", self.run.placement.queue))
        if not settings and row.path[-1] == "mode":
            settings.append(_workspace(self.workspace, "podSecurity", "restricted"))
        if row.builtin is not None:
            settings.append(Setting("builtin", row.builtin(self.run), _text(value), None))
        if not settings:
            return None
        return ExplainLine(dotted(row.path), _text(value), settings[0], tuple(s for s in settings[1:] if s.layer != "builtin"))

    def settings(self, row: Row) -> Iterator[Setting]:
        """What the layers say of a field, the strongest first."""
        if (found := self.typed(row.path)) is not None:
            yield found
        if row.profile is not None and self.profile is not None and (found := self.of_profile(row, self.profile)) is not None:
            yield found
        if row.defaults is not None:
            for layer in self.workspace.layers:
                paths = (("images", self.run.kind), row.defaults) if row.path[-1] == "image" else (row.defaults,)
                yield from (s for path in paths if (s := _default(layer, path)) is not None)

    def typed(self, path: Path) -> Setting | None:
        """What the document says."""
        doc = self.run.doc
        if not doc.has(path):
            return None
        value: object = doc.spec
        for part in path:
            value = _child(value, part)
        return None if value is None else Setting("document", doc.file, _text(_data(value)), doc.span(path))

    def of_profile(self, row: Row, profile: Item[Profile]) -> Setting | None:
        assert row.profile is not None
        value: object = profile.spec
        for part in row.profile:
            value = _child(value, part)
        if value is None or (row.per_gpu and not self.run.gpus):
            return None
        text = _text(_data(value))
        if row.per_gpu:
            text = f"{times(text, self.run.gpus)} ({self.run.gpus} x {text})"
        return Setting("profile", profile.label, text, profile.span(row.profile, key=True))

    def size(self) -> Iterator[ExplainLine]:
        """The number of nodes or Ray workers."""
        doc = self.run.doc
        on_ray = self.run.kind == "rayjob" or (doc.has(("compute", "workers")) and not doc.has(("execution", "nodes")))
        path: Path = ("compute", "workers") if on_ray else ("execution", "nodes")
        default: Path | None = ("compute", "workers") if self.run.kind == "rayjob" else None
        row = Row(path, lambda run: run.nodes, ("workers",), default, lambda _: "one where nobody says otherwise")
        line = self.line(row)
        if line is not None:
            yield line

    def variables(self) -> Iterator[ExplainLine]:
        """Environment variables: the document's, the profile's NCCL settings, the defaults."""
        for var in self.run.env:
            section = "env" if var.secret is None else "env_secret"
            path: Path = ("runtime", section, var.name)
            settings = [s for s in (self.typed(("runtime", name, var.name)) for name in ("env", "env_secret")) if s is not None]
            if self.profile is not None and var.name in self.profile.spec.nccl:
                place = self.profile.span(("nccl", var.name))
                settings.append(Setting("profile", self.profile.label, self.profile.spec.nccl[var.name], place))
            for layer in self.workspace.layers:
                found = [_default(layer, ("runtime", name, var.name)) for name in ("env", "env_secret")]
                settings += [s for s in found if s is not None]
            if settings:
                yield ExplainLine(dotted(path), _variable(var), settings[0], tuple(settings[1:]))

    def labels(self) -> Iterator[ExplainLine]:
        """Labels: the document's over the defaults."""
        for key, value in self.run.labels.items():
            settings = [
                s for s in (self.typed(("labels", key)), *(_default(layer, ("labels", key)) for layer in self.workspace.layers)) if s
            ]
            if settings:
                yield ExplainLine(f"labels.{key}", value, settings[0], tuple(settings[1:]))

    def resilience(self) -> Iterator[ExplainLine]:
        """Retry settings."""
        for key, value in self.run.resilience.items():
            row = Row(("resilience", key), lambda _, v=value: v, None, ("resilience", key), lambda _: "the default where there are retries")  # type: ignore[misc]
            line = self.line(row)
            if line is not None:
                yield line

    def tenancy(self) -> Iterator[ExplainLine]:
        """What the workspace decides alone."""
        item = self.workspace.item
        yield ExplainLine("namespace", self.run.namespace, Setting("workspace", item.label, self.run.namespace, item.span(("namespace",))))
        if self.run.service_account is not None:
            account = self.run.service_account
            place = item.span(("identity", "serviceAccount"))
            yield ExplainLine("service_account", account, Setting("workspace", item.label, account, place))

    def document(self) -> Iterator[ExplainLine]:
        """Every leaf that the document sets."""
        for path, value in _leaves(self.run.doc.spec, ()):
            span = self.run.doc.span(path)
            yield ExplainLine(dotted(path), _text(value), Setting("document", self.run.doc.file, _text(value), span))


def _prices(run: ResolvedRun, policy: Policy) -> Iterator[ExplainLine]:
    """What an hour of the workers costs on each flavor that has a price; slices of GPUs have none."""
    platform = policy.platform
    if platform is None or any("/mig-" in name for name in run.worker.extended):
        return
    for name in run.placement.flavors:
        price = platform.spec.pricing.get(name)
        if price is None:
            continue
        count, what = (Decimal(run.gpus), "GPUs") if run.gpus else (quantity.parse(run.worker.cpu), "CPUs")
        each = Decimal(str(price))
        text = f"{_plain(each * count * run.nodes)} an hour ({_plain(count * run.nodes)} {what} x {_plain(each)})"
        place = platform.span(("pricing", name), key=True)
        yield ExplainLine(f"price.{name}", text, Setting("platform", platform.label, text, place))


def _plain(number: Decimal) -> str:
    """Without an exponent and without zeros at its end."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _default(layer: Layer, path: Path) -> Setting | None:
    value: object = layer.defaults
    for part in path:
        value = _child(value, part)
    return None if value is None else Setting(layer.name, layer.item.label, _text(_data(value)), layer.span(path))


def _workspace(workspace: WorkspaceContext, field: str, value: str) -> Setting:
    return Setting("workspace", workspace.item.label, value, workspace.item.span((field,), key=True))


def _child(value: object, part: str | int) -> object:
    if isinstance(value, Mapping):
        return value.get(part)
    if isinstance(value, list):
        return value[part] if isinstance(part, int) and part < len(value) else None
    return getattr(value, str(part), None)


def _leaves(value: object, path: Path) -> Iterator[tuple[Path, Json]]:
    """The set fields below a model, mappings walked into, lists as one."""
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            if name in value.model_fields_set and (inner := getattr(value, name)) is not None:
                yield from _leaves(inner, (*path, name))
    elif isinstance(value, Mapping) and path[0] not in {"execution", "experiment"}:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    else:
        yield path, _data(value)


def _data(value: object) -> Json:
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_none=True)
    if isinstance(value, list):
        return [_data(item) for item in value]
    return value  # type: ignore[return-value]


def _variable(var: EnvVar) -> str:
    return var.value if var.secret is None else f"{var.secret}:{var.key}"


def _text(value: Json) -> str:
    """A value in one line: scalars as they are, the rest as JSON."""
    if isinstance(value, str):
        return value
    from json import dumps

    return dumps(value, ensure_ascii=False, sort_keys=True)
