"""A Workflow Run RO-Crate (Process Run profile): each attempt a CreateAction, with the records themselves.

In: sources. Out: ``ro-crate-metadata.json`` and ``records/…``. What must never happen: a file that the crate names and lacks; an entity
named twice.
"""

import json
from collections.abc import Sequence

from taugen.evidence.export.source import PRODUCER, Source, sha256_of
from taugen.words import Json

_CONTEXT = ("https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context")
_PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
_DONE, _FAILED = "http://schema.org/CompletedActionStatus", "http://schema.org/FailedActionStatus"


def files(sources: Sequence[Source]) -> dict[str, bytes]:
    """The crate."""
    records = {f"records/{one.attempt.record}": one.raw for one in sources}
    entities: dict[str, dict[str, Json]] = {}
    for one in sources:
        for entity in _entities(one):
            entities.setdefault(str(entity["@id"]), entity)
    actions: list[Json] = [{"@id": f"#{one.attempt.of.cluster}/{one.attempt.object}"} for one in sources]
    parts: list[Json] = [{"@id": path} for path in records]
    newest = max((one.ended for one in sources), default="")
    root: dict[str, Json] = {
        "@id": "./", "@type": "Dataset", "name": "Evidence of training runs",
        "description": "Attempts of runs, from taugen's evidence branch.",
        "datePublished": newest or "1970-01-01T00:00:00Z", "license": "not stated", "conformsTo": {"@id": _PROFILE},
        "hasPart": parts, "mentions": actions,
    }  # fmt: skip
    graph: list[Json] = [
        {
            "@id": "ro-crate-metadata.json", "@type": "CreativeWork", "about": {"@id": "./"},
            "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        },
        root,
        {"@id": _PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"},
        *(entities[key] for key in sorted(entities)),
    ]  # fmt: skip
    text = json.dumps({"@context": [*_CONTEXT], "@graph": graph}, indent=2, sort_keys=True, ensure_ascii=False)
    return {"ro-crate-metadata.json": text.encode() + b"\n", **records}


def _entities(one: Source) -> list[dict[str, Json]]:
    objects, results = [_thing(part) for part in one.parts("inputs") if part.get("uri")], _results(one)
    agent: dict[str, Json] = {"@id": f"#workspace/{one.attempt.of.workspace}", "@type": "Organization", "name": one.attempt.of.workspace}
    image, program = _image(one), _program(one)
    record = f"records/{one.attempt.record}"
    action: dict[str, Json] = {
        "@id": f"#{one.attempt.of.cluster}/{one.attempt.object}",
        "@type": "CreateAction",
        "name": f"{one.run_id}, attempt {one.attempt.number}, on {one.attempt.of.cluster}",
        "instrument": {"@id": program["@id"]},
        "agent": {"@id": agent["@id"]},
        "object": [{"@id": thing["@id"]} for thing in objects],
        "result": [{"@id": thing["@id"]} for thing in results],
        "actionStatus": _DONE if one.state == "succeeded" else _FAILED,
        "subjectOf": {"@id": record},
    }
    action |= {name: time for name, time in (("startTime", one.started), ("endTime", one.ended)) if time}
    if one.state != "succeeded":
        why = (one.text("execution.reason"), one.text("execution.message"))
        action["error"] = ": ".join(text for text in why if text) or one.state or "not seen to end"
    if image is not None:
        action["containerImage"] = {"@id": image["@id"]}
    about: dict[str, Json] = {"@id": record, "@type": "File", "name": "record", "encodingFormat": "application/json", "sha256": one.digest}
    about["contentSize"] = str(len(one.raw))
    return [action, agent, program, about, *objects, *results, *([image] if image is not None else [])]


def _program(one: Source) -> dict[str, Json]:
    """What ran: the code of a commit."""
    commit = one.text("intent.commit")
    repository = one.text("intent.repository")
    out: dict[str, Json] = {"@id": f"#code/{one.job}/{commit or one.attempt.of.run}", "@type": "SoftwareApplication", "name": one.job}
    out["softwareVersion"] = commit or one.attempt.of.run
    return {**out, "url": repository} if repository else {**out, "url": PRODUCER}


def _image(one: Source) -> dict[str, Json] | None:
    named = one.text("runtime.image")
    pulled = sorted(str(image) for found in one.part("runtime.imageDigests").values() if isinstance(found, list) for image in found)
    image = pulled[0] if pulled else named
    if not image:
        return None
    out: dict[str, Json] = {"@id": f"#image/{image}", "@type": "ContainerImage", "name": named or image}
    out["additionalType"] = {"@id": "https://w3id.org/ro/terms/workflow-run#DockerImage"}
    digest = sha256_of(image)
    return {**out, "sha256": digest} if digest else out


def _thing(part: dict[str, Json]) -> dict[str, Json]:
    uri = str(part["uri"])
    out: dict[str, Json] = {"@id": uri if "://" in uri else f"#{uri}", "@type": "CreativeWork", "name": uri}
    digest = sha256_of(part.get("digest"))
    return {**out, "sha256": digest} if digest else out


def _results(one: Source) -> list[dict[str, Json]]:
    found = [part for part in one.parts("checkpoints") if part.get("uri")]
    return [{**_thing(part), "description": f"checkpoint of step {part.get('step')}"} for part in found]
