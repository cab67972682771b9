"""Project, Platform and Cluster: where things are and what runs there.

In: plain data of a document's `spec`. Out: frozen models.
"""
# ruff: noqa: N815 -- the fields have the names of Kubernetes

from typing import Annotated, Literal

from pydantic import Field

from taugen.policy.collector import ClusterMetrics, Collector
from taugen.policy.types import Amount, DnsName, LabelKey, LabelValue, Spec, no_entries, no_items
from taugen.spec.model import ComputeSection, DataSection, ResilienceSection, RuntimeSection
from taugen.spec.types import Count, Duration, ImageRef, Text


class GitSource(Spec):
    """A Git repository of policy documents."""

    url: Text = Field(description="https or ssh URL, or a folder on this machine.")
    ref: Text = Field("HEAD", description="Branch or tag that `taugen lock --update` follows; the commit in use is pinned in taugen.lock.")
    path: Text = Field(".", description="Folder in that repository.")


class PolicySource(Spec):
    """One place of policy documents: either `path` or `git`."""

    path: Text | None = Field(None, description="Folder in this repository; all .yaml and .yml files below it are read.")
    git: GitSource | None = Field(None, description="Another Git repository, pinned in taugen.lock.")


class Output(Spec):
    """Where the deploy tree goes."""

    url: Text | None = Field(None, description="Repository that is pushed to; left out: this repository.")
    branch: Text = Field("deploy", description="Branch that Argo CD or Flux tracks; never the branch of the sources.")
    path: Text = Field("clusters", description="Folder of the deploy tree on that branch.")


class EvidencePlace(Spec):
    """Where the collector writes what happened."""

    url: Text | None = Field(None, description="Repository of the evidence; left out: this repository.")
    branch: Text = Field("evidence", description="Branch of the evidence; never the deploy branch.")


class Safety(Spec):
    """What publish does about live runs whose document vanished."""

    cancel: Literal["confirm", "allow"] = Field(
        "confirm", description="confirm: they stay until somebody settles it; allow: they are cancelled."
    )


class Project(Spec):
    """A GitOps repository: taugen.yaml."""

    policy: list[PolicySource] = Field(
        default_factory=lambda: [PolicySource(path="policy")], min_length=1, description="Where policy documents are."
    )
    runs: list[Text] = Field(
        default_factory=lambda: ["workspaces/*/**/tau.yaml", "workspaces/*/**/tau/*.yaml"],
        min_length=1,
        description="Globs of the run documents, relative to this file.",
    )
    overlays: Text = Field("overlays", description="Folder of the repository's own overlays.")
    output: Output = Field(Output.model_construct(), description="Where the deploy tree goes.")
    evidence: EvidencePlace = Field(EvidencePlace.model_construct(), description="Where evidence goes.")
    safety: Safety = Field(Safety.model_construct(), description="What publish may do without asking.")


class Versions(Spec):
    """Versions of what runs in the clusters; schemas and rules follow them."""

    kubernetes: Text | None = Field(None, description='Kubernetes minor version, quoted: "1.35".')
    kueue: Text | None = Field(None, description='Kueue minor version, quoted: "0.19".')
    kuberay: Text | None = Field(None, description='KubeRay minor version, quoted: "1.7".')
    jobset: Text | None = Field(None, description='JobSet minor version, quoted: "0.12".')
    nodeReadinessController: Text | None = Field(
        None, description='Node Readiness Controller minor version, quoted: "0.5"; where it is, it sets the taints of node health.'
    )


class Images(Spec):
    """Which images runs may use."""

    allow: list[Text] | None = Field(None, description="Registries and repositories, matched by whole path components; left out: all.")
    digests: Literal["required", "warn"] = Field("warn", description="Whether a mutable tag is an error or a warning.")


class CodePolicy(Spec):
    """Where code may come from."""

    allow: list[Text] = Field(
        default_factory=no_items, description="https or ssh URLs that code.git.url may name, by whole path components."
    )


class KindImages(Spec):
    """Default images by workload kind."""

    job: ImageRef | None = Field(None, description="Image of runs of kind job.")
    jobset: ImageRef | None = Field(None, description="Image of runs of kind jobset.")
    rayjob: ImageRef | None = Field(None, description="Image of runs of kind rayjob.")


class Defaults(Spec):
    """Values that fill what a run leaves out."""

    images: KindImages | None = Field(None, description="Images by workload kind.")
    runtime: RuntimeSection | None = Field(None, description="As runtime of tau.yaml.")
    compute: ComputeSection | None = Field(None, description="As compute of tau.yaml.")
    storage: DataSection | None = Field(None, description="As storage of tau.yaml, without image_assets.")
    resilience: ResilienceSection | None = Field(None, description="As resilience of tau.yaml.")
    labels: dict[LabelKey, LabelValue] | None = Field(None, description="Labels of every run.")
    priority: DnsName | None = Field(None, description="PriorityTier of runs that name none.")
    max_duration: Duration | None = Field(None, description="Longest time in admission of runs that set none, e.g. 72h.")
    grace_period: Duration | None = Field(None, description="Time between SIGTERM and SIGKILL of runs that set none, e.g. 5m.")


class KueueFairSharing(Spec):
    """Kueue's own fairSharing setting."""

    enable: bool = Field(True, description="Whether Kueue shares idle quota by weight.")


class Queueing(Spec):
    """How Kueue itself is configured."""

    fairSharing: KueueFairSharing | None = Field(None, description="Fair sharing of idle quota.")


class Platform(Spec):
    """What holds for all clusters; at most one document."""

    versions: Versions = Field(Versions.model_construct(), description="Versions of what runs in the clusters.")
    images: Images = Field(Images.model_construct(), description="Which images runs may use.")
    code: CodePolicy = Field(CodePolicy.model_construct(), description="Where code may come from.")
    pricing: dict[DnsName, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = Field(
        default_factory=no_entries, description="Price by flavor: of a GPU hour, of a CPU hour where the flavor has no GPUs."
    )
    defaults: Defaults = Field(Defaults.model_construct(), description="Values that fill what a run leaves out.")
    queueing: Queueing = Field(Queueing.model_construct(), description="How Kueue itself is configured.")


class Taint(Spec):
    """A taint of nodes."""

    key: LabelKey = Field(description="Key of the taint, e.g. nvidia.com/gpu.")
    value: LabelValue | None = Field(None, description="Value of the taint.")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = Field(description="What happens to pods that don't tolerate it.")


class NodePool(Spec):
    """Nodes of one kind."""

    name: DnsName = Field(description="Name of the pool.")
    count: Count = Field(description="How many nodes.")
    instanceType: Text | None = Field(None, description="Machine type: the nodes' label node.kubernetes.io/instance-type.")
    labels: dict[LabelKey, LabelValue] = Field(default_factory=no_entries, description="Labels of the nodes.")
    taints: list[Taint] = Field(default_factory=no_items, description="Taints of the nodes.")
    allocatable: dict[LabelKey, Amount] = Field(default_factory=no_entries, description="What one node has for pods, by resource.")
    gpuClass: Text | None = Field(None, description="GPU class of the nodes, e.g. h100-80gb.")
    gpus: Count = Field(0, description="GPUs of one node.")


class GitOps(Spec):
    """What applies the deploy tree in the cluster."""

    engine: Literal["argocd", "flux"] = Field(description="Argo CD or Flux.")
    url: Text = Field(description="Repository of the deploy tree, as the cluster reaches it.")
    branch: Text = Field("deploy", description="Branch that is tracked.")
    path: Text | None = Field(None, description="Folder of this cluster; default <output path>/<cluster>.")
    namespace: DnsName | None = Field(None, description="Namespace of the engine's objects; default argocd or flux-system.")
    project: DnsName | None = Field(None, description="AppProject of the platform's Applications (Argo CD).")


class Cluster(Spec):
    """A Kubernetes cluster."""

    gitops: GitOps = Field(description="What applies the deploy tree.")
    nodePools: list[NodePool] = Field(default_factory=no_items, description="The nodes, which quotas and profiles are held against.")
    labels: dict[LabelKey, LabelValue] = Field(
        default_factory=no_entries, description="Labels of the cluster, e.g. region: written on its Applications and Kustomizations."
    )
    overlays: list[DnsName] = Field(default_factory=no_items, description="Overlays that patch what is rendered for it, in this order.")
    collector: Collector | None = Field(None, description="What writes evidence from the cluster; left out: nothing does.")
    metrics: ClusterMetrics | None = Field(None, description="Where numbers about the cluster's work come from.")
    role: Literal["standalone"] = Field("standalone", description="standalone; manager and worker come with MultiKueue.")
