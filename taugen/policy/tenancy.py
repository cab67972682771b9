"""Profile, Workspace and Storage: what researchers get.

In: plain data of a document's `spec`. Out: frozen models.
"""
# ruff: noqa: N815 -- the fields have the names of Kubernetes

from typing import Annotated, Literal

from pydantic import Field

from taugen.policy.fleet import Defaults
from taugen.policy.types import Bound, DnsName, LabelKey, ObjectName, Spec, no_entries, no_items
from taugen.spec.model import Topology
from taugen.spec.types import Count, CpuQuantity, EnvName, ImageRef, MemoryQuantity, ScalarText, Text

OVERRIDES = (
    "gpus", "workers", "cpus", "memory", "shm", "gpuClass", "topology", "image", "queue", "priority", "kind", "max_duration",
)  # fmt: skip


class Applies(Spec):
    """Who may use a profile: left out means everybody."""

    workspaces: list[DnsName] = Field(default_factory=no_items, description="Workspaces that may use it.")
    teams: list[Text] = Field(default_factory=no_items, description="Values of policy.team that may use it.")
    lanes: list[Text] = Field(default_factory=no_items, description="Values of policy.lane that may use it.")


class Bounds(Spec):
    """What a run may set instead of the profile's value."""

    min: Bound | None = Field(None, description="Least value.")
    max: Bound | None = Field(None, description="Greatest value.")
    oneOf: Annotated[list[Bound], Field(min_length=1)] | None = Field(None, description="The values to choose from.")


class ProfileRdma(Spec):
    """RDMA devices of the profile's nodes."""

    resource: LabelKey = Field(description="Extended resource, e.g. rdma/ib.")
    count: Annotated[int, Field(ge=1, le=64)] = Field(1, description="Devices of each worker.")


class Profile(Spec):
    """A named compute shape, with what its users may change."""

    applies: Applies = Field(Applies.model_construct(), description="Who may use it.")
    kinds: list[Literal["job", "rayjob", "jobset"]] = Field(
        default_factory=no_items, description="Workload kinds it is for; left out: all."
    )
    gpus: Count | None = Field(None, description="GPUs of each worker.")
    workers: Annotated[int, Field(ge=1, le=100_000)] | None = Field(None, description="Workers, or nodes of a gang.")
    gpuClass: Text | None = Field(None, description="GPU class.")
    cpuPerGpu: CpuQuantity | None = Field(None, description="CPUs of a worker for each of its GPUs.")
    memoryPerGpu: MemoryQuantity | None = Field(None, description="Memory of a worker for each of its GPUs.")
    shm: MemoryQuantity | None = Field(None, description="Size of /dev/shm.")
    topology: Topology | None = Field(None, description="How close the pods must be.")
    nccl: dict[EnvName, ScalarText] = Field(default_factory=no_entries, description="NCCL_* variables of the nodes' network.")
    rdma: ProfileRdma | None = Field(None, description="RDMA devices of each worker.")
    image: ImageRef | None = Field(None, description="Container image.")
    queue: DnsName | None = Field(None, description="Queue it runs in.")
    priority: DnsName | None = Field(None, description="PriorityTier of runs that name none.")
    override: dict[Text, Bounds] = Field(
        default_factory=no_entries, description="Fields that a run may set itself, with bounds; every other value of the profile is fixed."
    )


class Subjects(Spec):
    """Groups and users of the cluster's authentication."""

    groups: list[Text] = Field(default_factory=no_items, description="Groups.")
    users: list[Text] = Field(default_factory=no_items, description="Users.")


class WorkspaceQueue(Spec):
    """A LocalQueue."""

    name: DnsName = Field(description="Name of the LocalQueue, which runs give as policy.queue.")
    queue: DnsName = Field(description="Queue that it feeds.")
    default: bool = Field(False, description="Whether runs that name no queue go here.")


AZURE_CLIENT = "azure.workload.identity/client-id"
"""Annotation that ties a service account to an identity of Azure (azure-workload-identity, labels and annotations)."""


class Identity(Spec):
    """The service account of the workspace's runs."""

    serviceAccount: ObjectName = Field(description="Its name.")
    annotations: dict[LabelKey, Text] = Field(default_factory=no_entries, description="Its annotations, e.g. for workload identity.")
    token: bool = Field(False, description="Whether pods get its Kubernetes token.")


class Limits(Spec):
    """Bounds of the workspace."""

    gpusPerRun: Count | None = Field(None, description="Most GPUs of one run, all workers together.")


class EgressRule(Spec):
    """One permitted destination."""

    to: Text = Field(description="A CIDR, e.g. 10.20.0.0/16.")
    ports: list[Annotated[int, Field(ge=1, le=65535)]] = Field(default_factory=no_items, description="TCP ports; left out: all.")


class Network(Spec):
    """What pods of the workspace may reach."""

    egress: list[EgressRule] | None = Field(
        None, description="Left out: everything. A list closes egress down to itself, DNS and the pods of the same workspace."
    )


class Workspace(Spec):
    """A tenant."""

    namespace: DnsName = Field(description="Its namespace, on each of its clusters.")
    owners: Subjects = Field(Subjects.model_construct(), description="Who may edit runs in the namespace.")
    viewers: Subjects = Field(Subjects.model_construct(), description="Who may look.")
    queues: list[WorkspaceQueue] = Field(min_length=1, description="Its LocalQueues.")
    profiles: list[DnsName] = Field(
        default_factory=no_items, description="Profiles that its runs may use; left out: runs shape themselves."
    )
    identity: Identity | None = Field(None, description="The service account of its runs.")
    storage: list[DnsName] = Field(default_factory=no_items, description="Storages that its runs may mount.")
    secrets: list[ObjectName] = Field(default_factory=no_items, description="Secrets of the namespace that its runs may use.")
    limits: Limits = Field(Limits.model_construct(), description="Bounds of its runs.")
    network: Network = Field(Network.model_construct(), description="What its pods may reach.")
    podSecurity: Literal["restricted", "baseline", "privileged"] = Field("baseline", description="Pod Security Standard of the namespace.")
    defaults: Defaults = Field(Defaults.model_construct(), description="Values that fill what its runs leave out.")
    on_edit: Literal["wait", "replace", "beside"] | None = Field(
        None, description="What an edited run does while its older version is live; default wait."
    )
    clusters: list[DnsName] | None = Field(None, description="Clusters that it is on; left out: all.")


class Claim(Spec):
    """Either `existing`, or `storageClass`, `size` and `accessModes`."""

    existing: ObjectName | None = Field(None, description="A PersistentVolumeClaim that somebody else made.")
    storageClass: ObjectName | None = Field(None, description="Class of a claim to make; left out: the cluster's default.")
    size: MemoryQuantity | None = Field(None, description="Size of a claim to make, e.g. 20Ti.")
    accessModes: (
        Annotated[list[Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]], Field(min_length=1)] | None
    ) = Field(None, description="Access modes of a claim to make, e.g. [ReadWriteMany].")


class Storage(Spec):
    """A claim that the runs of some workspaces may mount."""

    claim: Claim = Field(description="The PersistentVolumeClaim.")
    path: Text = Field(description="Where it is mounted unless a mount says otherwise: an absolute path.")
    readOnly: bool = Field(False, description="Whether it can only be read.")
    workspaces: list[DnsName] = Field(min_length=1, description="Workspaces that have it; each needs the claim in its own namespace.")
