"""What `explain` tells: a run's values with their origins, or a finding's documentation."""

from collections.abc import Sequence

from taugen.outputs.common import dumps
from taugen.outputs.json import place
from taugen.pipeline.catalog import Entry
from taugen.pipeline.explain import Explained
from taugen.resolve.explain import ExplainLine, Setting
from taugen.words import Json
from taugen.words.names import printable

_WIDEST = 56
"""Characters of a value in the table; one field alone is shown whole."""


def runs(found: Sequence[Explained], form: str, *, color: bool = False, whole: bool = False) -> str:
    """A table for each run, or one JSON list."""
    if form == "json":
        listed: list[Json] = [_json(one) for one in found]
        return dumps(listed)
    return "\n".join(_table(one, color=color, whole=whole) for one in found)


def finding(entry: Entry, form: str) -> str:
    """A finding's documentation, for people or as an object."""
    if form == "json":
        return dumps({"id": entry.id, "stage": entry.stage, "severity": entry.severity, "text": entry.text})
    return f"{entry.id} ({entry.severity})\n\n{entry.text}\n"


def _table(one: Explained, *, color: bool, whole: bool) -> str:
    head = f"{one.doc.run_id}  {one.doc.file}" + (f"  on cluster {one.cluster}" if one.cluster else "")
    rows = [row for line in one.lines for row in _rows(line, whole=whole)]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    out = [printable(head), ""]
    for name, value, who, where in rows:
        text = f"{name:<{widths[0]}}  {value:<{widths[1]}}  {who:<{widths[2]}}  {where}".rstrip()
        out.append(f"\x1b[2m{text}\x1b[0m" if color and name.startswith(" ") else text)
    return "\n".join(out) + "\n"


def _rows(line: ExplainLine, *, whole: bool) -> list[tuple[str, str, str, str]]:
    first = (printable(line.field), *_cells(line.source, line.value, whole=whole))
    return [first, *(("  instead of", *_cells(setting, setting.value, whole=whole)) for setting in line.overrode)]


def _cells(setting: Setting, value: str, *, whole: bool) -> tuple[str, str, str]:
    shown = printable(value)
    if len(shown) > _WIDEST and not whole:
        shown = shown[: _WIDEST - 1] + "…"
    who = setting.layer if setting.layer == "document" else setting.label or setting.layer
    return shown, who, "" if setting.span is None else f"{setting.span.file}:{setting.span.line}"


def _json(one: Explained) -> Json:
    fields: list[Json] = [_field(line) for line in one.lines]
    return {"run": one.doc.run_id, "file": one.doc.file, "cluster": one.cluster, "fields": fields}


def _field(line: ExplainLine) -> Json:
    overrode: list[Json] = [_setting(setting) for setting in line.overrode]
    return {"field": line.field, **_setting(line.source), "value": line.value, "overrode": overrode}


def _setting(setting: Setting) -> dict[str, Json]:
    return {"layer": setting.layer, "label": setting.label, "value": setting.value, "place": place(setting.span)}
