"""Every event that is exported is one by OpenLineage's schema, whatever the record holds."""

import json
from copy import deepcopy

import pytest

from taugen.evidence.export import files
from taugen.evidence.export.source import Source
from tests.readers.openlineage import faults
from tests.readers.test_export import RUN, STATE, ended, exported  # noqa: F401

# ruff: noqa: F811
RECORD = {
    "id": {"run": STATE["run"]},
    "intent": {"repository": "https://git.tern.example/lab", "path": "a/tau.yaml", "commit": "f4" * 20},
    "admission": {"admitted": "2026-05-04T10:05:00Z"},
    "execution": {"submitted": "2026-05-04T10:00:00Z", "ended": "2026-05-04T13:00:05.250Z", "state": "succeeded"},
    "inputs": [{"uri": "s3://tern/era5/"}, {"uri": "/data/plain"}, {"uri": "hf://org/set"}, {"uri": "pvc://"}],
    "checkpoints": [{"uri": "/c/1"}],
    "request": {"output": "s3://tern"},
}


def said(**changes):
    """The events of a record with other sections."""
    record = {**deepcopy(RECORD), **changes}
    lines = files("openlineage", [Source(RUN.attempt(2), record, b"{}")])["events.ndjson"].splitlines()
    return [json.loads(line) for line in lines]


def test_what_is_exported_is_valid(ended, taugen, tmp_path):
    lines = (exported(taugen, ended, "openlineage", tmp_path / "o") / "events.ndjson").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    assert len(events) == 4
    assert [faults(event) for event in events] == [[]] * 4


@pytest.mark.parametrize("state", ["succeeded", "failed", "cancelled", "deactivated", "validation-failed", ""])
@pytest.mark.parametrize("reason", [None, "BackoffLimitExceeded"])
def test_every_end_is_valid(state, reason):
    execution = {**RECORD["execution"], "state": state, **({"reason": reason} if reason else {})}
    events = said(execution=execution)
    assert next(event["eventType"] for event in events) == "START"
    assert [faults(event) for event in events] == [[], []]


@pytest.mark.parametrize("section", sorted(RECORD))
def test_a_record_without_a_section_is_valid(section):
    assert [fault for event in said(**{section: None}) for fault in faults(event)] == []


@pytest.mark.parametrize(
    ("repository", "url"),
    [
        ("https://git.tern.example/lab", "https://git.tern.example/lab"),
        ("ssh://git@git.tern.example:2222/lab.git", "ssh://git@git.tern.example:2222/lab.git"),
        ("git@git.tern.example:lab/runs.git", "ssh://git@git.tern.example/lab/runs.git"),
        ("git.tern.example:/srv/lab.git", "ssh://git.tern.example/srv/lab.git"),
        ("/srv/git/lab runs.git", "file:///srv/git/lab%20runs.git"),
        ("../lab", None),
        ("C:\\lab", None),
        ("", None),
    ],
)
def test_where_the_sources_are_is_a_uri_or_left_out(repository, url):
    """Git's short form of an address is none (git-clone, Git URLs)."""
    for event in said(intent={**RECORD["intent"], "repository": repository}):
        assert faults(event) == []
        place = event["job"]["facets"].get("sourceCodeLocation")
        assert (place and (place["url"], place["repoUrl"])) == ((url, repository) if url else None)


def broken(event):
    """The event, with one thing wrong at a time."""
    for name in ("eventTime", "eventType", "producer", "schemaURL", "run", "job"):
        yield {key: value for key, value in event.items() if key != name}
    yield {**event, "eventTime": "2026-05-04 10:05"}
    yield {**event, "eventTime": "yesterday"}
    yield {**event, "eventType": "DONE"}
    yield {**event, "producer": "taugen"}
    yield {**event, "run": {**event["run"], "runId": "7"}}
    yield {**event, "job": {"namespace": "mesa"}}
    yield {**event, "inputs": [{"name": "x"}]}
    yield {**event, "run": {**event["run"], "facets": {"parent": {"run": {}}}}}
    yield {**event, "job": {**event["job"], "facets": {"jobtype": {}}}}


def test_the_schema_finds_what_is_wrong():
    """Else it would prove nothing."""
    event = said()[0]
    assert faults(event) == []
    cases = list(broken(event))
    assert len(cases) == 15
    assert [case for case in cases if not faults(case)] == []
