"""MLflow's file store: an experiment a workspace, a run a run, a child run an attempt.

In: sources. Out: the files that MLflow's client reads when its tracking URI is the folder. Hyperparameters become params, the metrics'
history metrics with step and time; everything else tags. What must never happen: an id that changes from one export to the next.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from taugen.evidence.export.source import Source, flat, identifier, milliseconds
from taugen.words import Json
from taugen.words.emit import emit

_FINISHED, _FAILED, _KILLED = 3, 4, 5
_STATUS = {"succeeded": _FINISHED, "cancelled": _KILLED, "deactivated": _KILLED}
"""As mlflow.entities.RunStatus numbers them; others have failed."""
_LONGEST_PARAM = 6000
"""mlflow.utils.validation, MAX_PARAM_VAL_LENGTH."""
_NOT_NAME = re.compile(r"[^\w\-. :/]", re.ASCII)
_Value = TypeVar("_Value")
_TIMES = ("admission.queued", "admission.reserved", "admission.admitted", "execution.submitted", "execution.started", "execution.ended")


def files(sources: Sequence[Source]) -> dict[str, bytes]:
    """The store."""
    out: dict[str, bytes] = {}
    runs: dict[str, list[Source]] = {}
    for one in sources:
        runs.setdefault(f"{one.attempt.of.cluster}/{one.run_id}", []).append(one)
        out |= _experiment(one)
    for tried in runs.values():
        out |= _parent(tried)
        for one in tried:
            out |= _attempt(one)
    return out


def experiment_id(workspace: str) -> str:
    """The number of a workspace's experiment: MLflow takes decimal digits."""
    return str(int(identifier("experiment", workspace)[:15], 16))


def run_id(one: Source, *, parent: bool = False) -> str:
    """MLflow's id of an attempt, or of the run that it belongs to."""
    run = one.attempt.of
    return identifier("mlflow", run.cluster, run.workspace, run.run, "" if parent else str(one.attempt.number))


def _experiment(one: Source) -> dict[str, bytes]:
    workspace = one.attempt.of.workspace
    number = experiment_id(workspace)
    meta: dict[str, Json] = {"artifact_location": number, "experiment_id": number, "lifecycle_stage": "active", "name": workspace}
    return {f"{number}/meta.yaml": emit(meta).encode()}


def _parent(tried: Sequence[Source]) -> dict[str, bytes]:
    last = tried[-1]
    tags = {"mlflow.runName": last.run_id, **_common(last), "tau.attempts": str(len(tried))}
    starts = [one.started for one in tried if one.started]
    return _run(last, run_id(last, parent=True), last.run_id, min(starts, default=""), tags) | _params(last, run_id(last, parent=True))


def _attempt(one: Source) -> dict[str, bytes]:
    own = run_id(one)
    tags = {"mlflow.runName": one.attempt.object, "mlflow.parentRunId": run_id(one, parent=True), **_common(one)}
    tags |= {"tau.attempt": str(one.attempt.number), "tau.record": one.attempt.record, "tau.record.sha256": one.digest}
    tags |= {f"tau.{name}": text for path in _TIMES for name, text in [(path.partition(".")[2], one.text(path))] if text}
    tags |= {f"tau.usage.{name}": text for name, text in flat(one.part("usage"))}
    made = _run(one, own, one.attempt.object, one.started, tags) | _params(one, own) | _metrics(one, own)
    return made | {f"{experiment_id(one.attempt.of.workspace)}/{own}/artifacts/record.json": one.raw}


def _common(one: Source) -> dict[str, str]:
    """Tags that attempts and runs share."""
    images = sorted(str(image) for found in one.part("runtime.imageDigests").values() if isinstance(found, list) for image in found)
    told = {
        "mlflow.user": one.text("intent.author") or one.attempt.of.workspace,
        "mlflow.source.type": "PROJECT",
        "mlflow.source.name": one.text("intent.repository") or one.text("intent.path"),
        "mlflow.source.git.commit": one.text("intent.commit"),
        "mlflow.source.git.repoURL": one.text("intent.repository"),
        "mlflow.docker.image.uri": one.text("runtime.image"),
        "mlflow.docker.image.id": images[0] if images else "",
        "tau.run": one.run_id,
        "tau.cluster": one.attempt.of.cluster,
        "tau.document": one.text("intent.path"),
        "tau.digest": one.text("intent.digest"),
        "tau.policy": one.text("intent.policy"),
        "tau.state": one.state,
        "tau.reason": one.text("execution.reason"),
    }
    return {name: text for name, text in told.items() if text}


def _run(one: Source, own: str, name: str, started: str, tags: dict[str, str]) -> dict[str, bytes]:
    experiment = experiment_id(one.attempt.of.workspace)
    folder = f"{experiment}/{own}"
    output = one.text("request.output")
    meta: dict[str, Json] = {
        "artifact_uri": output if "://" in output else f"{folder}/artifacts",
        "end_time": milliseconds(one.ended) if one.ended else None,
        "entry_point_name": "",
        "experiment_id": experiment,
        "lifecycle_stage": "active",
        "run_id": own,
        "run_name": name,
        "run_uuid": own,
        "source_name": "",
        "source_type": 4,
        "source_version": "",
        "start_time": milliseconds(started) if started else None,
        "status": _STATUS.get(one.state, _FAILED),
        "tags": [],
        "user_id": tags["mlflow.user"],
    }
    # The client takes a folder for a run only where it has these.
    out = {f"{folder}/{part}/": b"" for part in ("artifacts", "metrics", "params")} | {f"{folder}/meta.yaml": emit(meta).encode()}
    return out | {f"{folder}/tags/{tag}": text.encode() for tag, text in sorted(tags.items())}


def _params(one: Source, own: str) -> dict[str, bytes]:
    folder = f"{experiment_id(one.attempt.of.workspace)}/{own}/params"
    given = dict(flat(one.part("intent.experiment").get("hyperparameters")))
    seed = one.at("runtime.seed")
    given |= {"seed": str(seed)} if isinstance(seed, int) else {}
    asked: Json = {key: one.at(f"request.{key}") for key in ("nodes", "gpus", "gpuClass", "profile")}
    given |= dict(flat(asked, "request"))
    named = _free({_named(name): text for name, text in given.items() if name})
    return {f"{folder}/{name}": text[:_LONGEST_PARAM].encode() for name, text in named.items()}


def _metrics(one: Source, own: str) -> dict[str, bytes]:
    folder = f"{experiment_id(one.attempt.of.workspace)}/{own}/metrics"
    series: dict[str, list[str]] = {}
    for name, line in _points(one):
        series.setdefault(_named(name), []).append(line)
    return {f"{folder}/{name}": ("\n".join(lines) + "\n").encode() for name, lines in _free(series).items()}


def _points(one: Source) -> Iterator[tuple[str, str]]:
    """Each value of each row: ``<milliseconds> <value> <step>``."""
    for row in one.rows:
        step, time = row.get("_step"), row.get("_timestamp")
        if isinstance(step, bool) or not isinstance(step, int) or not isinstance(time, int | float):
            continue
        for name, value in row.items():
            if not name.startswith("_") and isinstance(value, int | float) and not isinstance(value, bool):
                yield name, f"{round(time * 1000)} {value!r} {step}"


def _free(values: Mapping[str, _Value]) -> dict[str, _Value]:
    """By names that are files: one that is also a folder of others (``loss`` beside ``loss/val``) stands in that folder as ``_``."""
    folders = {"/".join(parts[:depth]) for parts in (name.split("/") for name in values) for depth in range(1, len(parts))}
    return {f"{name}/_" if name in folders else name: value for name, value in values.items()}


def _named(name: str) -> str:
    """A name that MLflow takes and that stays below its folder."""
    parts = [part for part in _NOT_NAME.sub("_", name).split("/") if part not in ("", ".", "..")]
    return "/".join(parts) or "_"
