"""Which profile a run has, and findings that show both places."""

import pytest

from tests.resolve.kit import IMAGE, job, play, rayjob

BOUNDED = """apiVersion: taugen.dev/v1alpha1
kind: Profile
metadata:
  name: l40s-small
spec:
  kinds: [job, rayjob]
  gpus: 1
  gpuClass: l40s-48gb
  cpuPerGpu: 20
  memoryPerGpu: 160Gi
  shm: 16Gi
  image: registry.tern.example/base@sha256:3333333333333333333333333333333333333333333333333333333333333333
  queue: research
  priority: normal
  override:
    gpus: {min: 1, max: 4}
    cpus: {min: 2, max: 40}
    memory: {oneOf: [80Gi, 160Gi]}
    shm: {max: 64Gi}
    max_duration: {max: 24h}
    image: {oneOf: [registry.tern.example/other:1]}
"""


def test_each_breach_is_shown_at_its_field_with_the_profiles_line() -> None:
    text = job(
        f"runtime: {{image: '{IMAGE}'}}",
        "run: {entrypoint: train.py, workload_kind: job, max_duration: 48h}",
        "compute: {gpus: 5, cpus: 41, memory: 100Gi, shm_size: 65Gi, gpu_class: h200-141gb}",
        "policy: {profile: l40s-small, priority: low, queue: cpu}",
        gpus=None,
    )
    played = play("name: small\n" + text.split("\n", 3)[3], policy=BOUNDED)
    found = {d.path: d for d in played.findings if d.rule == "profile-limit"}
    assert {path: d.origin.line for path, d in found.items() if d.origin is not None} == {
        "compute.gpus": 16,
        "compute.cpus": 17,
        "compute.memory": 18,
        "compute.shm_size": 19,
        "compute.gpu_class": 8,
        "runtime.image": 21,
        "policy.queue": 13,
        "policy.priority": 14,
        "run.max_duration": 20,
    }
    assert found["compute.gpus"].message == "gpus is 5, and profile l40s-small allows at most 4"
    assert found["compute.memory"].hint == "write one of 80Gi, 160Gi"
    assert found["policy.priority"].hint == "write normal, or leave it out"
    assert played.errors().count("profile-limit") == len(found)
    assert set(played.errors()) == {"profile-limit"}


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("compute: {gpus: 4}", "compute.gpus"),
        ("compute: {gpus: 1, cpus: 1}", "compute.cpus"),
        ("compute: {gpus: 1, cpu_limit: 41, cpus: 4}", "compute.cpu_limit"),
    ],
)
def test_a_value_below_above_or_derived(line: str, path: str) -> None:
    text = "\n".join(["name: small", "run: {entrypoint: train.py, workload_kind: job}", line, "policy: {profile: l40s-small}", ""])
    found = [d for d in play(text, policy=BOUNDED).findings if d.rule == "profile-limit"]
    assert {d.path for d in found} == {path}


def test_a_derived_value_is_reported_once_at_its_cause() -> None:
    policy = BOUNDED.replace("memory: {oneOf: [80Gi, 160Gi]}", "memory: {max: 400Gi}")
    text = job("policy: {profile: l40s-small}", gpus=3).replace(f"runtime: {{image: '{IMAGE}'}}\n", "")
    found = [d for d in play(text, policy=policy).findings if d.rule == "profile-limit"]
    assert [d.path for d in found] == ["compute.gpus", "compute.gpus"]
    assert found[0].message == "3 GPUs make cpus 60 (cpuPerGpu is 20), and profile l40s-small allows at most 40"
    assert found[1].message == "3 GPUs make memory 480Gi (memoryPerGpu is 160Gi), and profile l40s-small allows at most 400Gi"


def test_a_fixed_value_may_be_repeated_and_nothing_else() -> None:
    assert play(job("compute: {gpus: 2, cpus: 40, memory: 320Gi, shm_size: 16Gi}", gpus=None, profile="l40s-small")).decided
    found = play(job("compute: {gpus: 2, cpus: 8}", gpus=None, profile="l40s-small")).one("profile-limit")
    assert found.message == "cpus is 8, and profile l40s-small fixes it at 40"
    assert found.origin is not None
    assert "cpuPerGpu" in _line(found.origin.line)


def _line(number: int) -> str:
    from tests.policykit import FIXTURE, split

    profile = next(d for d in split((FIXTURE / "policy" / "profiles.yaml").read_text()) if "name: l40s-small" in d)
    return profile.splitlines()[number - 1]


def test_the_only_profile_that_fits_is_taken() -> None:
    assert play(job()).decided.profile == "l40s-small"
    assert play(job(gpus=0)).decided.profile == "cpu"


def test_several_that_fit_are_listed() -> None:
    found = play(job(gpus=None)).one("profile-ambiguous")
    assert ("l40s-small, cpu" in found.message, found.path) == (True, "policy.profile")


def test_none_that_fits_lists_each_with_its_reason() -> None:
    found = play(job(gpus=7)).one("profile-none")
    assert found.path == "compute.gpus"
    assert "l40s-small (gpus is 7, and it allows at most 4)" in found.message
    assert "cpu (gpus is 7, and it fixes it at 0)" in found.message


def test_the_profile_that_is_evidently_meant_is_held_against_the_run() -> None:
    played = play(job("compute: {gpus: 1, memory: 1Gi, shm_size: 1Gi}", gpus=None))
    found = played.one("profile-none")
    assert (found.path, found.origin is not None) == ("compute.memory", True)
    assert "cpu (gpus is 1, and it fixes it at 0)" in found.message
    assert found.hint == "write 160Gi, or leave it out, or name another profile and keep to it"
    assert played.one("profile-limit").path == "compute.shm_size"
    both = play(job(gpus=1).replace("workload_kind: job", "workload_kind: jobset"))
    assert both.one("profile-none").path == "run.workload_kind"


def test_an_unknown_profile_names_the_nearest_and_the_place_of_the_list() -> None:
    found = play(job(profile="l40-small")).one("profile-unknown")
    assert found.hint == "write l40s-small"
    assert found.origin is not None
    assert play(job(profile="h200-node")).one("profile-unknown").hint.startswith("write one of")


def test_a_profile_for_others_is_refused() -> None:
    policy = BOUNDED.replace("  kinds:", "  applies: {teams: [asr], lanes: [training]}\n  kinds:")
    text = job(profile="l40s-small").replace(f"runtime: {{image: '{IMAGE}'}}\n", "")
    assert "team asr" in play(text, policy=policy).one("profile-not-applicable").message
    ok = text.replace("{profile: l40s-small}", "{profile: l40s-small, team: asr, lane: training}")
    assert play(ok, policy=policy).decided.profile == "l40s-small"


@pytest.mark.parametrize(
    ("typed", "path", "near"),
    [
        ("team: speech, lane: trainign", "policy.lane", "training"),
        ("team: spech, lane: training", "policy.team", "speech"),
    ],
)
def test_a_misspelt_lane_or_team_is_told_where_it_stands(typed: str, path: str, near: str) -> None:
    policy = BOUNDED.replace("  kinds:", "  applies: {teams: [speech], lanes: [training]}\n  kinds:")
    text = job(profile="l40s-small").replace(f"runtime: {{image: '{IMAGE}'}}\n", "")
    for policy_, rule, hint in (
        (f"{{profile: l40s-small, {typed}}}", "profile-not-applicable", f"write {near}, or take another profile"),
        (f"{{{typed}}}", "profile-none", f"write {near}"),
    ):
        found = play(text.replace("{profile: l40s-small}", policy_), policy=policy).one(rule)
        assert (found.path, found.hint) == (path, hint)


def test_a_kind_that_the_profile_is_not_for() -> None:
    found = play(job(profile="l40s-small").replace("workload_kind: job", "workload_kind: jobset")).one("profile-limit")
    assert (found.path, found.message) == ("run.workload_kind", "the run is a jobset, and profile l40s-small is only for job, rayjob")


def test_a_workspace_with_one_profile_says_what_breaks_it() -> None:
    workspace = """apiVersion: taugen.dev/v1alpha1
kind: Workspace
metadata:
  name: speech
spec:
  namespace: lab-speech
  clusters: [fjord]
  queues: [{name: gpu, queue: research, default: true}]
  profiles: [l40s-small]
"""
    assert play(job(gpus=7), policy=workspace).one("profile-limit").path == "compute.gpus"


def test_a_workspace_without_profiles_leaves_the_shape_to_the_run() -> None:
    workspace = """apiVersion: taugen.dev/v1alpha1
kind: Workspace
metadata:
  name: speech
spec:
  namespace: lab-speech
  clusters: [fjord]
  queues: [{name: gpu, queue: research, default: true}]
"""
    run = play(rayjob("compute: {gpus: 2}"), policy=workspace).decided
    assert (run.profile, run.worker.cpu, run.worker.memory) == (None, "8", "64Gi")
    assert play(job(profile="l40s-small"), policy=workspace).errors() == ["profile-unknown"]


def test_a_bound_of_time_bounds_what_nobody_limits() -> None:
    text = job(profile="l40s-small").replace(f"runtime: {{image: '{IMAGE}'}}\n", "")
    assert play(text, policy=BOUNDED).decided.max_duration == 24 * 3600


def test_a_bound_that_is_no_quantity_never_crashes() -> None:
    policy = BOUNDED.replace("{min: 2, max: 40}", "{min: few, max: many}").replace("max_duration: {max: 24h}", "max_duration: {max: long}")
    text = job("compute: {gpus: 1, cpus: 4, cpu_limit: 8}", gpus=None, profile="l40s-small").replace(f"runtime: {{image: '{IMAGE}'}}\n", "")
    played = play(text.replace("workload_kind: job", "workload_kind: job, max_duration: 1h"), policy=policy)
    assert "profile-limit" not in played.errors()
