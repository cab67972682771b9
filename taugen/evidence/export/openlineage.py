"""OpenLineage run events: START and one terminal event an attempt, each attempt the child of its run.

In: sources. Out: ``events.ndjson``, an event a line, in the order of their times. Names and facets as OpenLineage 2-0-2 has them. What must
never happen: an event with a time that nobody saw: an attempt whose start or end is not known has no such event.
"""

import re
from collections.abc import Sequence
from urllib.parse import quote

from taugen.evidence.export.source import PRODUCER, Source, identifier
from taugen.words import Json
from taugen.words.canonical import jcs

_SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_FACETS = "https://openlineage.io/spec/facets"
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9._~%!$&'()*+,;=:@/?#\[\]-]+")
_SHORT = re.compile(r"(?P<host>(?:[A-Za-z0-9._~-]+@)?[A-Za-z0-9-][A-Za-z0-9.-]+):(?P<path>[^\\].*)")
_ENDS = {"succeeded": "COMPLETE", "cancelled": "ABORT", "deactivated": "ABORT"}


def files(sources: Sequence[Source]) -> dict[str, bytes]:
    """The events."""
    found = [event for one in sources for event in events(one)]
    found.sort(key=lambda event: (str(event["eventTime"]), jcs(event)))
    return {"events.ndjson": b"".join(jcs(event) + b"\n" for event in found)}


def events(one: Source) -> list[dict[str, Json]]:
    """The events of an attempt."""
    out = []
    if one.started:
        out.append(_event(one, "START", one.started))
    if one.ended:
        out.append(_event(one, _ENDS.get(one.state, "FAIL"), one.ended))
    return out


def _event(one: Source, kind: str, time: str) -> dict[str, Json]:
    over = kind != "START"
    inputs: list[Json] = [_dataset(uri) for part in one.parts("inputs") if (uri := part.get("uri"))]
    made = [part.get("uri") for part in one.parts("checkpoints")] + [one.text("request.output")]
    outputs: list[Json] = [_dataset(uri) for uri in made if uri] if over else []
    return {
        "eventType": kind,
        "eventTime": time,
        "producer": PRODUCER,
        "schemaURL": _SCHEMA,
        "run": {"runId": _uuid(one, str(one.attempt.number)), "facets": _run_facets(one, failed=kind == "FAIL")},
        "job": {"namespace": one.attempt.of.cluster, "name": one.job, "facets": _job_facets(one)},
        "inputs": inputs,
        "outputs": outputs,
    }


def _run_facets(one: Source, *, failed: bool) -> dict[str, Json]:
    job: dict[str, Json] = {"namespace": one.attempt.of.cluster, "name": one.job}
    facets: dict[str, Json] = {"parent": _facet("1-1-0/ParentRunFacet", {"run": {"runId": _uuid(one, "")}, "job": job})}
    if failed:
        said = ": ".join(text for text in (one.text("execution.reason"), one.text("execution.message")) if text) or one.state or "failed"
        facets["errorMessage"] = _facet("1-0-1/ErrorMessageRunFacet", {"message": said, "programmingLanguage": "python"})
    return facets


def _job_facets(one: Source) -> dict[str, Json]:
    facets: dict[str, Json] = {
        "jobType": _facet("2-0-4/JobTypeJobFacet", {"processingType": "BATCH", "integration": "TAUGEN", "jobType": "TRAINING"})
    }
    repository = one.text("intent.repository")
    if url := _uri(repository):
        place: dict[str, Json] = {"type": "git", "url": url, "repoUrl": repository}
        place |= {"path": one.text("intent.path"), "version": one.text("intent.commit")}
        facets["sourceCodeLocation"] = _facet("1-0-1/SourceCodeLocationJobFacet", place)
    return facets


def _uri(repository: str) -> str:
    """The address of a repository as the URI that the facet asks for, also where it is in Git's short form ``user@host:path`` or a path
    (git-clone, Git URLs); "" for what is neither, or depends on where one stands."""
    if _URI.fullmatch(repository):
        return repository
    if repository.startswith("/"):
        return f"file://{quote(repository)}"
    short = _SHORT.fullmatch(repository)
    return f"ssh://{short['host']}/{quote(short['path'].lstrip('/'))}" if short is not None else ""


def _facet(which: str, said: dict[str, Json]) -> dict[str, Json]:
    version, _, name = which.partition("/")
    return {"_producer": PRODUCER, "_schemaURL": f"{_FACETS}/{version}/{name}.json#/$defs/{name}", **said}


def _dataset(uri: Json) -> dict[str, Json]:
    """Namespace and name of a URI, as OpenLineage's naming has them: scheme and authority, then the path."""
    scheme, found, rest = str(uri).partition("://")
    if not found:
        return {"namespace": "file", "name": str(uri)}
    authority, _, path = rest.partition("/")
    return {"namespace": f"{scheme}://{authority}" if authority else scheme, "name": path or "/"}


def _uuid(one: Source, number: str) -> str:
    """A UUID of version 8 (RFC 9562: of the maker's own kind) that stands for an attempt, or for its run."""
    run = one.attempt.of
    digits = identifier("openlineage", run.cluster, run.workspace, run.run, number)
    digits = f"{digits[:12]}8{digits[13:16]}{'89ab'[int(digits[16], 16) % 4]}{digits[17:]}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
