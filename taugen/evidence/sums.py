"""What a record adds up: GPU time, what of it was lost, its cost, the metrics' last and best values.

In: the events of an attempt, checkpoints, rows of metrics, prices. Out: JSON-shaped sums, and what they could not be made of. GPU time runs
from admission, when Kueue gives the quota, to the end or to being taken back. What must never happen: a number where something it needs is
not known.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from taugen.evidence.event import TERMINAL, Event, EventType
from taugen.evidence.history import History, State
from taugen.words import Json
from taugen.words.canonical import MOST_INTEGER, digest
from taugen.words.quantity import QuantityError, parse

if TYPE_CHECKING:
    from taugen.evidence.record import Extras
    from taugen.evidence.store import Checkpoint

_BACK = frozenset({EventType.PREEMPTED, EventType.EVICTED, EventType.DEACTIVATED, EventType.DELETED, *TERMINAL})
Missing = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Span:
    """A time during which the attempt had its GPUs: by flavor, from `start` to `end` (seconds since the epoch); `lost`: it ended before the
    work was done."""

    start: float
    end: float
    gpus: Mapping[str, float]
    lost: bool

    @property
    def amount(self) -> float:
        """GPU seconds."""
        return (self.end - self.start) * sum(self.gpus.values())


def spans(happened: Sequence[Event], past: History | None) -> list[Span]:
    """When the attempt had its GPUs, in order; a time whose end was not seen is none."""
    out = []
    for at, event in enumerate(happened):
        if event.type is not EventType.ADMITTED:
            continue
        over = next((later for later in happened[at + 1 :] if later.type in _BACK or later.type is EventType.ADMITTED), None)
        if over is not None and over.type in _BACK:
            done = over.type is EventType.SUCCEEDED and past is not None and past.state is State.SUCCEEDED
            out.append(Span(_seconds(event.time), max(_seconds(over.time), _seconds(event.time)), by_flavor(event), not done))
    return out


def by_flavor(admitted: Event) -> dict[str, float]:
    """GPUs of an admission by flavor."""
    found: dict[str, float] = {}
    sets = admitted.data.get("podSets")
    for part in sets if isinstance(sets, list) else []:
        usage, flavors = (part.get(key) if isinstance(part, dict) else None for key in ("usage", "flavors"))
        for resource, amount in (usage if isinstance(usage, dict) else {}).items():
            if "gpu" in resource.rpartition("/")[2].lower() and isinstance(amount, int | float | str):
                flavor = flavors.get(resource) if isinstance(flavors, dict) else None
                found[str(flavor or "")] = found.get(str(flavor or ""), 0.0) + _amount(amount)
    return found


def gpus(happened: Iterable[Event]) -> float | None:
    """GPUs of the last admission; None if there was none."""
    admitted = [event for event in happened if event.type is EventType.ADMITTED]
    return sum(by_flavor(admitted[-1]).values()) if admitted else None


def usage(
    happened: Sequence[Event], past: History | None, checkpoints: Sequence["Checkpoint"], extras: "Extras"
) -> tuple[dict[str, Json], Missing]:
    """GPU seconds, those lost, and the cost; and what could not be told."""
    had = spans(happened, past)
    lost, unknown = _wasted(had, checkpoints, extras)
    cost, more = _cost(had, extras.prices)
    seconds: Json = _number(sum(span.amount for span in had)) if had or gpus(happened) is None else None
    return {
        "gpuSeconds": seconds,
        "wastedGpuSeconds": lost,
        "wastedGpuSecondsAtMost": _number(sum(span.amount for span in had if span.lost)),
        "admittedSeconds": _number(sum(span.end - span.start for span in had)),
        "cost": cost,
    }, [*unknown, *more]


def _wasted(had: Sequence[Span], checkpoints: Sequence["Checkpoint"], extras: "Extras") -> tuple[Json, Missing]:
    """GPU seconds after the last complete checkpoint of each time that ended early. When a checkpoint was made follows from the row of
    metrics with its step."""
    if not any(span.lost for span in had):
        return 0, []
    times = _times(checkpoints, extras)
    if len(times) < len(checkpoints):
        return None, [("usage.wastedGpuSeconds", "no row of metrics says when each checkpoint was made")]
    total = 0.0
    for span in had:
        if span.lost:
            since = max((time for time in times if time <= span.end), default=span.start)
            total += (span.end - max(since, span.start)) * sum(span.gpus.values())
    return _number(total), []


def _times(checkpoints: Sequence["Checkpoint"], extras: "Extras") -> list[float]:
    made = {step: time for step, time, _ in sorted(_rows(extras.metrics.get("rows")), key=lambda row: row[:2], reverse=True)}
    return [made[checkpoint.step] for checkpoint in checkpoints if checkpoint.step in made]


def _cost(had: Sequence[Span], prices: Mapping[str, float]) -> tuple[Json, Missing]:
    wanted = sorted({flavor for span in had for flavor, count in span.gpus.items() if count})
    if not wanted:
        return None, []
    lacking = [flavor or "(none)" for flavor in wanted if flavor not in prices]
    if lacking:
        return None, [("usage.cost", f"no price of a GPU hour is known for flavor {', '.join(lacking)}")]
    amount = sum((span.end - span.start) / 3600 * count * prices[flavor] for span in had for flavor, count in span.gpus.items())
    table: dict[str, Json] = dict(sorted(prices.items()))
    return {"amount": round(amount, 6), "priceTable": f"sha256:{digest(table)}"}, []


def metrics(said: Mapping[str, Json]) -> dict[str, Json]:
    """The last, least and greatest value of each metric of the program, when it wrote the first and the last, and what Prometheus had."""
    rows = sorted(_rows(said.get("rows")), key=lambda row: (row[0], row[1], sorted((name, repr(value)) for name, value in row[2].items())))
    final: dict[str, Json] = {}
    best: dict[str, dict[str, Json]] = {}
    for step, _, values in rows:
        for name, value in values.items():
            final[name] = value
            found = best.setdefault(name, {"min": {"step": step, "value": value}, "max": {"step": step, "value": value}})
            for which, better in (("min", value < _value(found["min"])), ("max", value > _value(found["max"]))):
                if better:
                    found[which] = {"step": step, "value": value}
    samples = said.get("samples")
    listed = [_finite(one) for one in samples if isinstance(one, dict)] if isinstance(samples, list) else []
    return {
        "final": final,
        "best": {**best},
        "rows": len(rows),
        "steps": max((step for step, _, _ in rows), default=None),
        "first": _stamp(min((time for _, time, _ in rows), default=None)),
        "latest": _stamp(max((time for _, time, _ in rows), default=None)),
        "samples": [*sorted(listed, key=digest)],
    }


def _rows(rows: Json) -> list[tuple[int, float, dict[str, float]]]:
    """(step, time, finite numbers by name) of each row of a history."""
    out = []
    for row in rows if isinstance(rows, list) else []:
        step, time = (row.get(key) if isinstance(row, dict) else None for key in ("_step", "_timestamp"))
        if isinstance(row, dict) and isinstance(step, int) and isinstance(time, int | float) and abs(step) <= MOST_INTEGER:
            values = {name: value for name, value in row.items() if not name.startswith("_") and _is_number(value)}
            out.append((step, float(time), {name: value for name, value in values.items() if isinstance(value, int | float)}))
    return out


def _is_number(value: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float) or (isinstance(value, int) and abs(value) > MOST_INTEGER):
        return False
    return math.isfinite(value)


def _finite(sample: Mapping[str, Json]) -> dict[str, Json]:
    return {name: (None if isinstance(value, float) and not math.isfinite(value) else value) for name, value in sample.items()}


def _value(bound: Json) -> float:
    value = bound.get("value") if isinstance(bound, dict) else None
    return value if isinstance(value, int | float) else math.nan


def _amount(text: str | float) -> float:
    try:
        return float(parse(text))
    except QuantityError:
        return 0.0


def _number(value: float) -> int | float:
    """As JSON should have it: whole where it is."""
    return int(value) if value == int(value) else round(value, 3)


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()


def _stamp(time: float | None) -> str | None:
    if time is None or not 0 < time < 1e11:
        return None
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
