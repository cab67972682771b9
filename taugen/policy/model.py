"""Policy documents: one frozen model a kind, as platform teams write them.

In: plain data of a document's `spec`. Out: frozen models. Defaults are Kubernetes' and Kueue's own unless a description says otherwise.
Every accepted field is read by `resolve`, `render`, `publish` or a rule; what later stages will read is refused until then
(`policy.hints`), and so are the kinds of `LATER`.
"""

from pydantic import BaseModel

from taugen.policy.collector import ClusterMetrics, Collector, CollectorLogs
from taugen.policy.fleet import (
    Cluster,
    CodePolicy,
    Defaults,
    EvidencePlace,
    GitOps,
    GitSource,
    Images,
    KindImages,
    KueueFairSharing,
    NodePool,
    Output,
    Platform,
    PolicySource,
    Project,
    Queueing,
    Safety,
    Taint,
    Versions,
)
from taugen.policy.health import (
    CONDITION_PREFIX,
    DEFAULT_KEYS,
    HealthAction,
    HealthCheck,
    HealthImages,
    HealthPolicy,
    HealthTaint,
)
from taugen.policy.queueing import (
    BorrowWithinCohort,
    CohortSpec,
    FairSharing,
    Flavor,
    FlavorQuotas,
    Fungibility,
    Level,
    Preemption,
    PriorityTier,
    QueueSpec,
    Quota,
    TopologySpec,
)
from taugen.policy.tenancy import (
    OVERRIDES,
    Applies,
    Bounds,
    Claim,
    EgressRule,
    Identity,
    Limits,
    Network,
    Profile,
    ProfileRdma,
    Storage,
    Subjects,
    Workspace,
    WorkspaceQueue,
)
from taugen.policy.types import Amount, Bound, DnsName, LabelKey, LabelValue, ObjectName, Spec
from taugen.spec.model import ComputeSection, DataSection, ResilienceSection, RuntimeSection

__all__ = [
    "API_VERSION", "CONDITION_PREFIX", "DEFAULT_KEYS", "KINDS", "LATER", "OVERRIDES", "SHARED", "Amount", "Applies", "BorrowWithinCohort",
    "Bound", "Bounds", "Claim", "Cluster", "ClusterMetrics", "CodePolicy", "CohortSpec", "Collector", "CollectorLogs",
    "Defaults", "DnsName", "EgressRule", "EvidencePlace", "FairSharing",
    "Flavor", "FlavorQuotas", "Fungibility", "GitOps", "GitSource", "HealthAction", "HealthCheck", "HealthImages", "HealthPolicy",
    "HealthTaint", "Identity", "Images", "KindImages", "KueueFairSharing", "LabelKey", "LabelValue", "Level", "Limits", "Network",
    "NodePool", "ObjectName", "Output", "Platform", "PolicySource", "Preemption", "PriorityTier", "Profile", "ProfileRdma", "Project",
    "QueueSpec", "Queueing", "Quota", "Safety", "Spec", "Storage", "Subjects", "Taint", "TopologySpec", "Versions", "Workspace",
    "WorkspaceQueue",
]  # fmt: skip

API_VERSION = "taugen.dev/v1alpha1"
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
    "HealthPolicy": HealthPolicy,
}
SHARED: tuple[type[BaseModel], ...] = (ComputeSection, RuntimeSection, DataSection, ResilienceSection, Defaults)
"""Models that several kinds hold, each after those that it holds itself. Whoever has these built first saves a third of all building."""
LATER = ("Dataset", "Observability", "MultiKueue", "Rule")
