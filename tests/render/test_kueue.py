"""Kueue's objects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taugen.policy import model
from taugen.render.kueue import resource_groups
from taugen.render.platform import render_platform
from tests.render.test_platform import by_path, policy_with

HEAD = "apiVersion: taugen.dev/v1alpha1\nkind: {}\nmetadata: {{name: {}}}\nspec: {}\n"


@pytest.fixture(scope="module")
def paths():
    return by_path(render_platform(policy_with()))


def rendered(*documents):
    return by_path(render_platform(policy_with("---\n".join(HEAD.format(*d) for d in documents))))


def test_a_cluster_queue(paths):
    assert paths["mesa/platform/clusterqueue-research.yaml"]["spec"] == {
        "cohortName": "lab",
        "namespaceSelector": {
            "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["lab-climate", "lab-protein"]}]
        },
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": [
            {
                "coveredResources": ["cpu", "memory", "nvidia.com/gpu", "rdma/ib"],
                "flavors": [
                    {
                        "name": "cpu",
                        "resources": [
                            {"name": "cpu", "nominalQuota": "120"},
                            {"name": "memory", "nominalQuota": "400Gi"},
                            {"name": "nvidia.com/gpu", "nominalQuota": "0"},
                            {"name": "rdma/ib", "nominalQuota": "0"},
                        ],
                    },
                    {
                        "name": "h200",
                        "resources": [
                            {"name": "cpu", "nominalQuota": "1400"},
                            {"name": "memory", "nominalQuota": "12Ti"},
                            {"name": "nvidia.com/gpu", "nominalQuota": "56", "lendingLimit": "24"},
                            {"name": "rdma/ib", "nominalQuota": "56"},
                        ],
                    },
                ],
            }
        ],
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"},
        "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "Never"}},
        "fairSharing": {"weight": "2"},
        "stopPolicy": "None",
    }


def test_only_flavors_of_the_cluster(paths):
    groups = paths["fjord/platform/clusterqueue-research.yaml"]["spec"]["resourceGroups"]
    assert [f["name"] for f in groups[0]["flavors"]] == ["cpu", "l40s"]
    assert groups[0]["flavors"][1]["resources"][2] == {"name": "nvidia.com/gpu", "nominalQuota": "8", "borrowingLimit": "4"}
    assert "mesa/platform/resourceflavor-l40s.yaml" not in paths


def test_flavors_carry_labels_and_taints_and_never_tolerations(paths):
    assert paths["mesa/platform/resourceflavor-h200.yaml"]["spec"] == {
        "nodeLabels": {"tern.example/nodes": "h200"},
        "nodeTaints": [{"key": "nvidia.com/gpu", "value": "h200", "effect": "NoSchedule"}],
        "topologyName": "fabric",
    }
    assert paths["fjord/platform/resourceflavor-l40s.yaml"]["spec"]["nodeTaints"] == [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]


def test_a_topology_where_a_flavor_uses_it(paths):
    levels = [{"nodeLabel": "tern.example/block"}, {"nodeLabel": "kubernetes.io/hostname"}]
    assert paths["mesa/platform/topology-fabric.yaml"]["spec"]["levels"] == levels
    assert "fjord/platform/topology-fabric.yaml" not in paths


def test_a_tier(paths):
    tier = paths["fjord/platform/workloadpriorityclass-urgent.yaml"]
    assert (tier["value"], tier["description"]) == (5000, "Agreed with the platform team first.")
    assert "spec" not in tier


def test_local_queues(paths):
    queue = paths["mesa/workspaces/protein/localqueue-gpu.yaml"]
    assert queue["spec"] == {"clusterQueue": "research", "stopPolicy": "None"}
    assert queue["metadata"]["namespace"] == "lab-protein"


def test_a_queue_without_flavors_on_a_cluster_is_not_there():
    out = rendered(
        ("Queue", "east", "{quotas: [{flavor: h200, resources: {nvidia.com/gpu: {nominal: 8}}}]}"),
        ("Workspace", "protein", "{namespace: lab-protein, queues: [{name: east, queue: east}, {name: gpu, queue: research}]}"),
    )
    assert "mesa/platform/clusterqueue-east.yaml" in out
    assert "fjord/platform/clusterqueue-east.yaml" not in out
    assert "mesa/workspaces/protein/localqueue-east.yaml" in out
    assert "fjord/workspaces/protein/localqueue-east.yaml" not in out


def test_a_queue_on_named_clusters_only():
    out = rendered(("Queue", "cpus", "{clusters: [fjord], quotas: [{flavor: cpu, resources: {cpu: {nominal: 1}}}]}"))
    assert [p for p in out if p.endswith("clusterqueue-cpus.yaml")] == ["fjord/platform/clusterqueue-cpus.yaml"]


def test_a_queue_that_no_workspace_feeds_selects_no_namespace():
    out = rendered(("Queue", "spare", "{quotas: [{flavor: cpu, resources: {cpu: {nominal: 1}}}]}"))
    assert "namespaceSelector" not in out["mesa/platform/clusterqueue-spare.yaml"]["spec"]


def test_every_setting_of_a_queue_shows():
    spec = """
  cohort: lab
  strategy: StrictFIFO
  stop: HoldAndDrain
  admissionChecks: [budget]
  fungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: MayStopSearch}
  preemption:
    withinClusterQueue: LowerOrNewerEqualPriority
    reclaimWithinCohort: LowerPriority
    borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 100}
  fairSharing: {weight: 0.5}
  quotas: [{flavor: cpu, resources: {cpu: {nominal: 1000, borrow: 0.5, lend: 1500m}, memory: {nominal: 1024Mi}}}]"""
    out = rendered(("Queue", "all", spec))["mesa/platform/clusterqueue-all.yaml"]["spec"]
    assert out["queueingStrategy"] == "StrictFIFO"
    assert out["stopPolicy"] == "HoldAndDrain"
    assert out["admissionChecksStrategy"] == {"admissionChecks": [{"name": "budget"}]}
    assert out["flavorFungibility"] == {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "MayStopSearch"}
    assert out["preemption"]["borrowWithinCohort"] == {"policy": "LowerPriority", "maxPriorityThreshold": 100}
    assert out["fairSharing"] == {"weight": "500m"}
    (flavor,) = out["resourceGroups"][0]["flavors"]
    assert flavor["resources"] == [
        {"name": "cpu", "nominalQuota": "1k", "borrowingLimit": "500m", "lendingLimit": "1500m"},
        {"name": "memory", "nominalQuota": "1Gi"},
    ]


def test_cohorts_that_a_cluster_uses_and_those_above():
    out = rendered(
        ("Cohort", "lab", "{parent: site, fairSharing: {weight: 3}}"),
        ("Cohort", "site", "{quotas: [{flavor: h200, resources: {nvidia.com/gpu: {nominal: 8, borrow: 1, lend: 9}}}]}"),
        ("Cohort", "idle", "{}"),
    )
    assert out["mesa/platform/cohort-lab.yaml"]["spec"] == {"parentName": "site", "fairSharing": {"weight": "3"}}
    (flavor,) = out["mesa/platform/cohort-site.yaml"]["spec"]["resourceGroups"][0]["flavors"]
    assert flavor["resources"] == [{"name": "nvidia.com/gpu", "nominalQuota": "8", "borrowingLimit": "1", "lendingLimit": "9"}]
    assert out["fjord/platform/cohort-site.yaml"]["spec"] == {}
    assert not any("cohort-idle" in path for path in out)


def quotas(*flavors):
    return [
        model.FlavorQuotas(flavor=name, resources={r: model.Quota(nominal=1) for r in resources.split()}) for name, resources in flavors
    ]


def test_flavors_that_share_a_resource_stand_in_one_group():
    groups = resource_groups(
        quotas(("a", "cpu memory"), ("lic", "example.com/license"), ("b", "nvidia.com/gpu"), ("c", "cpu nvidia.com/gpu"))
    )
    assert [[f["name"] for f in g["flavors"]] for g in groups] == [["a", "b", "c"], ["lic"]]
    assert groups[0]["coveredResources"] == ["cpu", "memory", "nvidia.com/gpu"]


resources = st.sets(st.sampled_from(["cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "rdma/ib", "a.example/x"]), min_size=1)


@given(st.lists(resources, max_size=6))
def test_groups_keep_kueues_rules(sets):
    """A resource and a flavor occur in one group only; each flavor has the covered resources in their order; nothing is lost."""
    given_ = [(f"f{at}", " ".join(found)) for at, found in enumerate(sets)]
    groups = resource_groups(quotas(*given_))
    covered = [r for g in groups for r in g["coveredResources"]]
    names = [f["name"] for g in groups for f in g["flavors"]]
    assert sorted(covered) == sorted(set().union(*sets))
    assert sorted(names) == [name for name, _ in given_]
    for group in groups:
        order = [f["name"] for f in group["flavors"]]
        assert order == sorted(order), "the order of policy is the order of preference"
        for flavor in group["flavors"]:
            assert [r["name"] for r in flavor["resources"]] == group["coveredResources"]
            wanted = sets[int(flavor["name"][1:])]
            assert {r["name"] for r in flavor["resources"] if r["nominalQuota"] == "1"} == wanted
