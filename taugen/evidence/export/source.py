"""What an export is made of.

In: an evidence branch and attempts. Out: `Source`s: record, its digest, rows of metrics. An attempt without a record is none: it may still
change.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from taugen.evidence.paths import AttemptKey, RunKey, parse
from taugen.evidence.store import Branch
from taugen.words import Json

Row = Mapping[str, Json]
PRODUCER = "https://taugen.dev"


@dataclass(frozen=True)
class Source:
    """An attempt that ended. `raw` are the bytes of its record; `rows` those of its metrics, as the program wrote them."""

    attempt: AttemptKey
    record: Mapping[str, Json]
    raw: bytes
    rows: tuple[Row, ...] = ()

    @property
    def digest(self) -> str:
        """sha256 of the record, in hex."""
        return sha256(self.raw).hexdigest()

    @property
    def run_id(self) -> str:
        """`<workspace>/<name>/<digest8>`."""
        return self.text("id.run") or f"{self.attempt.of.workspace}/{self.attempt.of.run}"

    @property
    def job(self) -> str:
        """`<workspace>/<name>`: what all runs of one name share."""
        return self.run_id.rpartition("/")[0]

    def at(self, path: str) -> Json:
        """A value of the record by its dotted path, or None."""
        value: Json = dict(self.record)
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def text(self, path: str) -> str:
        """A text of the record, or ""."""
        value = self.at(path)
        return value if isinstance(value, str) else ""

    def part(self, path: str) -> dict[str, Json]:
        """A mapping of the record, or {}."""
        value = self.at(path)
        return value if isinstance(value, dict) else {}

    def parts(self, path: str) -> list[dict[str, Json]]:
        """A list of mappings of the record, or []."""
        value = self.at(path)
        return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []

    @property
    def started(self) -> str:
        """When it was admitted, or else submitted; "" if neither was seen."""
        return self.text("admission.admitted") or self.text("execution.submitted") or self.text("admission.queued")

    @property
    def ended(self) -> str:
        """When it ended; "" if that was not seen."""
        return self.text("execution.ended")

    @property
    def state(self) -> str:
        """How it ended, or ""."""
        return self.text("execution.state")


def sources(branch: Branch, attempts: Iterable[AttemptKey]) -> Iterator[Source]:
    """The attempts that have a record. Raises `GitError`."""
    wanted = list(attempts)
    raws = branch.read_many([one.record for one in wanted])
    for attempt, raw in zip(wanted, raws, strict=True):
        record = _mapping(raw)
        if raw is not None and record is not None:
            yield Source(attempt, record, raw, tuple(_rows(branch, attempt)))


def attempts(branch: Branch, runs: Iterable[RunKey]) -> list[AttemptKey]:
    """Every attempt of some runs, sorted."""
    return sorted(attempt for found in branch.attempts_of(runs).values() for attempt in found)


def _rows(branch: Branch, attempt: AttemptKey) -> Iterator[Row]:
    """The history of metrics, in the order of its files and lines."""
    level = branch.folders([attempt.folder])[attempt.folder]
    names = [f"{attempt.folder}/{name}" for name in level]
    places = [(int(path.rsplit(".", 2)[1]), path) for path in names if (place := parse(path)) is not None and place.kind == "metrics"]
    for content in branch.read_many([path for _, path in sorted(places)]):
        for line in (content or b"").splitlines():
            if (row := _mapping(line)) is not None:
                yield row


def _mapping(raw: bytes | None) -> dict[str, Json] | None:
    try:
        value = json.loads(raw) if raw is not None else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def identifier(*parts: str) -> str:
    """32 hex digits that stand for some names, for ever."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def milliseconds(time: str) -> int:
    """Since the epoch."""
    return round(datetime.fromisoformat(time).timestamp() * 1000)


def flat(value: Json, name: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of a tree by dotted name, as texts; lists as JSON."""
    if isinstance(value, dict):
        for key, inner in sorted(value.items()):
            yield from flat(inner, f"{name}.{key}" if name else key)
    elif value is not None:
        yield name, value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"))


def sha256_of(digest: Json) -> str:
    """The hex digits of ``sha256:…``, or "" for what is no such digest."""
    text = digest if isinstance(digest, str) else ""
    algorithm, _, digits = text.rpartition(":")
    return digits if algorithm.rpartition("@")[2] in ("sha256", "") and len(digits) == 64 and set(digits) <= set("0123456789abcdef") else ""
