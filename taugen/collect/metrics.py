"""Metrics of an attempt: what the program wrote, and what a Prometheus has.

In: folders of output storage, globs, queries. Out: rows as JSON lines, pieces of at most 1 MiB, and what could not be read. A history row
is a JSON object with an integer `_step` and a finite `_timestamp`. A query is asked as of the attempt's end, so that the answer is the same
whenever it is asked, for as long as Prometheus keeps it. What must never happen: a read outside of the storage's folder, an answer that is
no number taken for one.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from taugen.collect.derive import shape
from taugen.words import Json
from taugen.words.canonical import CanonicalError, jcs

if TYPE_CHECKING:
    import urllib3

MOST = 1 << 20
MOST_ROWS, _MOST_FILES, _LONGEST = 200_000, 10_000, 1 << 20
_PATIENCE = 15.0


@dataclass(frozen=True, slots=True)
class Sample:
    """What a query gave: one series. `labels` tell it from others of the same query."""

    name: str
    value: float
    labels: Mapping[str, str]

    def row(self, time: str) -> dict[str, Json]:
        """Its row."""
        return {"query": self.name, "value": self.value, "labels": {**self.labels}, "time": time}


def history(root: Path, patterns: Iterable[str]) -> Iterator[dict[str, Json]]:
    """The rows of the files below `root` that a glob matches, in the order of their paths. Raises OSError where the folder can't be
    read."""
    wanted = list(patterns)
    # The folder itself may be a mount that a link leads to; nothing below it may lead out.
    top = root.resolve(strict=True)
    paths = sorted(path for path in top.rglob("*") if any(fnmatchcase(path.relative_to(top).as_posix(), glob) for glob in wanted))
    rows = 0
    for path in paths[:_MOST_FILES]:
        if not path.is_file() or not path.resolve().is_relative_to(top):
            continue
        with path.open("rb") as stream:
            while line := stream.readline(_LONGEST):
                found = row(line)
                if found is not None:
                    rows += 1
                    yield found
                    if rows >= MOST_ROWS:
                        return


def row(line: bytes) -> dict[str, Json] | None:
    """A row of a history; None for a line that is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    step, time = found.get("_step"), found.get("_timestamp")
    if isinstance(step, bool) or not isinstance(step, int) or isinstance(time, bool) or not isinstance(time, int | float):
        return None
    return found if math.isfinite(time) and time > 0 else None


def pieces(rows: Iterable[Mapping[str, Json]]) -> list[bytes]:
    """Rows as JSON lines, in pieces of at most `MOST` bytes; rows that JSON can't hold (NaN) lose those values."""
    out: list[bytes] = []
    piece = bytearray()
    for found in rows:
        try:
            line = jcs(dict(found)) + b"\n"
        except CanonicalError:
            line = jcs({key: value for key, value in found.items() if not isinstance(value, float) or math.isfinite(value)}) + b"\n"
        if piece and len(piece) + len(line) > MOST:
            out.append(bytes(piece))
            piece.clear()
        piece += line
    return [*out, bytes(piece)] if piece else out


def ask(url: str, queries: Mapping[str, str], time: str, pool: "urllib3.PoolManager | None" = None) -> tuple[list[Sample], list[str]]:
    """Ask a Prometheus each query as of a time: (samples, names of queries that it did not answer)."""
    from urllib3 import PoolManager

    asked = pool or PoolManager()
    samples: list[Sample] = []
    failed: list[str] = []
    for name, query in sorted(queries.items()):
        found = _answer(asked, f"{url.rstrip('/')}/api/v1/query?{urlencode({'query': query, 'time': time})}")
        if found is None:
            failed.append(name)
        else:
            samples += (sample for series in found if (sample := _sample(name, series)) is not None)
    return samples, failed


def _answer(pool: "urllib3.PoolManager", address: str) -> list[dict[str, Json]] | None:
    """The series of an answer; None if there is none."""
    from urllib3.exceptions import HTTPError

    try:
        answer = pool.request("GET", address, timeout=_PATIENCE, retries=False, redirect=False)
        body = json.loads(answer.data)
    except (HTTPError, OSError, ValueError, RecursionError):
        return None
    if not isinstance(body, dict) or body.get("status") != "success":
        return None
    if shape.text(body, "data", "resultType") in ("scalar", "string"):
        return [{"metric": {}, "value": shape.at(body, "data", "result")}]
    return shape.each(body, "data", "result")


def _sample(name: str, series: Mapping[str, Json]) -> Sample | None:
    value = series.get("value")
    text = value[1] if isinstance(value, list) and len(value) == 2 else None
    try:
        number = float(text) if isinstance(text, str) else math.nan
    except ValueError:
        number = math.nan
    labels = {key: label for key, label in shape.mapping(series, "metric").items() if isinstance(label, str)}
    return Sample(name, number, labels) if math.isfinite(number) else None


def filled(query: str, namespace: str, pods: Iterable[str], seconds: int) -> str:
    """A query with $NAMESPACE, $PODS (a regular expression of their names) and $RANGE (how long the attempt ran) put in."""
    names = "|".join(sorted(pods)) or "none"
    return query.replace("$NAMESPACE", namespace).replace("$PODS", names).replace("$RANGE", f"{max(1, seconds)}s")
