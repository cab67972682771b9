"""What is invalid holds back itself, and nothing else: documents, names, files of others, policy."""

import pytest

from tests.gitkit import write
from tests.publish.kit import (
    CLIMATE,
    DOWNSCALE,
    FOLD,
    PROTEIN,
    QUEUES,
    SPEECH,
    STORAGE,
    WHISPER,
    WORKSPACES,
    added,
    ended,
    job,
    messages,
    rules,
)

HEALTH = "policy/health.yaml"
L40S = """\
apiVersion: taugen.dev/v1alpha1
kind: HealthPolicy
metadata: {name: l40s}
spec:
  gpuClasses: [l40s-48gb]
  actions: [{condition: GpuXid, taint: {effect: NoSchedule}}]
  maxTainted: 1
  images: {runner: registry.tern.example/base/python@sha256:1111111111111111111111111111111111111111111111111111111111111111}
"""
OTHER = "workspaces/protein/other/tau.yaml"
THIRD = "workspaces/protein/third/tau.yaml"
SPEAK = "workspaces/speech/second/tau.yaml"
SPEECH_JOB = job("second").replace("protein/fold", "speech/x").replace("cluster: mesa", "cluster: fjord")


def platform(fleet, ref="deploy"):
    return {path: blob for path, blob in fleet.tree(ref).items() if path.startswith("clusters/") and len(path.split("/")) < 6}


# ------------------------------------------------------------------------------------------------------------------ documents


def test_an_invalid_document_is_held_and_others_go_on(fleet):
    fleet.commit({OTHER: job("other").replace("gpus: 0", "gpus: -1"), THIRD: job("third")})
    outcome = fleet.publish()
    assert (outcome.code, added(outcome)) == (1, ["protein/third"])
    assert fleet.memory().pending == (OTHER,)
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit) == (1, None)
    fleet.commit({OTHER: job("other")})
    outcome = fleet.publish()
    assert (outcome.code, added(outcome), fleet.memory().pending) == (0, ["protein/other"], ())


def test_findings_of_a_held_document_come_again_as_long_as_it_is_held(fleet):
    fleet.commit({OTHER: job("other").replace("registry.tern.example", "elsewhere.example"), THIRD: job("third")})
    first = fleet.publish()
    fleet.commit({"README.md": "x\n"})
    second = fleet.publish()
    assert first.findings == second.findings
    assert rules(first) == ["image-registry"]


@pytest.mark.parametrize(
    "text", ["name: [\n", "", "\t\n", "- 1\n", "name: 5\n---\nname: [", b"\xff\xfe", "name: fold-report\nnonsense: 1\n"]
)
def test_a_published_document_that_breaks_has_not_vanished(fleet, text):
    tip = fleet.tip
    fleet.commit({PROTEIN: text})
    for asked in ({}, {"full": True}, {"allow": frozenset({FOLD})}):
        outcome = fleet.publish(**asked)
        assert (outcome.commit, outcome.plan.vanished, ended(outcome), fleet.tip) == (None, [], [], tip)
        assert outcome.code in (1, 4)
        assert any(found.span.file == PROTEIN for found in outcome.findings)
    fleet.commit({OTHER: job("other")})
    assert added(fleet.publish()) == ["protein/other"]
    fleet.commit({PROTEIN: None})
    outcome = fleet.publish()
    assert [run.name for run in outcome.plan.vanished] == ["fold-report"]


def test_a_broken_document_that_is_renamed_and_mended(fleet):
    text = fleet.read(PROTEIN)
    fleet.commit({PROTEIN: "name: [\n", OTHER: job("other")})
    fleet.publish()
    fleet.commit({PROTEIN: text.replace("fold-report", "fold-new")})
    outcome = fleet.publish()
    assert (outcome.code, added(outcome), [run.name for run in outcome.plan.vanished]) == (4, ["protein/fold-new"], ["fold-report"])


@pytest.mark.parametrize("cut", [0, 1])
def test_two_documents_of_one_name(fleet, cut):
    """None of two new ones is published; a published one stays, whichever file comes first."""
    fleet.commit({OTHER: job("same", 1), THIRD: job("same", 2)})
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit, rules(outcome)) == (1, None, ["run-name-twice"] * 2)
    keep, drop = (OTHER, THIRD)[:: -1 if cut else 1]
    text = fleet.read(drop)
    fleet.commit({drop: None})
    assert added(fleet.publish()) == ["protein/same"]
    fleet.commit({drop: text})
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit, rules(outcome)) == (1, None, ["run-name-twice"])
    assert outcome.findings[0].span.file == drop
    assert outcome.findings[0].origin.file == keep
    assert fleet.publish(full=True).findings == outcome.findings


def test_a_second_document_of_a_name_whose_run_has_ended(fleet):
    fleet.edit(PROTEIN, ("name: fold-report", "name: fold-report\ncancelled: true"))
    fleet.publish()
    fleet.commit({OTHER: job("fold-report")})
    for full in (False, True):
        outcome = fleet.publish(full=full)
        assert (outcome.code, outcome.commit, rules(outcome)) == (1, None, ["run-name-twice"])


def test_a_second_document_of_a_cancelled_name_that_never_ran(fleet):
    fleet.commit({OTHER: job("other", cancelled="true"), "workspaces/protein/fourth/tau.yaml": job("fourth")})
    fleet.publish()
    fleet.commit({THIRD: job("other", 3)})
    for full in (False, True):
        outcome = fleet.publish(full=full)
        assert (outcome.code, outcome.commit, rules(outcome)) == (1, None, ["run-name-twice"] * 2)


def test_a_new_document_does_not_take_the_name_of_one_that_cannot_be_read(fleet):
    text = fleet.read(PROTEIN)
    fleet.commit({PROTEIN: "name: [\n", OTHER: text.replace("cpus: 4", "cpus: 8")})
    for number in range(3):
        # Also when other runs are published meanwhile, and the broken file is not looked at for its own sake.
        outcome = fleet.publish(full=number == 2)
        assert (outcome.code, ended(outcome)) == (1, [])
        assert f"{PROTEIN} can't be read" in messages(outcome)
        fleet.commit({f"workspaces/protein/n{number}/tau.yaml": job(f"n{number}")})


def test_files_of_others_where_a_run_would_go(fleet):
    fleet.commit({OTHER: job("other")})
    run = fleet.copy(fleet.path.parent / "copy")
    run.publish()
    folder = f"clusters/{run.live()['protein/other'].folder}"
    fleet.deploy({f"{folder}/job.yaml": "theirs\n"})
    fleet.commit({THIRD: job("third")})
    outcome = fleet.publish()
    assert (outcome.code, added(outcome), rules(outcome)) == (1, ["protein/third"], ["deploy-foreign"])
    assert fleet.show(f"{folder}/job.yaml") == "theirs\n"
    fleet.deploy({f"{folder}/job.yaml": None})
    assert added(fleet.publish()) == ["protein/other"]


def test_an_edit_that_would_replace_is_held_with_what_it_replaces(fleet):
    """`replace` of a run whose new version can't be published ends nothing."""
    fleet.edit(PROTEIN, ("cpus: 4", "cpus: 4000"))
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit, ended(outcome)) == (1, None, [])


# ------------------------------------------------------------------------------------------------------------------ policy


def broken_workspace(fleet, name="speech"):
    text = fleet.read(WORKSPACES).replace(f"  namespace: lab-{name}\n", f"  namespace: lab-{name}\n  nonsense: 1\n")
    write(fleet.root, {WORKSPACES: text})


def test_an_error_in_one_workspace_holds_back_that_one_only(fleet):
    before = platform(fleet)
    broken_workspace(fleet)
    fleet.commit({OTHER: job("other"), SPEAK: SPEECH_JOB})
    outcome = fleet.publish()
    assert (outcome.code, added(outcome)) == (1, ["protein/other"])
    assert platform(fleet) == before
    assert fleet.memory().unsettled
    assert fleet.memory().pending == (SPEAK,)
    fleet.edit(WORKSPACES, ("  nonsense: 1\n", ""))
    outcome = fleet.publish()
    assert (outcome.code, added(outcome)) == (0, ["speech/second"])
    assert not fleet.memory().unsettled


def test_the_same_at_the_first_publish(new):
    broken_workspace(new)
    new.commit()
    outcome = new.publish()
    assert (outcome.code, sorted(added(outcome))) == (1, [DOWNSCALE, FOLD])
    tree = new.tree()
    assert "clusters/mesa/workspaces/climate/namespace-lab-climate.yaml" in tree
    assert not [path for path in tree if "speech" in path]


def test_broken_yaml_in_one_policy_file_holds_back_what_it_names(fleet):
    before = platform(fleet)
    text = fleet.read(WORKSPACES)
    speech, rest = text.split("---\n", 1)
    fleet.commit({WORKSPACES: rest, "policy/tenants/speech.yaml": speech})
    assert fleet.publish().code == 0
    fleet.commit({"policy/tenants/speech.yaml": speech + "  x: [\n", OTHER: job("other"), SPEAK: SPEECH_JOB})
    outcome = fleet.publish()
    assert (outcome.code, added(outcome)) == (1, ["protein/other"])
    assert platform(fleet).keys() == before.keys()


@pytest.mark.parametrize("damage", [("  maxTainted: 1\n", "  maxTained: 1\n"), ("GpuXid", "GpuXi"), ("kind: HealthPolicy", "kind: [")])
def test_a_broken_health_policy_leaves_node_health_as_it_is_and_work_goes_on(fleet, damage):
    """Without its DaemonSets the taints that they set would stay for ever."""
    fleet.commit({HEALTH: L40S})
    fleet.publish()
    health = {path: blob for path, blob in platform(fleet).items() if "health" in path or "appproject-platform" in path}
    assert any("daemonset" in path for path in health)
    fleet.edit(HEALTH, damage)
    fleet.commit({OTHER: job("other")})
    outcome = fleet.publish()
    assert outcome.code == 1
    assert {path: blob for path, blob in platform(fleet).items() if path in health} == health
    if "kind: [" not in damage:
        assert added(outcome) == ["protein/other"]
    fleet.commit({HEALTH: None})
    assert fleet.publish().code == 0
    left = {path for path in platform(fleet) if "/platform/health/" in path}
    assert left == set()


def test_a_broken_queue_holds_back_those_who_need_it(fleet):
    before = platform(fleet)
    fleet.edit(
        QUEUES, ("kind: Queue\nmetadata:\n  name: research\nspec:\n", "kind: Queue\nmetadata:\n  name: research\nspec:\n  nonsense: 1\n")
    )
    fleet.commit({OTHER: job("other")})
    outcome = fleet.publish()
    assert (outcome.code, added(outcome)) == (1, [])
    assert platform(fleet) == before


def test_a_broken_storage_holds_back_its_workspaces_only(fleet):
    fleet.edit(STORAGE, ("claim: {existing: speech-audio}", "claim: {existing: speech-audio, size: 5Gi}"))
    fleet.commit({OTHER: job("other"), SPEAK: SPEECH_JOB})
    outcome = fleet.publish()
    assert (outcome.code, added(outcome)) == (1, ["protein/other"])


def test_an_error_in_the_platform_holds_back_everything_new(fleet):
    before = fleet.tree()
    fleet.edit("policy/platform.yaml", ("  images:", "  nonsense: 1\n  images:"))
    fleet.commit({OTHER: job("other")})
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit, fleet.tree()) == (1, None, before)
    # What is said in documents is still done.
    fleet.edit(CLIMATE, ("name: downscale", "name: downscale\ncancelled: true"))
    outcome = fleet.publish()
    assert (outcome.code, ended(outcome)) == (1, [(DOWNSCALE, "cancelled")])


def test_broken_yaml_that_names_nothing_holds_back_everything_new(fleet):
    fleet.commit({"policy/more.yaml": "a: [\n", OTHER: job("other")})
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit) == (1, None)


def test_a_broken_overlay_holds_back_its_clusters(fleet):
    """Runs of one workspace on two clusters: that on the other cluster is published."""
    before = platform(fleet)
    overlay = "overlays/mesa/registry.yaml"
    small = job("small").replace("profile: cpu, cluster: mesa", "profile: cpu, cluster: fjord")
    fleet.commit({overlay: fleet.read(overlay) + "x: [\n", OTHER: job("other"), THIRD: small})
    outcome = fleet.publish()
    assert (outcome.code, added(outcome)) == (1, ["protein/small"])
    assert platform(fleet) == before


def test_a_broken_project_is_refused(fleet):
    fleet.edit("taugen.yaml", ("kind: Project", "kind: Nonsense"))
    refused = fleet.refused()
    assert refused.code == 1
    assert [found.span.file for found in refused.findings] == ["taugen.yaml"]


def test_a_pinned_policy_that_is_not_here_holds_back_everything_new(fleet):
    before = platform(fleet)
    url = "https://git.tern.example/platform/policy.git"
    lock = f"repositories:\n  - url: {url}\n    ref: main\n    path: policy\n    commit: {'a' * 40}\n"
    fleet.edit("taugen.yaml", ("    - path: policy\n", f"    - path: policy\n    - git: {{url: '{url}', ref: main, path: policy}}\n"))
    fleet.commit({"taugen.lock": lock, OTHER: job("other")})
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit) == (1, None)
    assert "run taugen lock" in messages(outcome)
    assert platform(fleet) == before


def test_a_run_that_policy_no_longer_allows_is_frozen(fleet):
    """A published document is not judged by later policy."""
    tree = fleet.tree()
    fleet.edit("policy/platform.yaml", ("registry.tern.example/, docker.io/rayproject/", "nowhere.example/"))
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit, rules(outcome)) == (0, None, [])
    assert (outcome.older_policy, outcome.live) == (3, 3)
    fleet.commit({OTHER: job("other")})
    outcome = fleet.publish()
    assert (outcome.code, rules(outcome)) == (1, ["image-registry"])
    assert fleet.tree() == tree


def test_speech_goes_on_under_new_policy(fleet):
    before = fleet.live()
    manifests = {name: fleet.manifests(run) for name, run in before.items()}
    fleet.edit("policy/profiles.yaml", ("cpuPerGpu: 20", "cpuPerGpu: 10"))
    fleet.edit(QUEUES, ("cpu: {nominal: 180}", "cpu: {nominal: 190}"))
    outcome = fleet.publish()
    assert (outcome.code, outcome.platform, outcome.older_policy) == (0, 1, 3)
    assert fleet.live() == before
    assert {name: fleet.manifests(run) for name, run in before.items()} == manifests
    fleet.edit(SPEECH, ("schema_version: 1", "schema_version: 1\ngeneration: 2\non_edit: replace"))
    fleet.publish()
    assert fleet.live()[WHISPER].policy == fleet.memory().policy != before[WHISPER].policy
    outcome = fleet.publish(full=True)
    assert (outcome.older_policy, outcome.live) == (2, 3)
