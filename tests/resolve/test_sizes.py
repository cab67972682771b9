"""Sizes of containers, shared memory, RDMA devices."""

import pytest

from tests.resolve.kit import job, play, rayjob

FREE = """apiVersion: taugen.dev/v1alpha1
kind: Workspace
metadata:
  name: speech
spec:
  namespace: lab-speech
  clusters: [fjord]
  queues: [{name: gpu, queue: research, default: true}]
"""


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (job(), ("8", "64Gi", "16Gi")),
        (job(gpus=0), ("1", "2Gi", None)),
        (rayjob("compute: {gpus: 0}"), ("2", "8Gi", "4Gi")),
        (rayjob("schema_version: 1", "compute: {gpus: 0}"), ("1", "4Gi", "2Gi")),
        (rayjob("compute: {gpus: 1, memory: 20Gi}"), ("8", "20Gi", "10Gi")),
        (rayjob("compute: {gpus: 1, shm_size: 30Gi}"), ("8", "64Gi", "30Gi")),
        (job("compute: {gpus: 0, memory: 1}", gpus=None), ("1", "1", None)),
    ],
)
def test_what_nobody_says(text: str, size: tuple[str, str, str | None]) -> None:
    run = play(text, policy=FREE).decided
    assert (run.worker.cpu, run.worker.memory, run.shm) == size
    assert (run.worker.cpu_limit, run.worker.memory_limit) == (None, run.worker.memory)


def test_defaults_of_the_workspace_stand_before_the_built_in_ones() -> None:
    policy = (
        FREE
        + "  defaults: {compute: {cpus: 4, memory: 32Gi, cpu_limit: 6, memory_limit: 40Gi, disk: 10Gi, head: {cpus: 3, memory: 9Gi}}}\n"
    )
    run = play(rayjob("compute: {gpus: 1}"), policy=policy).decided
    assert (run.worker.cpu, run.worker.memory, run.worker.cpu_limit, run.worker.memory_limit) == ("4", "32Gi", "6", "40Gi")
    assert run.worker.disk == "10Gi"
    assert run.head is not None
    assert (run.head.cpu, run.head.memory) == ("3", "9Gi")
    larger = play(rayjob("compute: {gpus: 1, cpus: 8, memory: 64Gi}"), policy=policy).decided
    assert (larger.worker.cpu_limit, larger.worker.memory_limit) == ("8", "64Gi")


def test_a_limit_alone_is_the_request_too() -> None:
    run = play(job("compute: {gpus: 0, cpu_limit: 3, memory_limit: 5Gi}", gpus=None), policy=FREE).decided
    assert (run.worker.cpu, run.worker.cpu_limit, run.worker.memory, run.worker.memory_limit) == ("3", "3", "5Gi", "5Gi")


def test_limits_are_not_below_requests() -> None:
    text = rayjob("compute: {gpus: 0, cpus: 4, cpu_limit: 3, memory: 6Gi, memory_limit: 5Gi, head: {memory: 8Gi, memory_limit: 7Gi}}")
    found = [d.path for d in play(text, policy=FREE).findings if d.rule == "limit-below-request"]
    assert sorted(found) == ["compute.cpu_limit", "compute.head.memory_limit", "compute.memory_limit"]


def test_memory_without_a_unit_is_a_warning() -> None:
    played = play(job("compute: {gpus: 0, memory: 64}", gpus=None), policy=FREE)
    assert played.one("memory-without-unit").hint == "write 64Gi for gibibytes"
    assert played.warnings() == ["memory-without-unit"]


def test_rdma_devices() -> None:
    run = play(job("compute: {gpus: 1, rdma: {enabled: true}}", gpus=None), policy=FREE).decided
    assert (run.worker.extended, run.rdma) == ({"nvidia.com/gpu": 1, "rdma/rdma_shared_device_a": 1}, True)
    assert run.shm == "32Gi"
    named = play(job("compute: {gpus: 1, rdma: {resource: rdma/ib, count: 4}}", gpus=None), policy=FREE).decided
    assert named.worker.extended["rdma/ib"] == 4
    off = play(job("compute: {rdma: {enabled: false}}", gpus=None, profile="h200-node"), workspace="climate").decided
    assert (off.rdma, off.worker.extended) == (False, {"nvidia.com/gpu": 8})
    other = play(job("compute: {rdma: {count: 4}}", gpus=None, profile="h200-node"), workspace="climate").one("profile-limit")
    assert (other.path, other.message) == ("compute.rdma.count", "count is 4, and profile h200-node fixes it at 8")


def test_defaults_fill_rdma_field_by_field_for_gpu_runs_alone() -> None:
    policy = FREE + "  defaults: {compute: {workers: 3, rdma: {resource: rdma/ib, count: 2}, head: {cpus: 3}}}\n"
    gpu = play(rayjob("compute: {gpus: 1, rdma: {enabled: true}}"), policy=policy).decided
    assert (gpu.worker.extended, gpu.nodes) == ({"nvidia.com/gpu": 1, "rdma/ib": 2}, 3)
    assert play(rayjob("compute: {gpus: 1, rdma: {count: 4}, workers: 2}"), policy=policy).decided.worker.extended["rdma/ib"] == 4
    cpu = play(job(gpus=0), policy=policy).decided
    assert (cpu.worker.extended, cpu.nodes) == ({}, 1), "workers are Ray's"


def test_a_platform_fills_what_a_workspace_leaves_out_of_a_part() -> None:
    head = "kind: Platform\nmetadata: {name: tern}\nspec: {defaults: {compute: {head: {cpus: 5, memory: 20Gi}}}}\n"
    platform = f"apiVersion: taugen.dev/v1alpha1\n{head}"
    policy = FREE + "  defaults: {compute: {head: {cpus: 3}}}\n---\n" + platform
    found = play(rayjob("compute: {gpus: 1}"), policy=policy).decided.head
    assert found is not None
    assert (found.cpu, found.memory) == ("3", "20Gi")
