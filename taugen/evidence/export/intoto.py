"""in-toto Statements with SLSA provenance: how an attempt made what it made.

In: sources. Out: ``<object>.intoto.json`` an attempt, not signed: the commit that holds the record is. Subjects are the checkpoints whose
digest is known; where there is none, the record itself. What must never happen: a digest that nobody computed.
"""

from collections.abc import Sequence

from taugen.evidence.export.source import PRODUCER, Source, sha256_of
from taugen.words import Json
from taugen.words.canonical import jcs

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = f"{PRODUCER}/attempt/v1"


def files(sources: Sequence[Source]) -> dict[str, bytes]:
    """The statements, by cluster and object."""
    return {f"{one.attempt.of.cluster}/{one.attempt.object}.intoto.json": jcs(statement(one)) + b"\n" for one in sources}


def statement(one: Source) -> dict[str, Json]:
    """The statement of an attempt."""
    subjects: list[Json] = [
        {"name": str(part.get("uri")), "digest": {"sha256": digest}}
        for part in one.parts("checkpoints")
        if (digest := sha256_of(part.get("digest")))
    ]
    record: Json = {"name": one.attempt.record, "digest": {"sha256": one.digest}}
    return {"_type": STATEMENT, "subject": subjects or [record], "predicateType": PREDICATE, "predicate": _provenance(one)}


def _provenance(one: Source) -> dict[str, Json]:
    times = {name: time for name, time in (("startedOn", one.started), ("finishedOn", one.ended)) if time}
    builder: dict[str, Json] = {"id": f"{PRODUCER}/cluster/{one.attempt.of.cluster}"}
    if version := one.text("collector.version"):
        builder["version"] = {"taugen-collector": version}
    return {
        "buildDefinition": {
            "buildType": BUILD_TYPE,
            "externalParameters": {
                "run": one.run_id, "attempt": one.attempt.number, "intent": one.part("intent"), "request": one.part("request"),
            },
            "internalParameters": {"admission": one.part("admission"), "platform": one.part("platform")},
            "resolvedDependencies": _dependencies(one),
        },
        "runDetails": {
            "builder": builder,
            "metadata": {"invocationId": one.text("id.durable") or f"{one.attempt.of.cluster}/{one.attempt.object}", **times},
            "byproducts": _byproducts(one),
        },
    }


def _dependencies(one: Source) -> list[Json]:
    """Code, images as pulled, datasets."""
    out: list[Json] = []
    if commit := one.text("intent.commit"):
        code: dict[str, Json] = {"digest": {"gitCommit": commit}, "name": one.text("intent.path")}
        out.append({**code, "uri": f"git+{one.text('intent.repository')}@{commit}"} if one.text("intent.repository") else code)
    images = {str(image) for found in one.part("runtime.imageDigests").values() if isinstance(found, list) for image in found}
    for image in sorted(images):
        found = sha256_of(image)
        out.append({"uri": f"docker://{image}", "digest": {"sha256": found}} if found else {"uri": f"docker://{image}"})
    for part in one.parts("inputs"):
        if not part.get("uri"):
            continue
        digest = sha256_of(part.get("digest"))
        known: dict[str, Json] = {"digest": {"sha256": digest}} if digest else {}
        out.append({"uri": str(part["uri"]), **known, "annotations": {"verified": part.get("verified") is True}})
    return out


def _byproducts(one: Source) -> list[Json]:
    """The record, logs."""
    out: list[Json] = [{"name": one.attempt.record, "digest": {"sha256": one.digest}, "mediaType": "application/json"}]
    for part in one.parts("logs"):
        digest = sha256_of(part.get("sha256"))
        if digest:
            out.append({"name": str(part.get("path") or part.get("uri") or "log"), "digest": {"sha256": digest}, "mediaType": "text/plain"})
    return out
