"""Clusters, flavors, tolerations, topology and affinity, and what is said where there is no place."""

import pytest

from taugen.resolve.flavors import amount, view
from taugen.words import quantity
from tests.resolve.kit import job, play, policy_with, rayjob

HEAD = "apiVersion: taugen.dev/v1alpha1\n"


def cluster(name: str, pools: str) -> str:
    return f"{HEAD}kind: Cluster\nmetadata:\n  name: {name}\nspec:\n  gitops: {{engine: argocd, url: 'https://git.tern.example/f.git'}}\n{pools}"


def workspace(**changed: str) -> str:
    spec = {
        "namespace": "lab-speech",
        "clusters": "[fjord]",
        "queues": "[{name: gpu, queue: research, default: true}, {name: cpu, queue: batch}]",
        **changed,
    }
    return f"{HEAD}kind: Workspace\nmetadata:\n  name: speech\nspec:\n" + "".join(f"  {k}: {v}\n" for k, v in spec.items() if v)


def queue(name: str, quotas: str) -> str:
    return f"{HEAD}kind: Queue\nmetadata:\n  name: {name}\nspec:\n  quotas:\n{quotas}"


FLAVOR = (
    HEAD + "kind: Flavor\nmetadata:\n  name: {name}\nspec:\n  gpuClass: {gpu_class}\n  clusters: [fjord]\n  nodeLabels: {{pool: {name}}}\n"
)
TWO = (
    FLAVOR.format(name="blue", gpu_class="b-16gb")
    + "---\n"
    + FLAVOR.format(name="red", gpu_class="r-24gb")
    + "---\n"
    + queue(
        "research",
        "".join(
            f"    - flavor: {name}\n      resources: {{cpu: {{nominal: 64}}, memory: {{nominal: 512Gi}}, "
            f"nvidia.com/gpu: {{nominal: {gpus}}}}}\n"
            for name, gpus in (("blue", 8), ("red", 4), ("cpu", 0))
        ),
    )
    + "---\n"
    + workspace()
)


def required(*expressions: object) -> object:
    terms = [{"matchExpressions": list(expressions)}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def test_several_candidate_clusters_are_listed() -> None:
    text = job(gpus=0, profile="cpu")
    found = play(text, workspace="protein").one("cluster-ambiguous")
    assert ("fjord, mesa" in found.message, found.path) == (True, "policy.cluster")
    assert play(text.replace("profile: cpu", "profile: cpu, cluster: mesa"), workspace="protein").decided.cluster == "mesa"


def test_the_one_cluster_that_has_the_class_is_taken() -> None:
    run = play(job(profile="l40s-small"), workspace="protein").decided
    assert (run.cluster, run.restricted) == ("fjord", True)


def test_an_unknown_cluster_names_those_of_the_workspace() -> None:
    played = play(job("policy: {cluster: fjort}"))
    assert played.one("cluster-unknown").hint == "write fjord"
    assert played.errors() == ["cluster-unknown"]


def test_no_cluster_says_for_each_why() -> None:
    policy = workspace(clusters="[fjord, mesa]")
    found = play(job("compute: {gpus: 9, gpu_class: l40s-48gb}", gpus=None), policy=policy).one("cluster-none")
    assert "on fjord: no node of flavor l40s holds 9 nvidia.com/gpu: the largest has 4" in found.message
    assert "on mesa: queue research has no l40s-48gb there, only h200-141gb" in found.message
    same = play(job(gpus=9), policy=policy).one("no-node-fits")
    assert (same.path, "the largest has 4; on mesa" in same.message) == ("compute.gpus", True)


def test_a_node_too_small_points_at_the_field_that_causes_it() -> None:
    found = play(job("compute: {gpus: 1, memory: 800Gi}", gpus=None), policy=workspace()).one("no-node-fits")
    assert (found.path, "740Gi" in found.message) == ("compute.memory", True)
    assert found.origin is not None
    assert found.origin.file.endswith("cluster-fjord.yaml")
    assert play(job(gpus=5), policy=workspace()).one("no-node-fits").path == "compute.gpus"


def test_what_a_profile_derives_from_the_gpus_is_shown_there() -> None:
    profile = (
        HEAD
        + "kind: Profile\nmetadata:\n  name: l40s-small\nspec:\n  gpus: 1\n  cpuPerGpu: 40\n"
        + "  queue: research\n  override: {gpus: {max: 4}}\n"
    )
    assert play(job(gpus=4, profile="l40s-small"), policy=profile).one("no-node-fits").path == "compute.gpus"
    brought = profile.replace("cpuPerGpu: 40", "cpuPerGpu: 140")
    assert play(job(gpus=None, profile="l40s-small"), policy=brought).one("no-node-fits").path == "policy.profile"


def test_pieces_that_fit_one_by_one_but_not_at_once() -> None:
    pools = """  nodePools:
    - {name: a, count: 2, labels: {tern.example/nodes: l40s}, allocatable: {cpu: 8, memory: 740Gi, nvidia.com/gpu: 4}, gpus: 4}
    - {name: b, count: 2, labels: {tern.example/nodes: l40s}, allocatable: {cpu: 94, memory: 10Gi, nvidia.com/gpu: 4}, gpus: 4}
    - {name: c, count: 2, labels: {tern.example/nodes: general}, allocatable: {cpu: 94, memory: 100Gi}}
"""
    found = play(job("compute: {gpus: 1, cpus: 20, memory: 20Gi}", gpus=None), policy=workspace() + "---\n" + cluster("fjord", pools))
    assert "at once" in found.one("no-node-fits").message


def test_a_flavor_whose_pools_count_no_node() -> None:
    pools = """  nodePools:
    - {name: general, count: 2, labels: {tern.example/nodes: general}, allocatable: {cpu: 8, memory: 64Gi}}
    - {name: l40s, count: 0, labels: {tern.example/nodes: l40s}, allocatable: {cpu: 94, memory: 740Gi, nvidia.com/gpu: 4}, gpus: 4}
"""
    found = play(job(), policy=workspace() + "---\n" + cluster("fjord", pools)).one("no-node-fits")
    assert "flavor l40s has no nodes" in found.message


def test_quota_with_everything_that_can_be_borrowed_is_the_bound() -> None:
    enough = play(rayjob("compute: {gpus: 4, workers: 3}"), policy=workspace())
    assert enough.decided.placement.flavors == ("l40s",)
    found = play(rayjob("compute: {gpus: 4, workers: 4}"), policy=workspace()).one("quota-too-small")
    assert "16 (4 x 4) nvidia.com/gpu" in found.message
    assert "12 (nominal 8, at most 4 borrowed)" in found.message
    assert found.origin is not None
    assert found.origin.file.endswith("queue-research.yaml")


def test_a_resource_without_quota_would_wait_for_ever() -> None:
    quotas = "    - flavor: l40s\n      resources: {nvidia.com/gpu: {nominal: 8}}\n"
    found = play(job(), policy=workspace() + "---\n" + queue("research", quotas)).one("quota-missing")
    assert "no quota of cpu in flavor l40s" in found.message


@pytest.mark.parametrize("text", [job(gpus=0), rayjob("compute: {gpus: 1}")])
def test_cpu_pods_need_a_flavor_without_taints(text: str) -> None:
    quotas = "    - flavor: l40s\n      resources: {cpu: {nominal: 64}, memory: {nominal: 512Gi}, nvidia.com/gpu: {nominal: 8}}\n"
    found = play(text, policy=workspace() + "---\n" + queue("research", quotas)).one("no-cpu-flavor")
    assert "add a CPU flavor" in found.hint
    assert ("Ray head" in found.message) == ("rayjob" in text)


def test_gpu_classes_of_one_queue_are_told_apart_by_their_labels() -> None:
    run = play(job("compute: {gpus: 1, gpu_class: r-24gb}", gpus=None), policy=TWO).decided
    assert (run.placement.flavors, run.gpu_class) == (("red",), "r-24gb")
    assert run.placement.affinity == required({"key": "pool", "operator": "In", "values": ["red"]})


def test_any_class_takes_them_all() -> None:
    run = play(job("compute: {gpus: 1, gpu_class: any}", gpus=None), policy=TWO).decided
    assert (run.placement.flavors, run.placement.affinity, run.gpu_class) == (("blue", "red"), None, None)
    larger = play(job("compute: {gpus: 6, gpu_class: any}", gpus=None), policy=TWO).decided
    assert larger.placement.flavors == ("blue",)
    assert larger.placement.affinity is not None


def test_an_unknown_class_lists_those_of_the_queue() -> None:
    found = play(job("compute: {gpus: 1, gpu_class: h100}", gpus=None), policy=TWO).one("gpu-class-not-in-queue")
    assert (found.path, "b-16gb, r-24gb" in found.message) == ("compute.gpu_class", True)
    assert play(job("policy: {queue: cpu}"), policy=workspace(clusters="[fjord]") + "---\n" + _cpu_only()).one("gpu-not-in-queue")


def _cpu_only() -> str:
    return queue("batch", "    - flavor: cpu\n      resources: {cpu: {nominal: 64}, memory: {nominal: 512Gi}}\n")


def test_classes_without_labels_cant_be_told_apart() -> None:
    policy = TWO.replace("  nodeLabels: {pool: red}\n", "")
    assert play(job("compute: {gpus: 1, gpu_class: r-24gb}", gpus=None), policy=policy).one("gpu-class-indistinct")


def test_the_documents_own_labels_join_those_of_the_flavor() -> None:
    wish = "policy: {node_affinity: [{key: rack, values: [r1]}, {key: pool, operator: NotIn, values: [blue]}]}"
    run = play(job("compute: {gpus: 1}", wish, gpus=None), policy=TWO).decided
    assert run.placement.flavors == ("red",)
    assert run.placement.affinity is not None
    wishes = [{"key": "rack", "operator": "In", "values": ["r1"]}, {"key": "pool", "operator": "NotIn", "values": ["blue"]}]
    assert run.placement.affinity == required(*wishes)


def test_a_wish_that_no_flavor_meets_would_wait_for_ever() -> None:
    wish = "policy: {node_affinity: [{key: rack, operator: Exists}, {key: pool, values: [green]}]}"
    found = play(job("compute: {gpus: 1}", wish, gpus=None), policy=TWO).one("affinity-excludes-flavors")
    assert (found.path, "blue: blue; red: red" in found.message) == ("policy.node_affinity[1]", True)


@pytest.mark.parametrize(
    ("term", "left"),
    [
        ("{key: pool, operator: Exists}", ("blue", "red")),
        ("{key: pool, operator: NotIn, values: [red]}", ("blue",)),
        ("{key: size, operator: Gt, values: [4]}", ("blue", "red")),
    ],
)
def test_terms_are_matched_as_kueue_matches_them(term: str, left: tuple[str, ...]) -> None:
    run = play(job("compute: {gpus: 1}", f"policy: {{node_affinity: [{term}]}}", gpus=None), policy=TWO).decided
    assert run.placement.flavors == left


def test_a_topology_wish_becomes_the_label_of_its_level() -> None:
    free = HEAD + "kind: Profile\nmetadata:\n  name: h200-node\nspec:\n  gpus: 8\n  gpuClass: h200-141gb\n  queue: research\n"
    text = job(gpus=None, profile="h200-node")

    def topology(more: str) -> object:
        played = play(text.replace("{profile: h200-node}", f"{{profile: h200-node{more}}}"), workspace="climate", policy=free)
        return played.decided.placement.topology

    assert topology("") == ("unconstrained", "true")
    assert topology(", topology: unconstrained") == ("unconstrained", "true")
    assert topology(", topology: same-host") == ("required", "kubernetes.io/hostname")
    assert topology(", preferred_topology: same-network-domain") == ("preferred", "tern.example/block")
    unknown = play(text.replace("{profile: h200-node}", "{profile: h200-node, topology: same-site}"), workspace="climate", policy=free)
    assert "same-host, same-network-domain" in unknown.one("topology-unknown-level").message
    both = "{profile: h200-node, topology: same-host, preferred_topology: same-host}"
    twice = play(text.replace("{profile: h200-node}", both), workspace="climate", policy=free)
    assert twice.one("topology-twice").path == "policy.preferred_topology"


def test_a_flavor_without_topology_knows_no_level() -> None:
    assert play(job("policy: {topology: same-host}"), policy=workspace()).one("topology-unknown-level").path == "policy.topology"


def test_in_a_mixed_queue_only_flavors_with_a_topology_take_annotated_pods() -> None:
    policy = TWO.replace("  nodeLabels: {pool: red}", "  nodeLabels: {pool: red}\n  topology: fabric")
    run = play(job(), policy=policy).decided
    assert (run.placement.flavors, run.placement.topology) == (("red",), ("unconstrained", "true"))
    cpu = play(job(gpus=0), policy=policy).decided
    assert (cpu.placement.flavors, cpu.placement.topology) == (("cpu",), None)


def test_queues_by_name_by_profile_and_by_default() -> None:
    assert play(job("policy: {queue: gpu}")).decided.placement.queue == "gpu"
    auto = play(job("policy: {queue: auto}"))
    assert (auto.decided.placement.queue, "gpu" in auto.one("queue-auto").message) == ("gpu", True)
    unknown = play(job("policy: {queue: research}")).one("queue-unknown")
    assert (unknown.hint, "ClusterQueue research" in unknown.message) == ("write gpu", True)
    none = workspace(queues="[{name: gpu, queue: research}, {name: cpu, queue: batch}]")
    assert play(job(), policy=none).errors() == ["queue-missing"]
    foreign = workspace(queues="[{name: cpu, queue: batch}]", profiles="[l40s-small]")
    assert play(job(), policy=foreign).one("queue-of-profile").origin is not None


def test_tiers_are_checked_where_the_document_names_them() -> None:
    assert play(job("policy: {priority: urgnt}"), policy=workspace()).one("priority-unknown").hint == "write urgent"
    assert play(job("policy: {priority: urgnt}")).errors() == ["priority-unknown"]
    assert play(job("policy: {priority: urgnt, profile: l40s-small}")).errors() == ["priority-unknown"]
    assert play(job(), policy=workspace()).decided.placement.tier is None
    assert play(job(), policy=workspace(defaults="{priority: low}")).decided.placement.tier == "low"


def test_mig_slices_are_an_extended_resource_of_their_own() -> None:
    quotas = "    - flavor: l40s\n      resources: {cpu: {nominal: 64}, memory: {nominal: 512Gi}, nvidia.com/mig-1g.10gb: {nominal: 8}}\n"
    policy = workspace() + "---\n" + queue("research", quotas)
    run = play(job("compute: {gpus: 2, mig_profile: 1g.10gb}", gpus=None), policy=policy).decided
    assert (run.worker.extended, run.gpus) == ({"nvidia.com/mig-1g.10gb": 2}, 2)
    assert play(job("compute: {gpus: 2, mig_profile: half}", gpus=None), policy=policy).one("mig-profile")
    assert "0 GPUs" in play(job("compute: {gpus: 0, mig_profile: 1g.10gb}", gpus=None), policy=policy).one("mig-profile").message


def test_other_makers_gpus_have_their_own_resource() -> None:
    quotas = "".join(
        f"    - flavor: {name}\n      resources: {{cpu: {{nominal: 64}}, memory: {{nominal: 512Gi}}, amd.com/gpu: {{nominal: {n}}}}}\n"
        for name, n in (("l40s", 8), ("cpu", 0))
    )
    pools = "  nodePools: [{name: x, count: 2, labels: {tern.example/nodes: l40s}, gpus: 8}]\n"
    policy = workspace() + "---\n" + queue("research", quotas) + "---\n" + cluster("fjord", pools)
    assert play(job(), policy=policy).decided.worker.extended == {"amd.com/gpu": 1}


def test_a_cohort_lends_what_its_members_and_its_parents_have() -> None:
    cohorts = HEAD + "kind: Cohort\nmetadata:\n  name: lab\nspec: {parent: all}\n---\n" + HEAD
    cohorts += "kind: Cohort\nmetadata:\n  name: all\nspec:\n  quotas: [{flavor: cpu, resources: {cpu: {nominal: 7}}}]\n"
    share = view(policy_with(cohorts), "research", "fjord").flavor("cpu")
    assert share is not None
    assert share.shares["cpu"].most == 120 + 200 + 7


def test_a_cycle_of_cohorts_ends() -> None:
    cycle = HEAD + "kind: Cohort\nmetadata:\n  name: lab\nspec: {parent: all}\n---\n" + HEAD
    cycle += "kind: Cohort\nmetadata:\n  name: all\nspec: {parent: lab}\n"
    assert play(job(), policy=cycle).run is not None


def test_amounts_read_like_what_was_typed() -> None:
    assert amount(quantity.parse("2Ti"), "64Gi") == "2Ti"
    assert amount(quantity.parse("1500m"), "1") == "1500m"
    assert amount(quantity.parse("8Pi") * 100000, "8Pi") == str(2**53 * 100000)
