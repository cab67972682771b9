"""Flavor, Topology, Cohort, Queue and PriorityTier: what Kueue admits by.

In: plain data of a document's `spec`. Out: frozen models. Values that are left out mean what they mean to Kueue.
"""
# ruff: noqa: N815 -- the fields have the names of Kubernetes

from typing import Annotated, Literal

from pydantic import Field

from taugen.policy.fleet import Taint
from taugen.policy.types import Amount, DnsName, LabelKey, LabelValue, ObjectName, Spec, no_entries, no_items
from taugen.spec.types import CpuQuantity, Text


class Flavor(Spec):
    """A kind of node: a ResourceFlavor on each of its clusters. It never carries tolerations: GPU pods bring their own."""

    gpuClass: Text | None = Field(None, description="GPU class of its nodes; left out for CPU nodes.")
    nodeLabels: dict[LabelKey, LabelValue] = Field(
        default_factory=no_entries, description="Labels that its nodes carry; Kueue writes them into pods."
    )
    nodeTaints: list[Taint] = Field(default_factory=no_items, description="Taints of its nodes: pods without tolerations are kept off.")
    topology: DnsName | None = Field(None, description="Topology that places gangs on its nodes.")
    clusters: list[DnsName] | None = Field(None, description="Clusters that have it; left out: those with a matching node pool.")


class Level(Spec):
    """One level of a topology."""

    label: LabelKey = Field(description="Node label whose values are the domains of this level.")
    domain: Literal["same-host", "same-accelerator-domain", "same-network-domain", "same-site"] = Field(
        description="The wish of a run that this level answers."
    )


class TopologySpec(Spec):
    """How nodes stand to each other: a Kueue Topology."""

    levels: list[Level] = Field(
        min_length=1, max_length=16, description="Levels from the widest to the narrowest; the last is usually kubernetes.io/hostname."
    )


class Quota(Spec):
    """Quota of one resource of one flavor."""

    nominal: Amount = Field(description="What the queue may always use.")
    borrow: Amount | None = Field(None, description="Most that it may use beyond, from its cohort; left out: whatever is idle.")
    lend: Amount | None = Field(None, description="Most that others of the cohort may use of it; left out: all.")


class FlavorQuotas(Spec):
    """Quotas of one flavor."""

    flavor: DnsName = Field(description="A Flavor.")
    resources: dict[LabelKey, Quota] = Field(min_length=1, description="Quotas by resource name: cpu, memory, nvidia.com/gpu.")


class FairSharing(Spec):
    """Share of idle quota."""

    weight: CpuQuantity = Field("1", description="Weight against the others of the cohort; 0 takes only what nobody else wants.")


class CohortSpec(Spec):
    """Queues that share idle quota: a Kueue Cohort."""

    parent: DnsName | None = Field(None, description="Cohort above this one.")
    quotas: list[FlavorQuotas] = Field(default_factory=no_items, description="Quota of the cohort itself, beside that of its queues.")
    fairSharing: FairSharing | None = Field(None, description="Share against its siblings.")


class BorrowWithinCohort(Spec):
    """Preemption while borrowing."""

    policy: Literal["Never", "LowerPriority"] = Field(
        "Never", description="Whether a borrowing workload may preempt lower priorities of the cohort."
    )
    maxPriorityThreshold: Annotated[int, Field(ge=-2147483648, le=2147483647)] | None = Field(
        None, description="Only workloads up to this priority are preempted."
    )


class Preemption(Spec):
    """Whom a waiting workload may preempt."""

    withinClusterQueue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = Field("Never", description="In its own queue.")
    reclaimWithinCohort: Literal["Never", "LowerPriority", "Any"] = Field(
        "Never", description="In the cohort, to get its nominal quota back."
    )
    borrowWithinCohort: BorrowWithinCohort | None = Field(None, description="In the cohort, while it borrows itself.")


class Fungibility(Spec):
    """When the next flavor is tried."""

    whenCanBorrow: Literal["MayStopSearch", "TryNextFlavor"] = Field("MayStopSearch", description="If the flavor fits by borrowing.")
    whenCanPreempt: Literal["MayStopSearch", "TryNextFlavor"] = Field("TryNextFlavor", description="If the flavor fits by preempting.")


class QueueSpec(Spec):
    """A ClusterQueue on each cluster where it has a flavor."""

    cohort: DnsName | None = Field(None, description="Cohort it shares idle quota with; a Cohort document is optional.")
    quotas: list[FlavorQuotas] = Field(min_length=1, description="Flavors in the order in which they are tried, with their quotas.")
    strategy: Literal["StrictFIFO", "BestEffortFIFO"] = Field(
        "BestEffortFIFO", description="Whether a workload that fits may pass one that doesn't."
    )
    preemption: Preemption | None = Field(None, description="Whom waiting workloads may preempt; left out: nobody.")
    fungibility: Fungibility | None = Field(None, description="When the next flavor is tried.")
    fairSharing: FairSharing | None = Field(None, description="Share of the cohort's idle quota.")
    admissionChecks: list[ObjectName] = Field(
        default_factory=no_items, max_length=64, description="AdmissionChecks that exist on its clusters."
    )
    stop: Literal["None", "Hold", "HoldAndDrain"] = Field(
        "None", description="Hold admits nothing new; HoldAndDrain also evicts what runs."
    )
    clusters: list[DnsName] | None = Field(None, description="Clusters that have it; left out: all where it has a flavor.")


class PriorityTier(Spec):
    """A WorkloadPriorityClass."""

    value: Annotated[int, Field(ge=-2147483648, le=2147483647)] = Field(description="Higher goes first.")
    description: Annotated[str, Field(max_length=2048)] = Field("", description="What it is for.")
