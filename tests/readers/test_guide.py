"""The guide to evidence shows what really happens: its console blocks are played in a published repository, one after the other.

A line that starts with `$ ` is a command, what follows is its output; `...` alone stands for output that is left out.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from taugen.evidence import record
from taugen.evidence.record import Extras
from taugen.evidence.store import Checkpoint
from tests.gitkit import git
from tests.readers import kit
from tests.readers.kit import ADMITTED, SUCCEEDED, body, crashed, events

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "evidence.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COLUMNS = """
observed_at observation_id run_id durable_id workspace_id result_scope project run_group_id tags
owning_resource_kind owning_resource_name namespace cluster local_queue cluster_queue workload_kind
resource_uid resource_version generation submit_time created_time kueue_admitted_time pod_start_time
first_metric_time latest_metric_time completion_time state reason message artifact_uri checkpoint_uri image
image_digest config_hash code_sha tau_command result_path result_pvc experiment_tracking experiment_source
controller_version
"""


def steps():
    """(command, expected lines) of all blocks."""
    found = []
    for line in "\n".join(match[1] for match in BLOCK.finditer(GUIDE.read_text())).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.strip():
            found[-1][1].append(line)
    return found


def shaped(lines):
    """Without abbreviated commit ids, which change with the compiler's version."""
    return [re.sub(r"\b[0-9a-f]{12}\b", "COMMIT", line) for line in lines if line.strip()]


def ended(run, number, told, state, **more):
    """The files of an attempt that has its record."""
    import yaml

    attempt = run.attempt(number)
    happened = events(told, uid=f"{run.run}-{number}")
    made = record.build(attempt, yaml.safe_load(state), happened, Extras(collector="0.1.0", **more))
    return {event.path(attempt): event.content() for event in happened} | {attempt.record: record.content(made)}


@pytest.fixture
def story(lab):
    """climate failed, was tried again and succeeded; protein waits; speech was not seen yet."""
    from taugen.evidence import trailers

    fleet, runs, evidence = lab
    climate, protein = runs["climate"], runs["protein"]
    state = body(fleet, climate)
    log = climate.attempt(1).log("x-0", "main", 0)
    printed = b"epoch 1\nepoch 2\nepoch 3\nCUDA error: an illegal memory access was encountered\n"
    queue = [*ADMITTED[:2], ("13:00:40", "inadmissible", {"reason": "WaitingForQuota", "message": "4 more cpu are needed"})]
    waits = [(f"13:00:{30 + n}", kind, data) for n, (_, kind, data) in enumerate(queue)]
    marks = [Checkpoint(200, "/checkpoints/downscale/step-200", bytes=1024)]
    parts = [
        ({climate.intent: state.encode(), **ended(climate, 1, crashed(), state, checkpoints=marks), log: printed}, "11:01:00"),
        (ended(climate, 2, SUCCEEDED, state), "13:00:10"),
        ({protein.intent: body(fleet, protein).encode()}
         | {event.path(protein.attempt(1)): event.content() for event in events(waits)}, "13:01:00"),
    ]  # fmt: skip
    for files, time in parts:
        evidence.commit("mesa", files, f"{kit.DAY}T{time}Z", trailers.message("evidence", trailers.of(files)))
    return fleet


def test_the_guide_shows_what_happens(story, taugen, tmp_path, home):
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "taugen").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m taugen "$@"\n')
    (bin_ / "taugen").chmod(0o755)
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    env = {**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "PWD": str(story.path)}
    git(story.path, "config", "uploadpack.allowFilter", "true")
    git(story.path, "config", "uploadpack.allowAnySHA1InWant", "true")
    played = steps()
    assert len(played) > 15
    for words, expected in played:
        if words.startswith("taugen "):
            # In this process, where the clock stands still.
            done = taugen(*shlex.split(words.replace("$PWD", str(story.path)))[1:], cwd=story.path)
            code, out, err = done.code, done.out, done.err
        else:
            ran = subprocess.run(["sh", "-ec", words], cwd=story.path, env=env, capture_output=True, text=True, check=False)
            code, out, err = ran.returncode, ran.stdout, ran.stderr
        assert code == 0, f"{words}\n{out}{err}"
        if expected != ["..."]:
            assert shaped((out + err).splitlines()) == shaped(expected), words


def test_every_column_of_taugrid_has_its_place():
    columns = COLUMNS.split()
    rows = re.findall(r"^\| ([a-z_, ]+) \| (.+) \|$", GUIDE.read_text(), re.MULTILINE)
    named = {column: field for names, field in rows for column in names.split(", ")}
    assert not set(columns) - set(named)


def test_the_fields_of_the_table_are_in_a_record():
    state = {
        "run": "a/b/01234567", "experiment": {"project": "p", "group": "g"}, "model": {"tags": ["x"]}, "output": "s3://o",
        "mounts": {"/d": "c"}, "request": {"kind": "job"},
    }  # fmt: skip
    attempt = kit.RunKey("mesa", "a", "b-01234567").attempt(1)
    made = record.build(attempt, state, events(crashed()), Extras())
    table = GUIDE.read_text().partition("## From TauGrid's columns")[2].partition("\n## ")[0]
    fields = [field for field in re.findall(r"`([a-z]+\.[A-Za-z.]+)`", table) if field != "record.json"]
    assert len(fields) > 25
    for field in fields:
        value = made
        for name in field.split("."):
            assert name in value or value == {}, field
            value = value.get(name) or {}
