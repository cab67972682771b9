"""Whether a file of evidence is what its path says.

In: a path and its content. Out: findings. Each kind of file has one form; whoever wrote it by hand, or changed it, has to hit it exactly.
What must never happen: an exception, whatever the bytes.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256

from taugen.diag import Diagnostic, Severity, Span
from taugen.evidence import event
from taugen.evidence.event import API_VERSION
from taugen.evidence.paths import Place, node_event
from taugen.words import Json, canonical

MOST = {"log": 256 << 10, "metrics": 1 << 20, "checkpoints": 1 << 20}
"""Bytes of a file of each kind."""


def check(path: str, place: Place | None, content: bytes) -> Iterator[Diagnostic]:
    """What is wrong with a file."""
    if place is None:
        if node_event(path) is not None:
            yield from _canonical(path, content)
        return
    if place.kind == "event":
        yield from _event(path, place, content)
    elif place.kind == "record":
        yield from _record(path, place, content)
    elif (most := MOST.get(place.kind)) is not None and len(content) > most:
        yield fault("evidence-content", path, f"it has {len(content)} bytes; the collector writes at most {most}")


def fault(rule: str, path: str, message: str, hint: str = "", severity: Severity = Severity.ERROR) -> Diagnostic:
    """A finding about a file of the branch."""
    return Diagnostic(rule, message, Span(path), hint=hint, severity=severity)


def _event(path: str, place: Place, content: bytes) -> Iterator[Diagnostic]:
    found = event.proven(content)
    if found is None or place.attempt is None:
        known = event.read(content) is not None
        message = "it is not the canonical JSON of its event" if known else "it is no event that this version of taugen knows"
        yield fault("evidence-content", path, message)
    elif found.name != path.rpartition("/")[2]:
        yield fault("evidence-content", path, f"its content is the event {found.name}")


def _canonical(path: str, content: bytes) -> Iterator[Diagnostic]:
    if _parsed(content) is None:
        yield fault("evidence-content", path, "it is not canonical JSON")


@lru_cache(maxsize=2)
def _parsed(content: bytes) -> dict[str, Json] | None:
    """What canonical JSON with a line end says; nobody changes it, since a record is asked for twice."""
    try:
        value = canonical.read(content.removesuffix(b"\n"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and content.endswith(b"\n") else None


def _record(path: str, place: Place, content: bytes) -> Iterator[Diagnostic]:
    record = _parsed(content)
    if record is None:
        yield fault("evidence-content", path, "it is not canonical JSON")
        return
    if record.get("apiVersion") != API_VERSION or place.attempt is None:
        yield fault("evidence-content", path, f"its apiVersion is not {API_VERSION}")
        return
    identity, collector = record.get("id"), record.get("collector")
    said = {**(identity if isinstance(identity, dict) else {})}
    said["collector"] = collector.get("cluster") if isinstance(collector, dict) else None
    run = place.run
    wanted: dict[str, Json] = {"cluster": run.cluster, "collector": run.cluster, "workspace": run.workspace}
    wanted |= {"object": place.attempt.object, "attempt": place.attempt.number}
    for name, value in wanted.items():
        if said.get(name) != value:
            yield fault("evidence-content", path, f"it says {name} {said.get(name)!r}, and stands under {value!r}")


def logs_of(content: bytes) -> Mapping[str, str]:
    """Path -> sha256 of the logs that a record names."""
    record = _parsed(content)
    listed = record.get("logs") if record is not None else None
    out = {}
    for one in listed if isinstance(listed, list) else []:
        path, digest = (one.get(key) if isinstance(one, dict) else None for key in ("path", "sha256"))
        if isinstance(path, str) and isinstance(digest, str):
            out[path] = digest
    return out


def digest(content: bytes) -> str:
    """As records have it."""
    return sha256(content).hexdigest()
