"""What `taugen runs` prints: a table for people, or JSON or YAML with every field."""

from datetime import datetime

from taugen.outputs.common import dumps
from taugen.outputs.table import ago, lines, painted, span, wrapped
from taugen.pipeline.runs import Listing, Row, data
from taugen.pipeline.view import View
from taugen.words import Json
from taugen.words.emit import emit

_HEAD = ("RUN", "STATE", "FOR", "ATTEMPT", "GPUS", "QUEUE", "CLUSTER")
_SPARE = ("QUEUE", "GPUS", "CLUSTER", "ATTEMPT")
_LISTED = 5


def write(found: Listing, view: View, form: str, now: datetime, *, color: bool = False) -> str:
    """The listing in a format: table, json, yaml."""
    if form == "table":
        return "\n".join([*_table(found, view, now, color=color), *_foot(found)]) + "\n"
    runs: list[Json] = [data(row) for row in found.rows]
    heard: dict[str, Json] = dict(sorted(view.seen.items()))
    evidence: dict[str, Json] = {"commit": view.evidence.tip, "heard": heard}
    whole: dict[str, Json] = {"runs": runs, "total": found.total, "waiting": list(found.waiting)}
    whole |= {"evidence": evidence, "notes": list(view.notes)}
    return dumps(whole) if form == "json" else emit(whole)


def _table(found: Listing, view: View, now: datetime, *, color: bool) -> list[str]:
    if not found.rows:
        return ["no runs"]
    made = lines(_HEAD, [_cells(row, now) for row in found.rows], _SPARE)
    out = [made[0]]
    for row, line in zip(found.rows, made[1:], strict=True):
        out.append(painted(line, row.state, color=color))
        if told := why(row, view, now):
            out += wrapped(told, "    ")
    return out


def _cells(row: Row, now: datetime) -> tuple[str, ...]:
    asked = row.request
    gpus = "-" if row.gpus is None else str(row.gpus)
    return row.id, row.state, span(row.since, now), str(row.attempt or "-"), gpus, asked.get("queue", "-"), row.key.cluster or "-"


def why(row: Row, view: View, now: datetime) -> str:
    """Why a run stands where it stands; "" where that needs no words."""
    if row.state == "stale":
        heard = ago(view.heard(row.key.cluster), now)
        return f"was {row.last}; the collector of {row.key.cluster} was {f'last heard of {heard}' if heard else 'never heard of'}"
    if row.state == "published":
        return "in the deploy tree; nothing was seen of it in the cluster yet"
    if row.state in ("queued", "failed", "deactivated", "validation-failed", "submitted"):
        return ": ".join(text for text in (row.reason, row.message) if text)
    if row.last:
        return f"was {row.last} when its manifests left; its end was not seen"
    return ""


def _foot(found: Listing) -> list[str]:
    out = []
    if found.total > len(found.rows):
        out.append(f"{len(found.rows)} of {found.total} runs, newest first: --limit 0 shows all; see --state, --name, --since, --workspace")
    if found.waiting:
        more = f" and {len(found.waiting) - _LISTED} more" if len(found.waiting) > _LISTED else ""
        out += wrapped(f"waiting or held back (publish says why): {', '.join(found.waiting[:_LISTED])}{more}", "")
    return ["", *out] if out else []
