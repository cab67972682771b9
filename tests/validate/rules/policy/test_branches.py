"""What the breaking files don't show: the other ways in which a rule speaks, and where it stays silent."""
# ruff: noqa: E501 -- one case a line

import pytest

from taugen.diag import Severity
from taugen.policy.load import load_policy
from taugen.policy.model import FlavorQuotas, Quota
from taugen.validate.rules.policy import RULES, branch_name, cohort_cycle, quota_counts
from tests.policykit import fixture_with

API = "apiVersion: taugen.dev/v1alpha1\n"
BY_ID = {rule.ID: rule for rule in RULES}


def doc(kind: str, spec: str, name: str = "extra") -> str:
    return f"{API}kind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n"


def joined(*documents: str) -> str:
    return "---\n".join(documents)


def workspace(fields: str, queues: str = "[{name: cpu, queue: batch}]") -> str:
    return doc("Workspace", f"{{namespace: lab-extra, owners: {{users: [ada]}}, queues: {queues}, {fields}}}")


def queue(fields: str, quotas: str = "[{flavor: cpu, resources: {cpu: {nominal: 1}, memory: {nominal: 1Gi}}}]") -> str:
    return doc("Queue", f"{{quotas: {quotas}, {fields}}}")


def cluster(pools: str, gitops: str = "engine: flux, url: 'https://git.tern.example/f'", name: str = "cove") -> str:
    return doc("Cluster", f"{{gitops: {{{gitops}}}, nodePools: {pools}}}", name)


def profile(fields: str) -> str:
    return doc("Profile", f"{{gpus: 1, gpuClass: l40s-48gb, queue: research, {fields}}}")


def storage(fields: str) -> str:
    return doc("Storage", f"{{workspaces: [speech], {fields}}}")


def platform(fields: str) -> str:
    return doc("Platform", f"{{queueing: {{fairSharing: {{enable: true}}}}, {fields}}}", "tern")


E, W, N = Severity.ERROR, Severity.WARNING, Severity.NOTE

SPEAKS = [
    ("resource-name", queue("", "[{flavor: cpu, resources: {pods: {nominal: 1}}}]"), "spec.quotas[0].resources.pods", "counts them itself", E),
    ("resource-name", queue("", "[{flavor: cpu, resources: {GPU: {nominal: 1}}}]"), "spec.quotas[0].resources.GPU", "no resource of Kubernetes", E),
    ("resource-quantity", queue("", "[{flavor: cpu, resources: {a/gpu: {nominal: 500m}}}]"), "spec.quotas[0].resources.a/gpu.nominal", "whole number", E),
    ("resource-quantity", cluster("[{name: a, count: 1, allocatable: {cpu: 4Gi}}]"), "spec.nodePools[0].allocatable.cpu", "amount of bytes", E),
    ("preemption-idle", queue("cohort: lab, preemption: {borrowWithinCohort: {maxPriorityThreshold: 5}}"), "spec.preemption.borrowWithinCohort.maxPriorityThreshold", "while policy is Never", W),
    ("preemption-idle", queue("cohort: lab, preemption: {reclaimWithinCohort: Any, borrowWithinCohort: {policy: LowerPriority}}"), "spec.preemption.borrowWithinCohort", "fair sharing is on", W),
    ("preemption-idle", queue("preemption: {reclaimWithinCohort: Any, borrowWithinCohort: {policy: LowerPriority}}"), "spec.preemption.borrowWithinCohort", "no cohort", W),
    ("node-pool-gpus", cluster("[{name: a, count: 1, gpuClass: x}]"), "spec.nodePools[0].gpuClass", "but no GPUs", E),
    ("node-pool-gpus", cluster("[{name: a, count: 1, gpus: 4}]"), "spec.nodePools[0].gpus", "have no class", W),
    ("taint-twice", cluster("[{name: a, count: 1, taints: [{key: g, effect: NoSchedule}, {key: g, effect: NoSchedule}]}]"), "spec.nodePools[0].taints[1].key", "already", E),
    ("flavor-size", doc("Flavor", "{clusters: [mesa], nodeLabels: {" + ", ".join(f"l{n}: a" for n in range(9)) + "}}"), "spec.nodeLabels", "9 nodeLabels, but Kueue takes 8", E),
    ("flavor-without-nodes", doc("Flavor", "{nodeLabels: {tern.example/nodes: nope}}"), "spec.nodeLabels.tern.example/nodes", "cluster fjord or mesa", E),
    ("cpu-flavor-tainted", joined(cluster("[{name: a, count: 1, labels: {n: a}, taints: [{key: g, effect: NoExecute}]}]"), doc("Flavor", "{clusters: [cove], nodeLabels: {n: a}}")), "spec.nodeLabels", "g:NoExecute", E),
    ("flavor-gpu-class", doc("Flavor", "{clusters: [mesa], gpuClass: x, nodeLabels: {tern.example/nodes: general}}"), "spec.gpuClass", "have no GPUs", E),
    ("flavor-gpu-class", doc("Flavor", "{clusters: [fjord], nodeLabels: {tern.example/nodes: l40s}}"), "spec.nodeLabels", "class l40s-48gb", E),
    ("topology-levels", doc("Topology", "{levels: [{label: a, domain: same-site}, {label: a, domain: same-host}]}"), "spec.levels[1].label", "a level already", E),
    ("topology-levels", doc("Topology", "{levels: [{label: kubernetes.io/hostname, domain: same-site}]}"), "spec.levels[0].domain", "same-host", E),
    ("topology-levels", doc("Topology", "{levels: [{label: a, domain: same-site}, {label: b, domain: same-site}]}"), "spec.levels[1].domain", "a level already", E),
    ("topology-levels", doc("Topology", "{levels: [{label: a, domain: same-host}, {label: b, domain: same-site}]}"), "spec.levels[1].domain", "wider than", E),
    ("cohort-limits", doc("Cohort", "{quotas: [{flavor: cpu, resources: {cpu: {nominal: 1, lend: 1}}}]}"), "spec.quotas[0].resources.cpu.lend", "no parent", E),
    ("borrow-needs-cohort", queue("", "[{flavor: cpu, resources: {cpu: {nominal: 1, lend: 1}}}]"), "spec.quotas[0].resources.cpu.lend", "can't lend cpu", E),
    ("queue-flavor-twice", doc("Cohort", "{quotas: [{flavor: cpu, resources: {cpu: {nominal: 1}}}, {flavor: cpu, resources: {cpu: {nominal: 1}}}]}"), "spec.quotas[1].flavor", "already", E),
    ("quota-over-nodes", queue("", "[{flavor: cpu, resources: {ephemeral-storage: {nominal: 900Gi}}}]"), "spec.quotas[0].resources.ephemeral-storage.nominal", "extra 900Gi = 1400Gi ephemeral-storage, but the nodes of cluster fjord have 6 x 180Gi = 1080Gi", W),
    ("quota-over-nodes", queue("", "[{flavor: h200, resources: {rdma/roce: {nominal: 9}}}]"), "spec.quotas[0].resources.rdma/roce.nominal", "nominal 9 rdma/roce, but the nodes of cluster mesa have 4 x 0 + 4 x 0 = 0", W),
    ("quota-over-nodes", doc("Cohort", "{quotas: [{flavor: l40s, resources: {nvidia.com/gpu: {nominal: 1}}}]}"), "spec.quotas[1].resources.nvidia.com/gpu.nominal", "research 8 + extra 1 = 13", W),
    ("queue-split-groups", queue("", "[{flavor: cpu, resources: {cpu: {nominal: 1}, memory: {nominal: 1}}}, {flavor: h200, resources: {nvidia.com/gpu: {nominal: 0}}}]"), "spec.quotas[1].resources", "no node is of both", E),
    ("workspace-queue-nowhere", joined(queue("cohort: lab", "[{flavor: l40s, resources: {cpu: {nominal: 0}, memory: {nominal: 0}}}]"), workspace("", "[{name: x, queue: extra}]")), "spec.queues[0].queue", "not there", N),
    ("local-queue-twice", workspace("", "[{name: a, queue: batch, default: true}, {name: a, queue: research}]"), "spec.queues[1].name", "LocalQueue a already", E),
    ("local-queue-default", workspace("", "[{name: a, queue: batch}, {name: b, queue: research}]"), "spec.queues", "none of the queues", W),
    ("namespace-reserved", joined(cluster("[]", "engine: flux, url: 'https://h/f', namespace: gitops-here"), workspace("").replace("lab-extra", "gitops-here")), "spec.namespace", "cluster cove", E),
    ("namespace-reserved", workspace("").replace("lab-extra", "kueue-system"), "spec.namespace", "belongs to the system", E),
    ("workspace-subjects", workspace("viewers: {users: ['*']}"), "spec.viewers.users[0]", "no name", E),
    ("workspace-subjects", workspace("viewers: {groups: ['system:serviceaccounts:kube-system']}"), "spec.viewers.groups[0]", "every service account of a namespace", E),
    ("egress-cidr", workspace("network: {egress: [{to: 10.0.0.1}]}"), "spec.network.egress[0].to", "an address", E),
    ("egress-cidr", workspace("network: {egress: [{to: pypi.org}]}"), "spec.network.egress[0].to", "no network", E),
    ("egress-cidr", workspace("network: {egress: [{to: '2001:db8:0:0::/32'}]}"), "spec.network.egress[0].to", "shortest form", E),
    ("storage-claim", storage("path: /x, claim: {}"), "spec.claim", "without size and accessModes", E),
    ("storage-claim", storage("path: /x, claim: {size: 0, accessModes: [ReadWriteMany]}"), "spec.claim.size", "size 0", E),
    ("storage-claim", storage("path: /x, claim: {size: 500, accessModes: [ReadWriteMany]}"), "spec.claim.size", "500 bytes", E),
    ("storage-access-modes", storage("path: /x, claim: {size: 1Ti, accessModes: [ReadOnlyMany]}"), "spec.claim.accessModes", "can't be written", W),
    ("storage-access-modes", storage("path: /x, claim: {size: 1Ti, accessModes: [ReadWriteMany, ReadWriteOncePod]}"), "spec.claim.accessModes[1]", "stands alone", E),
    ("flavor-taints", joined(cluster("[{name: a, count: 1, gpus: 1, gpuClass: x, labels: {n: a}, taints: [{key: g, value: yes-please, effect: NoSchedule}]}]"), doc("Flavor", "{clusters: [cove], gpuClass: x, nodeLabels: {n: a}, nodeTaints: [{key: g, value: other, effect: NoSchedule}]}")), "spec.nodeTaints[0].value", "write value: yes-please", E),
    ("flavor-taints", joined(cluster("[{name: a, count: 1, gpus: 1, gpuClass: x, labels: {n: a}, taints: [{key: g, effect: NoSchedule}]}]"), doc("Flavor", "{clusters: [cove], gpuClass: x, nodeLabels: {n: a}, nodeTaints: [{key: g, value: other, effect: NoSchedule}]}")), "spec.nodeTaints[0].value", "remove its value", E),
    ("flavor-without-nodes", joined(cluster("[{name: general, count: 1, labels: {n: general}}, {name: z, count: 1, labels: {n: z}}]"), doc("Flavor", "{clusters: [cove], nodeLabels: {n: generl}}")), "spec.nodeLabels.n", "the nearest is pool general", E),
    ("storage-path", storage("path: x/y, claim: {existing: x}"), "spec.path", "no plain absolute path", E),
    ("storage-path", storage("path: /x/../y, claim: {existing: x}"), "spec.path", "no plain absolute path", E),
    ("storage-path", storage("path: /, claim: {existing: x}"), "spec.path", "nothing can be mounted", E),
    ("storage-one-sided", storage("path: /x, claim: {existing: x}"), "spec.workspaces[0]", "does not list extra", W),
    ("profile-override", profile("override: {priority: {min: 1}}"), "spec.override.priority.min", "no order", E),
    ("profile-override", profile("override: {gpus: {max: 1.5}}"), "spec.override.gpus.max", "whole number", E),
    ("profile-override", profile("override: {max_duration: {max: 5}}"), "spec.override.max_duration.max", "unit", E),
    ("profile-override", profile("override: {gpus: {min: 4, max: 2}}"), "spec.override.gpus.min", "more than max", E),
    ("profile-override", profile("override: {gpus: {min: 2, max: 4}}"), "spec.override.gpus.min", "own gpus 1 is less than min 2", E),
    ("profile-override", profile("override: {gpus: {max: 0}}"), "spec.override.gpus.max", "own gpus 1 is more than max 0", E),
    ("profile-override", profile("override: {gpus: {oneOf: [2, 4]}}"), "spec.override.gpus.oneOf", "own gpus 1 is not among 2, 4", E),
    ("profile-override", profile("override: {kind: {oneOf: [jobs]}}"), "spec.override.kind.oneOf[0]", "no kind", E),
    ("profile-override", profile("override: {gpuClass: {oneOf: [h200-141gb, l40s]}}"), "spec.override.gpuClass.oneOf[1]", "no gpuClass", E),
    ("profile-override", profile("override: {memory: {oneOf: [64Gi, lots]}}"), "spec.override.memory.oneOf[1]", "not a quantity", E),
    ("profile-override", profile("override: {memory: {max: 100}}"), "spec.override.memory.max", "write a unit: 100Gi", E),
    ("profile-override", profile("override: {nodes: {max: 4}}"), "spec.override.nodes", "no field that a run can override", E),
    ("profile-impossible", profile("").replace("l40s-48gb", "l40s"), "spec.gpuClass", "only l40s-48gb", E),
    ("profile-impossible", profile("cpuPerGpu: 120"), "spec.cpuPerGpu", "120", E),
    ("profile-impossible", profile("topology: same-host"), "spec.topology", "same-host", E),
    ("profile-impossible", profile("workers: 30"), "spec.gpus", "30", E),
    ("profile-impossible", doc("Profile", "{gpus: 0, queue: batch, override: {cpus: {min: 100}}}"), "spec.override.cpus", "100 cpu", E),
    ("profile-largest", profile("override: {workers: {max: 40}}"), "spec.override.workers", "40 workers", W),
    ("profile-largest", profile("memoryPerGpu: 200Gi, override: {gpus: {min: 1, max: 4}}"), "spec.memoryPerGpu", "800Gi", W),
    ("profile-without-gpus", doc("Profile", "{gpus: 0, queue: batch, nccl: {NCCL_DEBUG: INFO}}"), "spec.nccl", "has gpus 0", W),
    ("default-image", platform("images: {allow: [registry.tern.example]}, defaults: {images: {job: quay.io/a/b}}"), "spec.defaults.images.job", "not in a place", E),
    ("default-image", platform("images: {digests: required}, defaults: {images: {rayjob: 'quay.io/a/b:1'}}"), "spec.defaults.images.rayjob", "no digest", E),
    ("default-image", workspace("defaults: {runtime: {image: 'Not An Image'}}"), "spec.defaults.runtime.image", "no image reference", E),
    ("default-labels", workspace("defaults: {labels: {job-name: x}}"), "spec.defaults.labels.job-name", "belongs to Kubernetes", E),
    ("default-env", workspace("defaults: {runtime: {env: {NCCL_DEBUG: INFO}}}"), "spec.defaults.runtime.env.NCCL_DEBUG", "set by profiles", E),
    ("default-env", workspace("secrets: [a], defaults: {runtime: {env_secret: {TAU_X: 'a:b'}}}"), "spec.defaults.runtime.env_secret.TAU_X", "set by taugen", E),
    ("default-env", workspace("defaults: {runtime: {env: {HF: hf_" + "aB3" * 11 + "}}}"), "spec.defaults.runtime.env.HF", "never stands in Git", E),
    ("default-secret", platform("defaults: {runtime: {env_secret: {A: 'b:c'}}}"), "spec.defaults.runtime.env_secret.A", "can't name secrets", E),
    ("default-storage", workspace("defaults: {storage: {mounts: [{name: a, storage: audio, path: /a}]}}"), "spec.defaults.storage.mounts[0].storage", "does not list", E),
    ("image-allow", platform("images: {allow: []}"), "spec.images.allow", "no run can have an image", W),
    ("image-allow", platform("images: {allow: ['quay.io/team/*']}"), "spec.images.allow[0]", "write quay.io/team/", E),
    ("image-allow", platform("images: {allow: ['quay.io/team/x@sha256:1']}"), "spec.images.allow[0]", "write quay.io/team/x", E),
    ("code-allow", platform("code: {allow: ['https://a:b@h/x']}"), "spec.code.allow[0]", "no plain https or ssh URL", E),
    ("version-form", platform("versions: {jobset: 'v0.12 or so'}"), "spec.versions.jobset", "no version of jobset", E),
    ("version-pair", platform("versions: {kubernetes: '1.28'}"), "spec.versions.kubernetes", "Kueue 0.15", E),
    ("version-pair", platform("versions: {kuberay: v1.0.0}"), "spec.versions.kuberay", "RayJobs", E),
    ("tier-name", doc("PriorityTier", "{value: 100}"), "spec.value", "has the value of extra", N),
    ("git-url", cluster("[]", "engine: argocd, url: 'https://bob:hunter2@h/x'"), "spec.gitops.url", "https://h/x carries", E),
    ("git-url", cluster("[]", "engine: argocd, url: 'ssh://git:hunter2@h/x'"), "spec.gitops.url", "ssh://h/x carries", E),
    ("git-url", cluster("[]", "engine: flux, url: fleet"), "spec.gitops.url", "no URL", E),
    ("git-url", doc("Project", "{output: {url: 'ext::sh -c x'}}"), "spec.output.url", "no URL", E),
    ("gitops-mismatch", cluster("[]", "engine: flux, url: 'https://h/x', branch: main"), "spec.gitops.branch", "tracks branch main, but publish writes deploy", W),
    ("gitops-path-shared", cluster("[]", "engine: flux, url: 'https://h/x', path: clusters"), "spec.gitops", "clusters", E),
    ("output-path", doc("Project", "{output: {path: .}}"), "spec.output.path", "whole branch", E),
    ("output-path", doc("Project", "{overlays: /etc}"), "spec.overlays", "no folder", E),
    ("listed-twice", workspace("secrets: [a, a]"), "spec.secrets[1]", "already", W),
    ("listed-twice", queue("admissionChecks: [a, a]"), "spec.admissionChecks[1]", "already", E),
    ("listed-twice", storage("path: /x, claim: {size: 1Ti, accessModes: [ReadWriteMany, ReadWriteMany]}"), "spec.claim.accessModes[1]", "already", W),
    ("clusters-none", doc("Flavor", "{clusters: []}"), "spec.clusters", "on no cluster", E),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "text", "path", "words", "severity"), SPEAKS, ids=lambda v: v if isinstance(v, str) and "\n" not in v else ""
)
def test_speaks(rule: str, text: str, path: str, words: str, severity: Severity) -> None:
    policy, _ = load_policy(fixture_with(text))
    assert policy is not None
    found = list(BY_ID[rule].check(policy))
    mine = [
        d for d in found if d.path == path or (path == "spec.gitops" and d.path.startswith(path)) or path.replace("[1]", "[0]") == d.path
    ]
    assert mine, found
    assert any(words in f"{d.message} {d.hint}" and d.severity is severity for d in mine), mine
    assert all("hunter2" not in f"{d.message} {d.hint}" for d in found)


SILENT = [
    ("queue-nowhere", joined(doc("Flavor", "{clusters: []}", "ghost"), queue("clusters: [mesa]", "[{flavor: ghost, resources: {cpu: {nominal: 1}, memory: {nominal: 1Gi}}}]"))),
    ("quota-over-nodes", queue("", "[{flavor: cpu, resources: {cpu: {nominal: 1}, memory: {nominal: 1Gi}, pods: {nominal: 9k}}}]")),
    ("workspace-profile-queue", joined(profile(""), workspace("profiles: [extra]", "[{name: a, queue: reserch}]"))),
    ("workspace-profile-queue", joined(profile("").replace("research", "reserch"), workspace("profiles: [extra]"))),
    ("workspace-profile-queue", joined(profile(""), workspace("profiles: [extra]", "[{name: a, queue: batch}, {name: b, queue: batch}]"))),
    ("profile-override", profile("priority: nomal, override: {priority: {oneOf: [normal]}}")),
    ("profile-over-limit", joined(profile("override: {workers: {min: 30, max: 2}}"), workspace("profiles: [extra], limits: {gpusPerRun: 8}", "[{name: a, queue: research}]"))),
    ("flavor-gpu-class", doc("Flavor", "{gpuClass: l40s-48gb, topology: fabric}")),
    ("gitops-mismatch", cluster("[]", "engine: flux, url: 'https://h/x', path: clusters/mesa")),
    ("gitops-mismatch", doc("Project", "{output: {path: ../clusters}}")),
    ("storage-one-sided", joined(storage("path: /x, claim: {existing: x}").replace("extra", "corpus").replace("speech", "extra"), workspace("storage: [corpsu]"))),
    ("resource-name", queue("", "[{flavor: cpu, resources: {hugepages-1Gi: {nominal: 1Gi}, tern.example/fpga: {nominal: 1}}}]")),
    ("resource-quantity", queue("", "[{flavor: cpu, resources: {cpu: {nominal: 0.5}, memory: {nominal: 0}, hugepages-1Gi: {nominal: 1Gi}}}]")),
    ("lend-over-nominal", queue("cohort: lab", "[{flavor: cpu, resources: {memory: {nominal: 1Gi, lend: 1024Mi}}}]")),
    ("quota-over-nodes", joined(cluster("[{name: a, count: 1, labels: {n: a}}]"), doc("Flavor", "{clusters: [cove], nodeLabels: {n: a}}"), queue("", "[{flavor: extra, resources: {cpu: {nominal: 9k}}}]"))),
    ("flavor-without-nodes", joined(cluster("[]"), doc("Flavor", "{clusters: [cove], nodeLabels: {n: a}}"))),
    ("flavor-taints", joined(cluster("[{name: a, count: 1, gpus: 1, gpuClass: x, labels: {n: a}, taints: [{key: g, effect: PreferNoSchedule}]}]"), doc("Flavor", "{clusters: [cove], gpuClass: x, nodeLabels: {n: a}}"))),
    ("queue-split-groups", queue("", "[{flavor: cpu, resources: {cpu: {nominal: 1}}}, {flavor: l40s, resources: {cpu: {nominal: 0}, nvidia.com/gpu: {nominal: 0}}}]")),
    ("queue-cpu-flavor", queue("", "[{flavor: cpu, resources: {cpu: {nominal: 1}}}]")),
    ("local-queue-default", workspace("")),
    ("egress-cidr", workspace("network: {egress: [{to: 0.0.0.0/0}, {to: '2001:db8::/32'}, {to: 10.1.2.3/32}]}")),
    ("egress-cidr", workspace("network: {egress: []}")),
    ("identity-shared", workspace("identity: {serviceAccount: speech-runs, annotations: {note: same}}")),
    ("storage-path", storage("path: /data/x/, claim: {existing: x}")),
    ("storage-claim", storage("path: /x, claim: {size: 1Ti, accessModes: [ReadWriteMany]}")),
    ("profile-override", profile("override: {cpus: {}, memory: {max: 1Ti}, max_duration: {min: 1h, max: 72h}, gpuClass: {oneOf: [l40s-48gb, h200-141gb]}}")),
    ("profile-impossible", doc("Profile", "{kinds: [job]}")),
    ("profile-impossible", profile("override: {gpuClass: {oneOf: [h200-141gb]}}").replace("gpuClass: l40s-48gb", "gpuClass: any")),
    ("profile-impossible", profile("topology: same-host, override: {topology: {}}")),
    ("profile-largest", profile("override: {gpus: {}, workers: {}, cpus: {}}")),
    ("profile-largest", profile("override: {gpus: {max: lots}}")),
    ("profile-shm", profile("memoryPerGpu: 32Gi, shm: 16Gi")),
    ("workspace-profile-queue", joined(profile("override: {queue: {oneOf: [batch]}}"), workspace("profiles: [extra]"))),
    ("default-image", platform("defaults: {images: {job: 'registry.tern.example/a@sha256:" + "1" * 64 + "'}}")),
    ("image-allow", platform("images: {allow: [quay.io, 'localhost:5000', docker.io/library/, rayproject/, ghcr.io/a-b/c_d]}")),
    ("code-allow", platform("code: {allow: ['https://git.tern.example', 'ssh://git@git.tern.example/a', 'git@git.tern.example:team/x']}")),
    ("git-url", cluster("[]", "engine: argocd, url: 'git@git.tern.example:a/b.git'")),
    ("git-url", cluster("[]", "engine: flux, url: 'http://127.0.0.1:8080/fleet'")),
    ("version-pair", platform("versions: {kubernetes: '1.36.2', kueue: v0.19.2}")),
    ("gitops-mismatch", doc("Project", "{output: {path: ./clusters/}}")),
    ("evidence-branch", doc("Project", "{evidence: {url: 'https://h/e', branch: deploy}}")),
    ("fair-sharing-off", joined(doc("Platform", "{}", "tern"), queue("cohort: lab, fairSharing: {weight: 1}"))),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "text"), SILENT, ids=lambda v: v if "\n" not in v else "")
def test_silent(rule: str, text: str) -> None:
    policy, found = load_policy(fixture_with(text))
    assert policy is not None
    assert found == []
    assert [d for d in BY_ID[rule].check(policy) if "extra" in str(d.span.file) or d.span.file == "taugen.yaml"] == []


@pytest.mark.parametrize(
    ("parents", "rings"),
    [
        ({"a": "a"}, ["a -> a"]),
        ({"a": "b", "b": "c", "c": "a"}, ["a -> b -> c -> a"]),
        ({"a": "b", "b": "c", "c": "b"}, ["b -> c -> b"]),
        ({"a": "b", "b": "a", "w": "v", "v": "w", "z": "v"}, ["a -> b -> a", "v -> w -> v"]),
        ({"a": "b", "b": "c", "c": "lab"}, []),
    ],
)
def test_cycles(parents: dict[str, str], rings: list[str]) -> None:
    policy, _ = load_policy(fixture_with(joined(*(doc("Cohort", f"{{parent: {p}}}", c) for c, p in parents.items()))))
    assert policy is not None
    found = list(cohort_cycle.check(policy))
    assert [d.message.partition("cycle: ")[2].partition(":")[0] for d in found] == rings
    assert all("hangs" in d.message for d in found)


@pytest.mark.parametrize(
    ("flavors", "resources", "shared", "words"),
    [
        (17, 1, False, "17 groups of flavors"),
        (65, 1, True, "65 flavors that share a resource"),
        (1, 65, True, "65 resources in one group"),
        (33, 16, True, "33 flavors x 16 resources = 528"),
        (5, 60, False, "300 resources"),
        (16, 64, False, "1024 resources"),
        (8, 64, True, None),
        (64, 8, True, None),
        (4, 64, False, None),
        (16, 16, False, None),
    ],
)
def test_counts(flavors: int, resources: int, shared: bool, words: str | None) -> None:
    quotas = [
        FlavorQuotas(flavor=f"f{f}", resources={f"a/r{r}" if shared else f"a/r{f}-{r}": Quota(nominal="1") for r in range(resources)})
        for f in range(flavors)
    ]
    found = quota_counts._excess(quotas)
    assert (found is None) if words is None else (found is not None and words in found)


@pytest.mark.parametrize("name", ["deploy", "a/b", "release-1.2", "@x", "x@y"])
def test_branches_that_git_takes(name: str) -> None:
    assert not branch_name._BAD.search(name)


@pytest.mark.parametrize(
    "name",
    [
        "a b",
        "a..b",
        "a~1",
        "a^",
        "a:b",
        "a?",
        "a*",
        "[a",
        "a\\b",
        "/a",
        "a/",
        "-a",
        "a.",
        "@",
        ".a",
        "a/.b",
        "a.lock",
        "a.lock/b",
        "a@{b",
        "a//b",
        "a\n",
    ],
)
def test_branches_that_git_refuses(name: str) -> None:
    assert branch_name._BAD.search(name)
