"""What `taugen show` prints: one run for people, or JSON or YAML with every field."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from taugen.evidence.event import Event, EventType
from taugen.outputs.common import dumps
from taugen.outputs.runs import why
from taugen.outputs.table import ago, lines, painted, span, wrapped
from taugen.pipeline.shown import Attempt, Shown, containers, data
from taugen.pipeline.view import View
from taugen.words import Json
from taugen.words.counts import counted
from taugen.words.emit import emit
from taugen.words.names import printable

_LABEL = 12
_NOTES = 10
"""Kubernetes Events of an attempt that the timeline shows; JSON has all."""


def write(found: Shown, view: View, form: str, now: datetime, *, color: bool = False) -> str:
    """The run in a format: text, json, yaml."""
    if form != "text":
        whole = data(found)
        return dumps(whole) if form == "json" else emit(whole)
    parts = [_head(found, view, now, color=color), *(_attempt(one, now, color=color) for one in found.attempts), *_closing(found)]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _head(found: Shown, view: View, now: datetime, *, color: bool) -> list[str]:
    row = found.row
    asked, intent = row.request, _mapping(found.state.get("intent"))
    lasted = f" for {span(row.since, now)}" if row.since else ""
    where = f" on {row.key.cluster}" if row.key.cluster else ""
    out = [painted(printable(f"{row.id}  {row.state}{lasted}, attempt {row.attempt}{where}"), row.state, color=color)]
    out += _line("why", why(row, view, now))
    out += _line("next", found.next)
    made = (("policy", str(intent.get("policy") or "")[:12]), ("taugen", str(intent.get("compiler") or "")))
    of = ", ".join(f"{name} {value}" for name, value in made if value)
    out += _line("document", f"{row.source} at {str(intent.get('commit') or '')[:12]}" + (f" ({of})" if of else "") if row.source else "")
    out += _line("object", f"{asked.get('kind', '')} {found.namespace}/{row.key.run}-{row.attempt}".strip() if row.attempt else "")
    nodes, gpus = (_counted(asked.get(key, default), word) for key, default, word in (("nodes", "1", "node"), ("gpus", "0", "GPU")))
    size = f"{asked.get('nodes', '1')} x {gpus}" if asked.get("gpus", "0") != "0" else nodes
    named = (("class", "gpuClass"), ("profile", "profile"), ("queue", "queue"), ("tier", "tier"))
    more = ", ".join(f"{name} {asked[key]}" for name, key in named if key in asked)
    out += _line("asked for", f"{size}, {more}" if asked else "")
    out += _line("image", asked.get("image", ""))
    return out


def _attempt(one: Attempt, now: datetime, *, color: bool) -> list[str]:
    history = one.history
    if history is None:
        return [f"attempt {one.key.number}"]
    end = history.ended or ""
    ran = f", ran {span(history.started, end or now)}" if history.started else ""
    title = f"attempt {one.key.number}  {history.state} since {history.since} ({ago(history.since, now)}){ran}"
    out = [painted(title, history.state, color=color)]
    out += _line("admission", _admission(one))
    out += _line("failed of", _failure(one))
    for interruption in history.interruptions:
        out += _line("interrupted", f"{interruption.time} {interruption.kind}: {interruption.reason}{_by(interruption.by)}")
    for event, text in _timeline(one):
        out += wrapped(f"{event.time}  {event.type:<17}  {text}".rstrip(), "    ", " " * 8)
    out += _series(one)
    return out


def _admission(one: Attempt) -> str:
    said = one.said(EventType.ADMITTED)
    queued, admitted = one.first(EventType.QUEUED), one.first(EventType.ADMITTED)
    if not said:
        return f"not yet; in queue {one.said(EventType.QUEUED).get('queue')} since {queued}" if queued else ""
    flavors = sorted({str(flavor) for pods in _list(said.get("podSets")) for flavor in _mapping(_mapping(pods).get("flavors")).values()})
    parts = [f"queue {said.get('clusterQueue')}", f"flavor {', '.join(flavors)}" if flavors else ""]
    parts += [f"waited {span(queued, admitted)}" if queued else "", _borrowed(said.get("borrowed"))]
    return ", ".join(part for part in parts if part)


def _borrowed(said: Json) -> str:
    if isinstance(said, dict):
        return f"borrowed {', '.join(f'{amount} {name}' for name, amount in sorted(said.items()))}" if said else ""
    return "borrowed quota of its cohort" if said else ""


def _failure(one: Attempt) -> str:
    failure = one.history.failure if one.history is not None else None
    if failure is None:
        return ""
    code = f", exit code {failure.exit_code}" if failure.exit_code is not None else ""
    node = f" on {failure.node}" if failure.node else ""
    return f"{failure.cause}{code}" + (f": pod {failure.pod}{node} was first" if failure.pod else "")


def _by(by: Mapping[str, Json]) -> str:
    who = "/".join(str(by[key]) for key in ("workspace", "run") if by.get(key)) or by.get("jobUid") or by.get("uid")
    return f", for {who}" if who else ""


def _timeline(one: Attempt) -> Iterator[tuple[Event, str]]:
    notes = [event for event in one.events if event.type is EventType.NOTE]
    shown = {event.key for event in notes[-_NOTES:]}
    for event in one.events:
        if event.type is not EventType.NOTE or event.key in shown:
            yield event, _told(event)


def _told(event: Event) -> str:
    """An event in a few words."""
    said = event.data
    if event.type in (EventType.POD_STARTED, EventType.POD_ENDED):
        codes = _mapping(said.get("exitCodes"))
        ended = ", ".join(f"{name} exit code {code}" for name, code in sorted(codes.items()))
        oom = "out of memory" if said.get("oom") is True else ""
        where = f"{said.get('pod')} on {said.get('node')}" if said.get("node") else str(said.get("pod") or "")
        return ", ".join(part for part in (where, ended, oom, str(said.get("disruption") or "")) if part)
    if event.type is EventType.QUEUED:
        return f"in {said.get('queue')}" + (f", tier {said['tier']}" if said.get("tier") else "")
    if event.type is EventType.INDEX_SUCCEEDED:
        return f"index {said.get('index')}"
    if event.type is EventType.CHECK:
        return f"{said.get('name')} {said.get('state')} {said.get('message') or ''}".strip()
    if event.type is EventType.RAY:
        return " ".join(str(said[key]) for key in ("deploymentStatus", "jobStatus", "reason", "message") if said.get(key))
    if event.type is EventType.RESERVED:
        return f"in {said.get('clusterQueue')}"
    by = _by(_mapping(said.get("by"))) if isinstance(said.get("by"), dict) else ""
    text = ": ".join(str(said[key]) for key in ("reason", "message") if said.get(key))
    return f"{text}{by}"


def _counted(number: str, word: str) -> str:
    return counted(int(number), word) if number.isdecimal() else f"{number} {word}s"


def _series(one: Attempt) -> list[str]:
    """Checkpoints, usage, what is missing, where logs are."""
    out = []
    for checkpoint in one.checkpoints[-3:]:
        size = f", {counted(checkpoint.bytes, 'byte')}" if checkpoint.bytes else ""
        out += _line("checkpoint", f"step {checkpoint.step} at {checkpoint.uri}{size}")
    usage = one.section("usage")
    known = (("GPU seconds", "gpuSeconds"), ("of them lost", "wastedGpuSeconds"))
    out += _line("usage", ", ".join(f"{name} {usage[key]}" for name, key in known if usage.get(key) is not None))
    missing = _list(one.section("completeness").get("missing"))
    for gone in missing:
        out += _line("not seen", f"{_mapping(gone).get('what')}: {_mapping(gone).get('why')}")
    out += _line("logs", ", ".join(containers(one.logs)))
    return out


def _closing(found: Shown) -> list[list[str]]:
    name = found.row.id
    out = []
    if any(one.logs for one in found.attempts):
        out.append([f"taugen logs {name} prints the logs"])
    if found.others:
        rows = lines(("OTHER RUNS OF THIS NAME",), [(f"{other.workspace}/{other.run}",) for other in found.others])
        out.append(rows)
    return out


def _line(label: str, text: str) -> list[str]:
    """A labelled text over as many lines as it needs."""
    if not text:
        return []
    first, *rest = wrapped(text, " " * (_LABEL + 2)) or [""]
    return [f"  {label:<{_LABEL}}{first[_LABEL + 2 :]}", *rest]


def _mapping(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
