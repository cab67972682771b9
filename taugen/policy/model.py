"""Policy documents: one frozen model a kind, as platform teams write them.

In: plain data of a document's `spec`. Out: frozen models. Defaults are Kubernetes' and Kueue's own unless a comment says otherwise. Every accepted field is read by
`resolve`, `render` or a rule; kinds that are not built yet are listed in `LATER`, and the loader refuses them.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from taugen.spec.model import ComputeSection, ResilienceSection, RuntimeSection, StorageSection, Topology
from taugen.spec.types import Count, CountQuantity, CpuQuantity, EnvName, ImageRef, MemoryQuantity, Text

Label = Annotated[str, StringConstraints(min_length=1, max_length=317)]
LabelValue = Annotated[str, StringConstraints(max_length=63)]
DnsName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", min_length=1, max_length=63)]


class Spec(BaseModel):
    """A mapping of a policy document."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


# ------------------------------------------------------------------------------------------------------------------ Project


class GitSource(Spec):
    """A Git repository; `ref` is what `taugen lock --update` follows, the pinned commit stands in taugen.lock."""

    url: Text
    ref: Text = "HEAD"
    path: Text = "."


class PolicySource(Spec):
    """One place of policy documents: exactly one of `path` (in this repository) or `git`."""

    path: Text | None = None
    git: GitSource | None = None


class Output(Spec):
    """Where the deploy tree goes: the local repository unless `url` names another."""

    url: Text | None = None
    branch: Text = "deploy"
    path: Text = "clusters"


class EvidencePlace(Spec):
    """Where the collector writes."""

    url: Text | None = None
    branch: Text = "evidence"


class Safety(Spec):
    """`cancel: allow` lets a live run go when its document vanishes."""

    cancel: Literal["confirm", "allow"] = "confirm"


class Project(Spec):
    """taugen.yaml."""

    policy: list[PolicySource] = Field(default_factory=lambda: [PolicySource(path="policy")])
    runs: list[Text] = Field(default_factory=lambda: ["workspaces/*/**/tau.yaml", "workspaces/*/**/tau/*.yaml"])
    overlays: Text = "overlays"
    output: Output = Output()
    evidence: EvidencePlace = EvidencePlace()
    safety: Safety = Safety()


# ----------------------------------------------------------------------------------------------------------------- Platform


class Versions(Spec):
    """Versions of what runs in the clusters; schemas and rules follow them."""

    kubernetes: Text | None = None
    kueue: Text | None = None
    kuberay: Text | None = None
    jobset: Text | None = None
    trainer: Text | None = None
    nodeReadinessController: Text | None = None  # noqa: N815
    gitops: Text | None = None


class Images(Spec):
    """Registries that runs may use (whole path components of the full reference), and whether digests are demanded."""

    allow: list[Text] | None = None
    digests: Literal["required", "warn"] = "warn"


class CodePolicy(Spec):
    """Git URLs that `code.git.url` may name, as prefixes of whole path components."""

    allow: list[Text] = Field(default_factory=list)


class KindImages(Spec):
    """Default images by workload kind."""

    job: ImageRef | None = None
    jobset: ImageRef | None = None
    rayjob: ImageRef | None = None


class Defaults(Spec):
    """Values that fill what a document leaves out."""

    images: KindImages | None = None
    runtime: RuntimeSection | None = None
    compute: ComputeSection | None = None
    storage: StorageSection | None = None
    resilience: ResilienceSection | None = None
    labels: dict[Text, LabelValue] | None = None
    priority: Text | None = None
    max_duration: Text | None = None
    grace_period: Text | None = None


class WaitForPodsReady(Spec):
    """Kueue's waitForPodsReady, written into the Kueue configuration of bootstrap."""

    enable: bool = True
    timeout: Text | None = None


class KueueFairSharing(Spec):
    """Kueue's fairSharing configuration."""

    enable: bool = True
    preemptionStrategies: list[Literal["LessThanOrEqualToFinalShare", "LessThanInitialShare"]] | None = None  # noqa: N815


class Queueing(Spec):
    """Kueue's own configuration."""

    waitForPodsReady: WaitForPodsReady | None = None  # noqa: N815
    fairSharing: KueueFairSharing | None = None  # noqa: N815


class Platform(Spec):
    """What holds for all clusters. At most one document."""

    versions: Versions = Versions()
    images: Images = Images()
    code: CodePolicy = CodePolicy()
    pricing: dict[Text, Annotated[float, Field(ge=0)]] = Field(default_factory=dict)
    defaults: Defaults = Defaults()
    queueing: Queueing = Queueing()


# ------------------------------------------------------------------------------------------------------------------ Cluster


class Taint(Spec):
    """A node taint."""

    key: Label
    value: LabelValue | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]


class NodePool(Spec):
    """Nodes of one kind."""

    name: DnsName
    count: Count
    instanceType: Text | None = None  # noqa: N815
    labels: dict[Label, LabelValue] = Field(default_factory=dict)
    taints: list[Taint] = Field(default_factory=list)
    allocatable: dict[Label, CountQuantity] = Field(default_factory=dict)
    gpuClass: Text | None = None  # noqa: N815
    gpus: Count = 0


class GitOps(Spec):
    """What applies the deploy tree in the cluster."""

    engine: Literal["argocd", "flux"]
    url: Text
    branch: Text = "deploy"
    path: Text | None = None
    namespace: DnsName | None = None
    project: DnsName | None = None


class Metrics(Spec):
    """Where the collector asks for metrics."""

    prometheus: Text | None = None


class Cluster(Spec):
    """A Kubernetes cluster."""

    gitops: GitOps
    nodePools: list[NodePool] = Field(default_factory=list)  # noqa: N815
    labels: dict[Label, LabelValue] = Field(default_factory=dict)
    overlays: list[Text] = Field(default_factory=list)
    role: Literal["standalone", "manager", "worker"] = "standalone"
    collector: dict[str, object] | None = None
    metrics: Metrics | None = None


# ------------------------------------------------------------------------------------------------------------------- Queues


class Flavor(Spec):
    """A kind of node, as Kueue sees it: a ResourceFlavor on each of its clusters. Never carries tolerations."""

    gpuClass: Text | None = None  # noqa: N815
    nodeLabels: dict[Label, LabelValue] = Field(default_factory=dict)  # noqa: N815
    nodeTaints: list[Taint] = Field(default_factory=list)  # noqa: N815
    topology: DnsName | None = None
    clusters: list[DnsName] | None = None


class Level(Spec):
    """One level of a Topology, outermost first."""

    label: Label
    domain: Literal["same-host", "same-accelerator-domain", "same-network-domain", "same-site"]


class TopologySpec(Spec):
    """A Kueue Topology."""

    levels: list[Level] = Field(min_length=1, max_length=16)


class Quota(Spec):
    """Quota of one resource of one flavor."""

    nominal: CountQuantity
    borrow: CountQuantity | None = None
    lend: CountQuantity | None = None


class FlavorQuotas(Spec):
    """Quotas of one flavor, by resource name."""

    flavor: DnsName
    resources: dict[Label, Quota] = Field(min_length=1)


class FairSharing(Spec):
    """Weight in fair sharing: 0, or more than 1n."""

    weight: CountQuantity | Annotated[float, Field(ge=0)] = "1"


class CohortSpec(Spec):
    """A Kueue Cohort."""

    parent: DnsName | None = None
    quotas: list[FlavorQuotas] = Field(default_factory=list)
    fairSharing: FairSharing | None = None  # noqa: N815


class BorrowWithinCohort(Spec):
    """Kueue's borrowWithinCohort."""

    policy: Literal["Never", "LowerPriority"] = "Never"
    maxPriorityThreshold: int | None = None  # noqa: N815


class Preemption(Spec):
    """Kueue's preemption policies."""

    withinClusterQueue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = "Never"  # noqa: N815
    reclaimWithinCohort: Literal["Never", "LowerPriority", "Any"] = "Never"  # noqa: N815
    borrowWithinCohort: BorrowWithinCohort | None = None  # noqa: N815


class Fungibility(Spec):
    """Kueue's flavorFungibility."""

    whenCanBorrow: Literal["MayStopSearch", "TryNextFlavor"] = "MayStopSearch"  # noqa: N815
    whenCanPreempt: Literal["MayStopSearch", "TryNextFlavor"] = "TryNextFlavor"  # noqa: N815


class QueueSpec(Spec):
    """A Kueue ClusterQueue on each cluster where it has a flavor."""

    cohort: DnsName | None = None
    quotas: list[FlavorQuotas] = Field(min_length=1)
    strategy: Literal["StrictFIFO", "BestEffortFIFO"] = "BestEffortFIFO"
    preemption: Preemption | None = None
    fungibility: Fungibility | None = None
    fairSharing: FairSharing | None = None  # noqa: N815
    admissionChecks: list[DnsName] = Field(default_factory=list)  # noqa: N815
    stop: Literal["None", "Hold", "HoldAndDrain"] = "None"
    clusters: list[DnsName] | None = None


class PriorityTier(Spec):
    """A Kueue WorkloadPriorityClass."""

    value: Annotated[int, Field(ge=-2147483648, le=2147483647)]
    description: Annotated[str, Field(max_length=2048)] = ""


# ----------------------------------------------------------------------------------------------------------------- Profiles


class Applies(Spec):
    """Who may use a profile; empty lists mean everybody."""

    workspaces: list[DnsName] = Field(default_factory=list)
    teams: list[Text] = Field(default_factory=list)
    lanes: list[Text] = Field(default_factory=list)


class Bounds(Spec):
    """What a run may set instead of the profile's value."""

    min: CountQuantity | None = None
    max: CountQuantity | None = None
    oneOf: list[Text] | None = None  # noqa: N815


OVERRIDES = (
    "gpus", "workers", "cpus", "memory", "shm", "gpuClass", "topology", "image", "queue", "priority", "kind", "max_duration",
)  # fmt: skip


class ProfileRdma(Spec):
    """RDMA devices of the profile's nodes."""

    resource: Label
    count: Annotated[int, Field(ge=1, le=64)] = 1


class Profile(Spec):
    """A named compute shape, with what its users may override."""

    applies: Applies = Applies()
    kinds: list[Literal["job", "rayjob", "jobset"]] = Field(default_factory=list)
    gpus: Count | None = None
    workers: Annotated[int, Field(ge=1, le=100_000)] | None = None
    gpuClass: Text | None = None  # noqa: N815
    cpuPerGpu: CpuQuantity | None = None  # noqa: N815
    memoryPerGpu: MemoryQuantity | None = None  # noqa: N815
    shm: MemoryQuantity | None = None
    topology: Topology | None = None
    nccl: dict[EnvName, Text] = Field(default_factory=dict)
    rdma: ProfileRdma | None = None
    image: ImageRef | None = None
    queue: DnsName | None = None
    priority: DnsName | None = None
    override: dict[Text, Bounds] = Field(default_factory=dict)


# --------------------------------------------------------------------------------------------------------------- Workspaces


class Subjects(Spec):
    """Groups and users of the cluster's authentication."""

    groups: list[Text] = Field(default_factory=list)
    users: list[Text] = Field(default_factory=list)


class WorkspaceQueue(Spec):
    """A LocalQueue `name` that feeds the ClusterQueue `queue`."""

    name: DnsName
    queue: DnsName
    default: bool = False


class Identity(Spec):
    """The service account of the workspace's runs."""

    serviceAccount: DnsName  # noqa: N815
    annotations: dict[Label, Text] = Field(default_factory=dict)
    token: bool = False


class Limits(Spec):
    """Bounds of the workspace. `runs` and `gpuHours` are not built yet and refused."""

    gpusPerRun: Count | None = None  # noqa: N815
    runs: Count | None = None
    gpuHours: Annotated[float, Field(ge=0)] | None = None  # noqa: N815


class EgressRule(Spec):
    """One permitted destination: a CIDR, and TCP ports (none: all)."""

    to: Text
    ports: list[Annotated[int, Field(ge=1, le=65535)]] = Field(default_factory=list)


class Network(Spec):
    """Egress left out is open; a list closes it down to itself, DNS and the run's own pods."""

    egress: list[EgressRule] | None = None


class Workspace(Spec):
    """A tenant."""

    namespace: DnsName
    owners: Subjects = Subjects()
    viewers: Subjects = Subjects()
    queues: list[WorkspaceQueue] = Field(min_length=1)
    profiles: list[DnsName] = Field(default_factory=list)
    identity: Identity | None = None
    storage: list[DnsName] = Field(default_factory=list)
    secrets: list[Text] = Field(default_factory=list)
    limits: Limits = Limits()
    network: Network = Network()
    podSecurity: Literal["restricted", "baseline", "privileged"] = "baseline"  # noqa: N815
    defaults: Defaults = Defaults()
    on_edit: Literal["wait", "replace", "beside"] | None = None
    clusters: list[DnsName] | None = None


# ------------------------------------------------------------------------------------------------------------------ Storage


class Claim(Spec):
    """An existing PersistentVolumeClaim, or one to render: `existing`, or `storageClass`, `size` and `accessModes`."""

    existing: DnsName | None = None
    storageClass: DnsName | None = None  # noqa: N815
    size: MemoryQuantity | None = None
    accessModes: list[Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]] | None = None  # noqa: N815


class Storage(Spec):
    """A claim that the runs of `workspaces` may mount, at `path` unless a mount says another."""

    claim: Claim
    path: Text
    readOnly: bool = False  # noqa: N815
    workspaces: list[DnsName] = Field(min_length=1)


KINDS: dict[str, type[Spec]] = {
    "Project": Project,
    "Platform": Platform,
    "Cluster": Cluster,
    "Flavor": Flavor,
    "Topology": TopologySpec,
    "Cohort": CohortSpec,
    "Queue": QueueSpec,
    "PriorityTier": PriorityTier,
    "Profile": Profile,
    "Workspace": Workspace,
    "Storage": Storage,
}
LATER = ("Dataset", "HealthPolicy", "Observability", "MultiKueue", "Rule")
API_VERSION = "taugen.dev/v1alpha1"
