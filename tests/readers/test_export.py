"""Exports are read by the libraries whose forms they are; their bytes stay as the golden files have them.

Without tests/readers/golden/FORM the tests write it and fail: look at it then, and commit it.
"""

import json
import re
from pathlib import Path

import pytest

from taugen.evidence import record
from taugen.evidence.export.source import identifier
from taugen.evidence.paths import RunKey
from taugen.evidence.record import Extras
from taugen.evidence.store import Checkpoint
from tests.readers.kit import SUCCEEDED, crashed, events

GOLDEN = Path(__file__).parent / "golden"
VERSIONS = {"kubernetes": "v1.36.3", "declared": {"kueue": "0.19"}}
FORMS = ("mlflow", "openlineage", "intoto", "rocrate")
RUN = RunKey("mesa", "climate", "downscale-7719c4dd")
STATE = {
    "run": "climate/downscale/7719c4dd",
    "phase": "live",
    "intent": {
        "source": "workspaces/climate/downscale/tau.yaml", "commit": "f4f89d3d3d1233799535dfba2815074cbd48b6c8", "digest": "7719c4dd" * 8,
        "code": "aa" * 32, "policy": "71" * 32, "compiler": "0.1.0", "repository": "https://git.tern.example/lab", "author": "Ada",
    },
    "object": RUN.run,
    "cluster": "mesa",
    "attempt": 1,
    "request": {"kind": "job", "nodes": 2, "gpus": 8, "gpuClass": "h200-141gb", "profile": "h200-node", "image": "registry/torch:2"},
    "output": "s3://tern/out/downscale",
    "datasets": [{"uri": "s3://tern/era5/", "version": "2026-01"}],
    "experiment": {
        "name": "downscaling", "seed": 7, "hyperparameters": {"lr": 0.002, "model": {"depth": 4, "act": "gelu"}, "gates": [1, 2]},
    },
}  # fmt: skip
METRICS = [{"_step": n, "_timestamp": 1777896000 + 60 * n, "loss": 1 / n, "loss/val": 2 / n, "note": "x"} for n in range(1, 4)]


def attempt(number, told, *, ended_well):
    key = RUN.attempt(number)
    happened = events(told, uid=f"u-{number}")
    checkpoints = [Checkpoint(100 * n, f"/checkpoints/downscale/{100 * n}", f"sha256:{n:064x}" if ended_well else None, 10) for n in (1, 2)]
    logs = [{"path": key.log("x-0", "main", 0), "sha256": "cd" * 32, "bytes": 10, "redactions": 1}]
    extras = Extras(checkpoints=checkpoints, metrics={"rows": METRICS}, logs=logs, platform=VERSIONS, collector="0.1.0")
    made = record.build(key, STATE, happened, extras)
    files = {event.path(key): event.content() for event in happened} | {key.record: record.content(made)}
    return files | {key.series("metrics", 0): b"".join(json.dumps(row).encode() + b"\n" for row in METRICS)}


@pytest.fixture
def ended(lab):
    """climate failed, was tried again, and succeeded."""
    fleet, _, evidence = lab
    files = attempt(1, crashed(), ended_well=False) | attempt(2, SUCCEEDED, ended_well=True)
    evidence.commit("mesa", {**files, RUN.intent: b"run: climate/downscale/7719c4dd\n"})
    return fleet


def exported(taugen, fleet, form, folder):
    done = taugen("evidence", "export", "climate/downscale", "--as", form, "-o", str(folder), cwd=fleet.path)
    assert done.code == 0, done.err
    assert f"2 attempts were written to {folder}" in done.err
    return folder


def bytes_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("form", FORMS)
def test_the_bytes_are_those_of_the_golden_files(ended, taugen, tmp_path, form):
    first = bytes_of(exported(taugen, ended, form, tmp_path / "one"))
    assert bytes_of(exported(taugen, ended, form, tmp_path / "two")) == first
    every = taugen("evidence", "export", "--all", "--as", form, "-o", str(tmp_path / "all"), cwd=ended.path)
    assert (every.code, bytes_of(tmp_path / "all")) == (0, first)
    golden = GOLDEN / form
    if not golden.is_dir():
        for path, content in first.items():
            (golden / path).parent.mkdir(parents=True, exist_ok=True)
            (golden / path).write_bytes(content)
        pytest.fail(f"{golden} was written: look at it, commit it")
    assert first == bytes_of(golden)


def test_mlflow_loads_runs_params_and_metrics(ended, taugen, tmp_path, monkeypatch):
    pytest.importorskip("mlflow", reason="pip install 'taugen[exports]'")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=exported(taugen, ended, "mlflow", tmp_path / "m").as_uri())
    (experiment,) = client.search_experiments()
    assert experiment.name == "climate"
    found = {run.data.tags["mlflow.runName"]: run for run in client.search_runs([experiment.experiment_id])}
    assert set(found) == {"climate/downscale/7719c4dd", f"{RUN.run}-1", f"{RUN.run}-2"}
    parent, first, second = (found[name] for name in ("climate/downscale/7719c4dd", f"{RUN.run}-1", f"{RUN.run}-2"))
    assert [run.data.tags["mlflow.parentRunId"] for run in (first, second)] == [parent.info.run_id] * 2
    assert [run.info.status for run in (parent, first, second)] == ["FINISHED", "FAILED", "FINISHED"]
    assert second.data.params == {
        "lr": "0.002", "model.depth": "4", "model.act": "gelu", "gates": "[1,2]", "seed": "7",
        "request.nodes": "2", "request.gpus": "8", "request.gpuClass": "h200-141gb", "request.profile": "h200-node",
    }  # fmt: skip
    history = client.get_metric_history(second.info.run_id, "loss/_")
    assert [(point.step, point.timestamp, point.value) for point in history] == [
        (row["_step"], row["_timestamp"] * 1000, row["loss"]) for row in METRICS
    ]
    assert second.data.metrics["loss/val"] == METRICS[-1]["loss/val"]
    assert second.data.tags["mlflow.source.git.commit"] == STATE["intent"]["commit"]
    assert second.info.end_time - second.info.start_time == (3 * 3600 - 5 * 60 + 5) * 1000


def test_openlineage_takes_its_events(ended, taugen, tmp_path):
    pytest.importorskip("openlineage.client", reason="pip install 'taugen[exports]'")
    from openlineage.client import event_v2, facet_v2
    from openlineage.client.serde import Serde

    text = (exported(taugen, ended, "openlineage", tmp_path / "o") / "events.ndjson").read_text()
    said = [json.loads(line) for line in text.splitlines()]
    assert [one["eventType"] for one in said] == ["START", "START", "FAIL", "COMPLETE"]
    facets = {
        "parent": lambda f: facet_v2.parent_run.ParentRunFacet(
            run=facet_v2.parent_run.Run(**f["run"]), job=facet_v2.parent_run.Job(**f["job"])
        ),
        "errorMessage": lambda f: facet_v2.error_message_run.ErrorMessageRunFacet(**f),
        "jobType": lambda f: facet_v2.job_type_job.JobTypeJobFacet(**f),
        "sourceCodeLocation": lambda f: facet_v2.source_code_location_job.SourceCodeLocationJobFacet(**f),
    }

    def built(found):
        plain = {name: {k: v for k, v in facet.items() if not k.startswith("_")} for name, facet in found.items()}
        return {name: facets[name](facet) for name, facet in plain.items()}

    for one in said:
        event = event_v2.RunEvent(
            eventType=event_v2.RunState[one["eventType"]],
            eventTime=one["eventTime"],
            producer=one["producer"],
            run=event_v2.Run(runId=one["run"]["runId"], facets=built(one["run"]["facets"])),
            job=event_v2.Job(**{**one["job"], "facets": built(one["job"]["facets"])}),
            inputs=[event_v2.InputDataset(**found) for found in one["inputs"]],
            outputs=[event_v2.OutputDataset(**found) for found in one["outputs"]],
        )
        theirs = Serde.to_dict(event)
        assert same(theirs, one), (theirs, one)


def unversioned(facet):
    """The schema that a facet names; the library's versions of them grow."""
    return re.sub(r"\d+-\d+-\d+", "", str(facet.get("_schemaURL")))


def same(theirs, ours):
    """Equal, but for who produced a facet and what the library fills in as empty."""
    if isinstance(theirs, dict):
        theirs_alone = {"_producer", "_schemaURL", "facets", "inputFacets", "outputFacets"}
        keys = (theirs.keys() | ours.keys()) - theirs_alone
        assert unversioned(theirs) == unversioned(ours)
        facets = all(same(theirs["facets"][name], facet) for name, facet in ours.get("facets", {}).items())
        return facets and all(same(theirs.get(key), ours.get(key)) for key in keys)
    if isinstance(theirs, list):
        return len(theirs) == len(ours) and all(map(same, theirs, ours))
    return theirs == ours


def test_in_toto_verifies_the_statements(ended, taugen, tmp_path):
    pytest.importorskip("in_toto_attestation", reason="pip install 'taugen[exports]'")
    from google.protobuf import json_format
    from in_toto_attestation.predicates.provenance.v1 import provenance_pb2
    from in_toto_attestation.v1 import statement_pb2
    from in_toto_attestation.v1.statement import Statement

    files = bytes_of(exported(taugen, ended, "intoto", tmp_path / "i"))
    assert set(files) == {f"mesa/{RUN.run}-{number}.intoto.json" for number in (1, 2)}
    subjects = {}
    for path, content in files.items():
        read = json_format.Parse(content, statement_pb2.Statement())
        Statement.copy_from_pb(read).validate()
        provenance = json_format.ParseDict(json_format.MessageToDict(read.predicate), provenance_pb2.Provenance())
        assert provenance.build_definition.external_parameters["run"] == STATE["run"]
        assert provenance.run_details.metadata.finished_on.seconds > provenance.run_details.metadata.started_on.seconds
        assert [dep.digest["gitCommit"] for dep in provenance.build_definition.resolved_dependencies if "gitCommit" in dep.digest]
        subjects[path] = [(subject.name, subject.digest["sha256"]) for subject in read.subject]
    assert subjects[f"mesa/{RUN.run}-2.intoto.json"] == [(f"/checkpoints/downscale/{100 * n}", f"{n:064x}") for n in (1, 2)]
    ((name, digest),) = subjects[f"mesa/{RUN.run}-1.intoto.json"]
    assert (name, len(digest)) == (RUN.attempt(1).record, 64)


def test_rocrate_reads_the_crate(ended, taugen, tmp_path):
    pytest.importorskip("rocrate", reason="pip install 'taugen[exports]'")
    from rocrate.rocrate import ROCrate

    folder = exported(taugen, ended, "rocrate", tmp_path / "c")
    crate = ROCrate(folder)
    actions = {entity.id: entity for entity in crate.get_by_type("CreateAction")}
    second = actions[f"#mesa/{RUN.run}-2"]
    assert second["instrument"]["softwareVersion"] == STATE["intent"]["commit"]
    assert (second["startTime"], second["endTime"]) == ("2026-05-04T10:05:00Z", "2026-05-04T13:00:05Z")
    assert [thing.id for thing in second["result"]] == ["#/checkpoints/downscale/100", "#/checkpoints/downscale/200"]
    assert second["object"][0].id == "s3://tern/era5/"
    assert "error" not in second
    assert actions[f"#mesa/{RUN.run}-1"]["error"] == "BackoffLimitExceeded: it failed"
    assert crate.root_dataset["conformsTo"].id == "https://w3id.org/ro/wfrun/process/0.5"
    for entity in crate.data_entities:
        assert entity.type != "File" or (folder / entity.id).is_file(), entity.id
    assert len([entity for entity in crate.data_entities if entity.type == "File"]) == 2


def test_what_has_no_record_is_no_export(lab, taugen, tmp_path):
    fleet, runs, evidence = lab
    evidence.attempt(runs["climate"], 1, SUCCEEDED, intent="")
    done = taugen("evidence", "export", "climate/downscale", "--as", "intoto", "-o", str(tmp_path / "x"), cwd=fleet.path)
    assert (done.code, "no attempt has ended and been recorded yet" in done.err) == (2, True)
    assert not (tmp_path / "x").exists()
    assert taugen("evidence", "export", "--as", "intoto", "-o", "x", cwd=fleet.path).code == 2


def test_ids_stay_for_ever():
    assert identifier("mlflow", "mesa", "climate", RUN.run, "1") == "fd445ddde9bee522b59c89713f8552c8"
