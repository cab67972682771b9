"""Documents and the fixture's policy become runs with every value decided."""

import pytest

from taugen.resolve.resolve import context_of
from tests.resolve.kit import IMAGE, RAY, job, play, policy_with, rayjob


def test_a_small_job_takes_its_shape_from_the_only_profile_that_admits_it() -> None:
    run = play(job()).decided
    assert (run.profile, run.cluster, run.engine, run.namespace) == ("l40s-small", "fjord", "argocd", "lab-speech")
    assert (run.worker.cpu, run.worker.memory, run.worker.memory_limit, run.worker.cpu_limit) == ("20", "160Gi", "160Gi", None)
    assert run.worker.extended == {"nvidia.com/gpu": 1}
    assert (run.shm, run.gpu_class, run.nodes, run.processes) == ("16Gi", "l40s-48gb", 1, 1)
    assert (run.service_account, run.restricted) == ("speech-runs", False)


def test_what_profile_and_platform_leave_to_the_run() -> None:
    run = play(job("policy: {priority: low}", gpus=2)).decided
    assert (run.placement.tier, run.max_duration, run.grace_period) == ("low", 96 * 3600, 600)
    assert (run.worker.cpu, run.worker.memory) == ("40", "320Gi")


def test_a_run_without_anything_gets_every_finding_at_once() -> None:
    played = play("run: {workload_kind: job}\n", workspace="protein")
    assert set(played.errors()) >= {"missing-name", "missing-entrypoint", "missing-image", "profile-ambiguous"}
    assert played.run is None


def test_missing_gpus_says_what_was_asked() -> None:
    profile = """apiVersion: taugen.dev/v1alpha1
kind: Profile
metadata:
  name: l40s-small
spec:
  kinds: [job]
  gpuClass: l40s-48gb
  queue: research
"""
    found = play(job(gpus=None, profile="l40s-small"), policy=profile).one("missing-gpus")
    assert found.path == "compute.gpus"
    assert "profile l40s-small" in found.message


@pytest.mark.parametrize(("head", "gpus", "rule"), [("", 1, "note"), ("schema_version: 1", 0, "warning")])
def test_a_rayjob_that_says_no_gpus(head: str, gpus: int, rule: str) -> None:
    workspace = """apiVersion: taugen.dev/v1alpha1
kind: Workspace
metadata:
  name: speech
spec:
  namespace: lab-speech
  clusters: [fjord]
  queues: [{name: gpu, queue: research}]
"""
    played = play(rayjob(head), policy=workspace)
    assert played.decided.gpus == gpus
    assert played.one("gpus-assumed").severity.value == rule


def test_a_rayjob_has_a_head_and_the_version_of_its_image() -> None:
    run = play(rayjob("compute: {gpus: 1, workers: 2}")).decided
    assert run.head is not None
    assert (run.head.cpu, run.head.memory, run.ray_version, run.nodes) == ("2", "8Gi", "2.51.0", 2)
    assert run.program.launcher == "ray"
    assert run.world_size == 2


def test_a_ray_image_by_digest_alone_is_a_warning() -> None:
    text = rayjob("compute: {gpus: 1}").replace(RAY, "docker.io/rayproject/ray@sha256:" + "2" * 64)
    played = play(text)
    assert played.decided.ray_version is None
    assert "tag and digest" in played.one("ray-version-unknown").hint


def test_a_cpu_run_asks_for_no_gpu_and_goes_to_the_cpu_flavor() -> None:
    run = play(rayjob("compute: {gpus: 0, workers: 3, cpus: 8, memory: 32Gi}", "policy: {profile: cpu}")).decided
    assert run.worker.extended == {}
    assert (run.placement.queue, run.placement.cluster_queue, run.placement.flavors) == ("cpu", "batch", ("cpu",))
    assert run.placement.tolerations == ()
    assert run.placement.topology is None
    assert run.placement.affinity is None


def test_gpu_pods_tolerate_the_taints_of_their_flavors_in_one_order() -> None:
    assert play(job()).decided.placement.tolerations == ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},)
    climate = play(job(gpus=None, profile="h200-node"), workspace="climate").decided
    tolerations = climate.placement.tolerations
    assert tolerations == ({"key": "nvidia.com/gpu", "operator": "Equal", "value": "h200", "effect": "NoSchedule"},)
    assert climate.placement.topology == ("required", "tern.example/block")
    assert [var.name for var in climate.env] == ["NCCL_IB_HCA", "NCCL_NVLS_ENABLE"]
    assert climate.worker.extended == {"nvidia.com/gpu": 8, "rdma/ib": 8}
    assert climate.rdma


def test_an_unknown_workspace_is_one_finding() -> None:
    played = play(job(), workspace="speach")
    assert played.errors() == ["workspace-unknown"]
    assert "speech" in played.one("workspace-unknown").hint


def test_a_file_outside_of_all_workspaces() -> None:
    assert "lies in no workspace" in play(job(), workspace="").one("workspace-unknown").message


def test_a_broken_workspace_is_not_reported_again() -> None:
    broken = "apiVersion: taugen.dev/v1alpha1\nkind: Workspace\nmetadata:\n  name: speech\nspec: {namespace: Lab_Speech}\n"
    played = play(job(), policy=broken)
    assert (played.run, played.errors()) == (None, [])


def test_what_could_not_be_read_is_not_also_missing() -> None:
    assert play(job().replace("runtime:", "runtim:")).errors() == ["unknown-key"]
    assert play(job().replace("gpus: 1", "gpus: one")).errors() == ["value-type"]
    assert play(job().replace("workload_kind: job", "workload_kind: jb")).errors() == ["value-choice"]
    assert play(job("storage: {data: 7}", "checkpoint: {every: 30m}")).errors() == ["value-type"]


def test_the_workspaces_limit_is_shown_with_its_place() -> None:
    changed = """apiVersion: taugen.dev/v1alpha1
kind: Workspace
metadata:
  name: speech
spec:
  namespace: lab-speech
  clusters: [fjord]
  queues: [{name: gpu, queue: research}]
  limits: {gpusPerRun: 6}
"""
    found = play(rayjob("compute: {gpus: 4, workers: 2}"), policy=changed).one("workspace-limit")
    assert ("8 GPUs (2 x 4)" in found.message, "6" in found.message, found.path) == (True, True, "compute.workers")
    assert found.origin is not None
    assert found.origin.line == 9
    assert play(rayjob("compute: {gpus: 8}"), policy=changed).one("workspace-limit").path == "compute.gpus"


def test_restricted_pods_and_rdma_exclude_each_other() -> None:
    text = job("compute: {gpus: 1, rdma: {enabled: true}}", gpus=None).replace(
        f"runtime: {{image: '{IMAGE}'}}", f"runtime: {{image: '{IMAGE}', security: {{mode: restricted}}}}"
    )
    found = play(text).one("rdma-restricted")
    assert found.path == "runtime.security.mode"
    assert "IPC_LOCK" in found.message


def test_retries_get_taugrids_defaults() -> None:
    resilience = play(job("resilience: {max_retries: 2, backoff_max: 10m}")).decided.resilience
    assert resilience == {"max_retries": 2, "retry_on": ["Preempted", "Evicted"], "backoff_initial": "30s", "backoff_max": "10m"}
    assert play(job()).decided.resilience == {}


def test_labels_are_mended_never_refused() -> None:
    labels = play(job("labels: {owner: ann, note: 'a b'}")).decided.labels
    assert labels["owner"] == "ann"
    assert labels["note"].startswith("a-b-")


def test_huge_numbers_are_findings() -> None:
    for line in ("compute: {gpus: 100000, workers: 100000}", "compute: {gpus: 1, memory: 8Pi}", "compute: {gpus: 1, workers: 100000}"):
        assert play(rayjob(line, "policy: {profile: l40s-small}")).run is None
    free = "apiVersion: taugen.dev/v1alpha1\nkind: Profile\nmetadata:\n  name: l40s-small\nspec:\n  gpus: 1\n  memoryPerGpu: 200Gi\n"
    free += "  cpuPerGpu: 4\n  queue: research\n  override: {gpus: {}}\n"
    assert play(rayjob("compute: {gpus: 100000}", "policy: {profile: l40s-small}"), policy=free).errors() == ["workspace-limit"]


def test_the_lookups_of_a_policy_are_kept() -> None:
    policy = policy_with()
    assert context_of(policy) is context_of(policy)
    other = policy_with("apiVersion: taugen.dev/v1alpha1\nkind: PriorityTier\nmetadata:\n  name: extra\nspec: {value: 3}\n")
    assert context_of(other).policy is other


def test_equal_input_gives_equal_runs() -> None:
    first, second = play(job()), play(job())
    assert first.decided == second.decided or first.decided.doc is not second.decided.doc
    assert first.decided.placement == second.decided.placement
    assert first.decided.env == second.decided.env


BROKEN = "apiVersion: taugen.dev/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\nspec: {{nonsense: 1}}\n"


@pytest.mark.parametrize(
    ("kind", "name"),
    [("Platform", "tern"), ("Profile", "cpu"), ("Cluster", "fjord"), ("Queue", "research"), ("Flavor", "l40s"), ("Workspace", "speech")],
)
def test_broken_policy_holds_runs_back_without_a_word_of_its_own(kind: str, name: str) -> None:
    """A run placed by what is left of policy would be frozen in the wrong place."""
    played = play(job(), policy=BROKEN.format(kind=kind, name=name))
    assert (played.run, played.findings) == (None, ())


def test_a_broken_topology_is_not_an_unknown_level() -> None:
    played = play(job(gpus=None, profile="h200-node"), workspace="climate", policy=BROKEN.format(kind="Topology", name="fabric"))
    assert (played.run, played.findings) == (None, ())


def test_a_broken_member_of_the_cohort_is_not_held_against_a_run() -> None:
    assert play(rayjob("compute: {gpus: 4, workers: 2}"), policy=BROKEN.format(kind="Queue", name="batch")).run is not None


def test_what_is_named_does_not_suffer_from_what_is_broken_beside_it() -> None:
    text = job(gpus=0, profile="cpu").replace("profile: cpu", "profile: cpu, cluster: mesa")
    assert play(text, workspace="protein", policy=BROKEN.format(kind="Cluster", name="fjord")).run is not None
    assert play(job(profile="l40s-small"), policy=BROKEN.format(kind="Profile", name="cpu")).run is not None
