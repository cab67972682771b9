"""Mounts, output and checkpoints."""

import pytest

from taugen.resolve.run import VolumeMount
from tests.resolve.kit import job, play

MOUNT = "storage: {mounts: [{name: ckpt, storage: checkpoints, path: /checkpoints}]}"


def climate(*lines: str) -> str:
    return job(*lines, gpus=None, profile="h200-node")


def test_data_is_mounted_at_its_own_path_and_results_lie_below_it() -> None:
    run = play(job("storage: {data: audio}")).decided
    assert run.mounts == (VolumeMount("data", "speech-audio", "/data", False, "audio"),)
    assert (run.data_dir, run.output) == ("/data", f"/data/runs/{run.doc.run}")


@pytest.mark.parametrize("name", ["speech-audio", "pvc:speech-audio"])
def test_a_claim_names_its_storage(name: str) -> None:
    assert play(job(f"storage: {{data: '{name}'}}")).decided.mounts[0].storage == "audio"


def test_a_claim_of_nobody_is_named_as_one() -> None:
    assert "storage with the claim other" in play(job("storage: {data: 'pvc:other'}")).one("storage-unknown").message


def test_anothers_storage_is_refused_with_those_that_are_ours() -> None:
    found = play(job("storage: {data: grids}")).one("storage-unknown")
    assert ("audio" in found.message, found.path) == (True, "storage.data")
    assert found.origin is not None


def test_read_only_data_and_a_mount_for_results() -> None:
    run = play(
        climate("storage: {data: grids, mounts: [{name: ckpt, storage: checkpoints, path: /checkpoints}]}"), workspace="climate"
    ).decided
    assert [(m.claim, m.read_only) for m in run.mounts] == [("climate-grids", True), ("checkpoints", False)]
    assert run.output == f"/checkpoints/runs/{run.doc.run}"


def test_without_storage_there_is_no_output() -> None:
    run = play(job()).decided
    assert (run.mounts, run.output, run.data_dir, run.checkpoint) == ((), None, None, None)


@pytest.mark.parametrize(
    ("storage", "rule", "path"),
    [
        ("{data: audio, output: results}", "storage-place", "storage.output"),
        ("{data: audio, output: /data/../etc}", "storage-place", "storage.output"),
        ("{data: audio, output: /elsewhere/x}", "storage-place", "storage.output"),
        ("{mounts: [{name: a, storage: audio, path: data}]}", "mount-path", "storage.mounts[0].path"),
        ("{mounts: [{name: a, storage: audio, path: /tau/x}]}", "mount-path-reserved", "storage.mounts[0].path"),
        ("{mounts: [{name: a, storage: audio, path: /dev/shm}]}", "mount-path-reserved", "storage.mounts[0].path"),
        ("{mounts: [{name: a, storage: audio, path: /}]}", "mount-path-reserved", "storage.mounts[0].path"),
        ("{mounts: [{name: a, storage: nope, path: /a}]}", "storage-unknown", "storage.mounts[0].storage"),
        ("{data: audio, mounts: [{name: data, storage: audio, path: /a}]}", "mount-name-twice", "storage.mounts[0].name"),
        ("{data: audio, mounts: [{name: b, storage: audio, path: /data/}]}", "mount-path-twice", "storage.mounts[0].path"),
    ],
)
def test_places_that_are_refused(storage: str, rule: str, path: str) -> None:
    played = play(job(f"storage: {storage}"))
    assert (played.one(rule).path, played.errors()) == (path, [rule])


def test_results_never_go_to_what_can_only_be_read() -> None:
    found = play(climate("storage: {data: grids, output: /data/x}"), workspace="climate").one("storage-place")
    assert "can only be read" in found.message
    typed = "storage: {mounts: [{name: g, storage: grids, path: /g, read_only: false}]}"
    assert play(climate(typed), workspace="climate").one("storage-read-only").origin is not None


def test_assets_keep_off_mounts_and_each_other() -> None:
    asset = "{{name: {}, image: 'registry.tern.example/v@sha256:" + "4" * 64 + "', source_path: /v, mount_path: {}}}"
    good = play(job("storage: {data: audio, image_assets: [" + asset.format("a", "/assets/a") + "]}")).decided
    assert [(c.name, c.mount_path) for c in good.copies] == [("a", "/assets/a")]
    bad = play(job("storage: {data: audio, image_assets: [" + asset.format("a", "/data/a") + ", " + asset.format("b", "/data") + "]}"))
    assert bad.errors() == ["mount-path-twice"] * 3


def test_checkpoints_lie_where_typed_or_below_the_output() -> None:
    run = play(job("storage: {data: audio}", "checkpoint: {every: 30m, keep: 2}")).decided
    assert run.checkpoint is not None
    assert (run.checkpoint.path, run.checkpoint.resume) == (f"/data/runs/{run.doc.run}/checkpoints", "auto")
    typed = play(job("storage: {data: audio, output: /data/out}", "checkpoint: {path: ckpt, resume: never}")).decided.checkpoint
    assert typed is not None
    assert (typed.path, typed.resume) == ("/data/out/ckpt", "never")
    absolute = play(job("storage: {data: audio}", "checkpoint: {path: /data/x}")).decided.checkpoint
    assert absolute is not None
    assert absolute.path == "/data/x"


def test_checkpoints_need_storage() -> None:
    assert play(job("checkpoint: {every: 30m}")).errors() == ["checkpoint-without-storage"]
    assert play(job("checkpoint: {path: /data/x}")).errors() == ["storage-place"]
    assert play(job("storage: {data: audio}", "checkpoint: {path: ../x}")).errors() == ["checkpoint-path"]


def test_a_missing_storage_is_not_also_a_missing_place() -> None:
    played = play(job("storage: {data: audoi, output: /data/x}", "checkpoint: {path: /data/y}"))
    assert played.errors() == ["storage-unknown"]


def test_defaults_of_the_workspace_are_mounted() -> None:
    policy = """apiVersion: taugen.dev/v1alpha1
kind: Workspace
metadata:
  name: speech
spec:
  namespace: lab-speech
  clusters: [fjord]
  queues: [{name: gpu, queue: research}]
  storage: [audio]
  defaults: {storage: {data: audio}}
"""
    assert play(job(), policy=policy).decided.data_dir == "/data"
    assert play(job("storage: {output: /data/here}"), policy=policy).decided.output == "/data/here"


def test_a_storage_that_could_not_be_read_is_not_also_a_missing_place() -> None:
    for broken in ("data: [audio]", "mounts: [{name: a, storage: audio}]"):
        played = play(job(f"storage: {{{broken}, output: /data/x}}", "checkpoint: {path: /data/y}"))
        assert [rule for rule in played.errors() if rule not in {"value-type", "field-missing"}] == []
        assert played.run is None
