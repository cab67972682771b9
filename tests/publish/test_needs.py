"""What a live run refers to can't be removed or renamed without cancelling it; what nobody needs goes; clusters outlive their policy."""

import re

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
    Fleet,
    added,
    ended,
    errors,
    job,
    messages,
    rules,
)

CLUSTERS, PROFILES = "policy/clusters.yaml", "policy/profiles.yaml"
OTHER = "workspaces/protein/other/tau.yaml"


def documents(text):
    return text.split("---\n")


def without(fleet, path, kind, name):
    """The file without one document."""
    kept = [part for part in documents(fleet.read(path)) if f"kind: {kind}\nmetadata:\n  name: {name}\n" not in part]
    assert len(kept) == len(documents(fleet.read(path))) - 1
    write(fleet.root, {path: "---\n".join(kept)})


def replaced(fleet, path, *changes):
    text = fleet.read(path)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    write(fleet.root, {path: text})


def no_tier_low(fleet):
    without(fleet, QUEUES, "PriorityTier", "low")
    replaced(
        fleet,
        PROFILES,
        ("priority: low", "priority: normal"),
        ("oneOf: [low, normal]", "oneOf: [normal]"),
        ("oneOf: [low, normal, urgent]", "oneOf: [normal, urgent]"),
    )


def no_queue_batch(fleet):
    without(fleet, QUEUES, "Queue", "batch")
    replaced(fleet, PROFILES, ("queue: batch", "queue: research"), ("priority: low", "priority: normal"))
    replaced(fleet, WORKSPACES, ("    - {name: cpu, queue: batch}\n", ""))
    replaced(
        fleet,
        WORKSPACES,
        (
            "    - {name: cpu, queue: batch, default: true}\n    - {name: gpu, queue: research}\n",
            "    - {name: gpu, queue: research, default: true}\n",
        ),
    )


def renamed_local_queue(fleet):
    replaced(fleet, WORKSPACES, ("{name: cpu, queue: batch, default: true}", "{name: small, queue: batch, default: true}"))


def renamed_namespace(fleet):
    replaced(fleet, WORKSPACES, ("namespace: lab-protein", "namespace: lab-proteins"))


def no_workspace(fleet):
    without(fleet, WORKSPACES, "Workspace", "protein")
    replaced(fleet, STORAGE, ("[climate, protein]", "[climate]"))


def off_the_cluster(fleet):
    replaced(fleet, WORKSPACES, ("namespace: lab-protein\n", "namespace: lab-protein\n  clusters: [fjord]\n"))


def renamed_account(fleet):
    replaced(fleet, WORKSPACES, ("serviceAccount: speech-runs", "serviceAccount: others"))


def other_claim(fleet):
    replaced(fleet, STORAGE, ("existing: speech-audio", "existing: speech-sounds"))


def no_claim(fleet):
    without(fleet, STORAGE, "Storage", "checkpoints")
    replaced(fleet, WORKSPACES, ("storage: [grids, checkpoints]", "storage: [grids]"), ("  storage: [checkpoints]\n", ""))


def no_secret(fleet):
    replaced(fleet, WORKSPACES, ("  storage: [grids, checkpoints]\n  secrets: [tracker]\n", "  storage: [grids, checkpoints]\n"))


def no_cluster(fleet):
    without(fleet, CLUSTERS, "Cluster", "fjord")
    without(fleet, "policy/flavors.yaml", "Flavor", "l40s")
    without(fleet, PROFILES, "Profile", "l40s-small")
    queues = re.sub(r"    - flavor: l40s\n      resources:\n(        .*\n)+", "", fleet.read(QUEUES))
    write(fleet.root, {QUEUES: queues})
    replaced(fleet, WORKSPACES, ("clusters: [fjord]", "clusters: [mesa]"), ("profiles: [l40s-small, cpu]", "profiles: [cpu]"))


CASES = {
    "tier": (no_tier_low, FOLD, "WorkloadPriorityClass low"),
    "queue": (no_queue_batch, FOLD, "ClusterQueue batch"),
    "local queue": (renamed_local_queue, FOLD, "LocalQueue lab-protein/cpu"),
    "namespace": (renamed_namespace, FOLD, "Namespace lab-protein"),
    "workspace": (no_workspace, FOLD, "Workspace protein"),
    "place": (off_the_cluster, FOLD, "Workspace protein can't leave cluster mesa"),
    "account": (renamed_account, WHISPER, "ServiceAccount lab-speech/speech-runs"),
    "existing claim": (other_claim, WHISPER, "PersistentVolumeClaim lab-speech/speech-audio"),
    "claim": (no_claim, DOWNSCALE, "PersistentVolumeClaim lab-climate/checkpoints"),
    "secret": (no_secret, DOWNSCALE, "Secret lab-climate/tracker"),
    "cluster": (no_cluster, WHISPER, "Cluster fjord"),
}
DOCUMENTS = {FOLD: PROTEIN, WHISPER: SPEECH, DOWNSCALE: CLIMATE}


def climate_more(fleet):
    """A new run of another workspace."""
    return {
        "workspaces/climate/more/tau.yaml": fleet.read(CLIMATE).replace("name: downscale", "name: more"),
        "workspaces/climate/more/train.py": "print()\n",
    }


@pytest.mark.parametrize("case", CASES)
def test_what_a_live_run_needs_stays(fleet, case):
    change, name, what = CASES[case]
    before, run = fleet.tree(), fleet.live()[name]
    change(fleet)
    fleet.commit({OTHER: job("other")} if name == DOWNSCALE else climate_more(fleet))
    outcome = fleet.publish()
    assert outcome.code == 4, messages(outcome)
    assert set(errors(outcome)) == {"in-use"}, messages(outcome)
    said = messages(outcome)
    assert what in said
    assert run.run_id in said
    # The rest goes on: another workspace's run.
    assert added(outcome) == ["protein/other" if name == DOWNSCALE else "climate/more"]
    # All that the run refers to is as it was, and so is the run.
    tree = fleet.tree()
    assert fleet.live()[name] == run
    assert fleet.manifests(run).items() <= before.items()
    kept = [
        path
        for path in before
        if any(
            f"{kind.lower()}-{n}.yaml" in path and path.startswith(f"clusters/{run.cluster}/")
            for kind, _, n in run.refs
            if kind != "Secret"
        )
    ]
    own = [path for path in kept if "/workspaces/" not in path or f"/workspaces/{run.workspace}/" in path]
    for path in own:
        assert path in tree, path
        if case != "queue" or "clusterqueue-research" not in path:
            assert tree[path] == before[path], path
    # It is said again until it is settled.
    if outcome.commit:
        assert fleet.memory().unsettled
    assert fleet.publish().code == 4


@pytest.mark.parametrize("case", CASES)
def test_cancelled_it_goes(fleet, case):
    change, name, _ = CASES[case]
    change(fleet)
    document = DOCUMENTS[name]
    fleet.commit({document: "cancelled: true\n" + fleet.read(document)})
    if case == "claim":
        fleet.commit({PROTEIN: "cancelled: true\n" + fleet.read(PROTEIN)})
    outcome = fleet.publish()
    assert (outcome.code, (name, "cancelled") in ended(outcome)) == (0, True), messages(outcome)
    assert fleet.publish().commit is None
    assert not fleet.memory().unsettled


def test_cancelled_later_it_goes_too(fleet):
    renamed_local_queue(fleet)
    fleet.commit(climate_more(fleet))
    assert fleet.publish().code == 4
    old = "clusters/mesa/workspaces/protein/localqueue-cpu.yaml"
    assert old in fleet.tree()
    fleet.edit(PROTEIN, ("name: fold-report", "name: fold-report\ncancelled: true"))
    assert fleet.publish().code == 0
    tree = fleet.tree()
    assert old not in tree
    assert "clusters/mesa/workspaces/protein/localqueue-small.yaml" in tree


def test_a_workspace_whose_namespace_can_not_change_gets_no_new_runs(fleet):
    renamed_namespace(fleet)
    fleet.commit({OTHER: job("other")})
    outcome = fleet.publish()
    assert (outcome.code, outcome.commit, added(outcome)) == (4, None, [])
    assert "held back" in messages(outcome)
    assert sorted(rules(outcome)) == ["in-use", "workspace-blocked"]
    # Together with the run that is replaced, the namespace may change.
    fleet.commit({OTHER: None})
    fleet.edit(PROTEIN, ("cpus: 4", "cpus: 8"))
    outcome = fleet.publish()
    assert (outcome.code, added(outcome), ended(outcome)) == (0, [FOLD], [(FOLD, "replaced")])
    assert "clusters/mesa/workspaces/protein/namespace-lab-proteins.yaml" in fleet.tree()


def test_a_queue_that_is_kept_keeps_what_it_stands_on(fleet):
    no_queue_batch(fleet)
    without(fleet, QUEUES, "Cohort", "lab")
    replaced(fleet, QUEUES, ("  cohort: lab\n", ""))
    fleet.commit()
    outcome = fleet.publish()
    assert outcome.code == 4
    tree = fleet.tree()
    assert "clusters/mesa/platform/cohort-lab.yaml" in tree
    assert "clusters/fjord/platform/cohort-lab.yaml" not in tree
    assert "lab-protein" in fleet.show("clusters/mesa/platform/clusterqueue-batch.yaml")


def test_what_nobody_needs_goes(fleet):
    without(fleet, QUEUES, "PriorityTier", "normal")
    replaced(
        fleet,
        PROFILES,
        ("priority: normal", "priority: low"),
        ("oneOf: [low, normal]", "oneOf: [low]"),
        ("oneOf: [low, normal, urgent]", "oneOf: [low, urgent]"),
    )
    fleet.edit(SPEECH, ("schema_version: 1", "schema_version: 1\ncancelled: true"))
    outcome = fleet.publish()
    assert outcome.code == 0, messages(outcome)
    assert not [path for path in fleet.tree() if "normal" in path]


def test_a_cluster_that_leaves_keeps_its_files(fleet):
    before = {path: blob for path, blob in fleet.tree().items() if path.startswith("clusters/fjord/") and "whisper" not in path}
    no_cluster(fleet)
    fleet.commit({SPEECH: "cancelled: true\n" + fleet.read(SPEECH)})
    outcome = fleet.publish()
    assert outcome.code == 0, messages(outcome)
    assert any("fjord left the fleet" in note for note in outcome.notes)
    assert before.items() <= fleet.tree().items()
    # Removed by hand as a whole, that is no hand edit; in part it is.
    by_hand = fleet.copy(fleet.path.parent / "part")
    by_hand.deploy({next(iter(before)): None})
    assert "deleted by hand" in str(rules_and_messages(by_hand))
    fleet.deploy(dict.fromkeys(before))
    outcome = fleet.publish()
    assert (outcome.code, outcome.notes) == (0, ())


def rules_and_messages(fleet: Fleet):
    refused = fleet.refused()
    return [(found.rule, found.message) for found in refused.findings]


def test_the_output_path_stays_while_runs_are_live(fleet):
    fleet.edit("taugen.yaml", ("    path: clusters", "    path: fleet"))
    refused = fleet.refused()
    assert (refused.code, "spec.output.path can't change while runs are live" in refused.message) == (4, True)
    for path, old in ((SPEECH, "schema_version: 1"), (CLIMATE, "name: downscale"), (PROTEIN, "name: fold-report")):
        fleet.edit(path, (old, f"{old}\ncancelled: true"))
    fleet.edit("taugen.yaml", ("    path: fleet", "    path: clusters"))
    assert fleet.publish().code == 0
    fleet.edit("taugen.yaml", ("    path: clusters", "    path: fleet"))
    assert fleet.publish().code == 0
    assert {path.split("/")[0] for path in fleet.tree()} == {".taugen", "fleet"}


def test_an_edit_that_kueue_can_not_take_in_place_names_the_safe_way(fleet):
    """The target of a LocalQueue: its workspace gets no new runs meanwhile, and everything else goes on."""
    queue = "clusters/fjord/workspaces/protein/localqueue-gpu.yaml"
    before = fleet.show(queue)
    replaced(fleet, WORKSPACES, ("    - {name: gpu, queue: research}\n", "    - {name: gpu, queue: batch}\n"))
    replaced(fleet, WORKSPACES, ("{name: cpu, queue: batch, default: true}", "{name: cpu, queue: research, default: true}"))
    fleet.commit({OTHER: job("other"), **climate_more(fleet)})
    outcome = fleet.publish()
    assert (outcome.code, added(outcome)) == (4, ["climate/more"]), messages(outcome)
    assert "field-immutable" in rules(outcome)
    assert "give it another name in Workspace.spec.queues" in messages(outcome)
    assert fleet.show(queue) == before
    replaced(fleet, WORKSPACES, ("    - {name: gpu, queue: batch}\n", "    - {name: gpu, queue: research}\n"))
    replaced(fleet, WORKSPACES, ("{name: cpu, queue: research, default: true}", "{name: cpu, queue: batch, default: true}"))
    fleet.commit()
    outcome = fleet.publish()
    assert (outcome.code, added(outcome)) == (0, ["protein/other"]), messages(outcome)


@pytest.mark.parametrize(
    "edit",
    [
        ("domain: same-network-domain}\n", "domain: same-site}\n"),
        ("topology: fabric\n  nodeLabels: {tern.example/nodes: h200}", "topology: fabric\n  nodeLabels: {tern.example/nodes: h200, x: y}"),
    ],
)
def test_topologies_and_their_flavors_stay_as_they_are(fleet, edit):
    before = fleet.tree()
    replaced(fleet, "policy/flavors.yaml", ("tern.example/block, domain", "tern.example/rack, domain") if "domain" in edit[0] else edit)
    replaced(
        fleet,
        CLUSTERS,
        ("tern.example/block:", "tern.example/rack:")
        if "domain" in edit[0]
        else ("{tern.example/nodes: h200,", "{tern.example/nodes: h200, x: y,"),
    )
    fleet.commit()
    outcome = fleet.publish()
    assert (outcome.code, errors(outcome)) == (4, ["field-immutable"]), messages(outcome)
    assert {path: fleet.tree()[path] for path in before} == before
