"""The one internal model of tau.yaml: canonical names, canonical values, frozen.

In: canonical plain data from `dialect` (older spellings already moved). Out: `RunSpec`. Defaults here are None throughout: what a user did
not write stays absent, because the intent digest is taken over what was written and because profile, workspace and platform fill the rest
in `resolve`.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from taugen.spec.types import (
    AsSet,
    Count,
    CpuQuantity,
    Duration,
    Entrypoint,
    EnvName,
    ImageRef,
    MemoryQuantity,
    Name,
    PositiveCount,
    ScalarText,
    SecretRef,
    Sorted,
    Text,
    Tree,
)
from taugen.words import Json


class Section(BaseModel):
    """A mapping of tau.yaml: unknown keys are errors, values keep their types, nothing changes after reading."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    def written(self) -> dict[str, Json]:
        """The fields that have a value, as plain data. `model_dump` says the same, and has a schema of this section alone built for it."""
        return {name: value.written() if isinstance(value, Section) else value for name, value in self if value is not None}


class SourceImage(Section):
    """Code that comes from an image: copied from `path` of `image` before the program starts."""

    image: ImageRef = Field(description="Image that holds the code, pinned by digest.")
    path: Text = Field(description="Absolute folder of the code inside that image.")


class RunSection(Section):
    """What runs."""

    entrypoint: Entrypoint | None = Field(None, description="A file beside tau.yaml (Python or with a shebang), or a command as a list.")
    args: list[ScalarText] | None = Field(None, description="Arguments of the entrypoint, as typed.")
    workload_kind: Literal["job", "rayjob", "jobset"] | None = Field(
        None, description="The Kubernetes object; default: rayjob for several workers or pip packages, else job."
    )
    setup: Text | None = Field(None, description="Shell lines that run in each container before the entrypoint.")
    source: SourceImage | None = Field(None, description="Take the code from an image instead of Git.")
    max_duration: Duration | None = Field(
        None, description="Longest time in admission in all, over every resume (Kueue maximum execution time)."
    )
    grace_period: Duration | None = Field(None, description="Time between SIGTERM and SIGKILL; default 10m.")
    ttl_seconds_after_finished: int | None = Field(
        None, ge=1, le=2147483647, description="TauGrid's clean-up time; here the retire commit cleans up."
    )


class GitCode(Section):
    """A checkout of a Git repository, pinned."""

    url: Text = Field(description="https or ssh URL that Platform.code.allow lists.")
    ref: Text = Field(description="Full commit SHA.")
    secret: SecretRef | None = Field(None, description="SECRET:KEY with the deploy key or token, one of the workspace's secrets.")


class CodeSection(Section):
    """Which files travel with the run, and how."""

    path: Text | None = Field(None, description="Code root relative to this file; default: the file's folder.")
    include: list[Text] | None = Field(None, description="Patterns (as in .gitignore) of tracked files to deliver; default: all.")
    exclude: list[Text] | None = Field(None, description="Patterns (as in .gitignore) of files to leave out.")
    delivery: Literal["auto", "configmap", "git", "image"] | None = Field(
        None, description="How the code reaches the container; default auto."
    )
    git: GitCode | None = Field(None, description="The repository and commit to check out.")


class Security(Section):
    """How tightly the containers are held."""

    mode: Literal["restricted"] | None = Field(None, description="restricted: no root, no capabilities, no privilege escalation.")


class RuntimeSection(Section):
    """What the containers are made of."""

    image: ImageRef | None = Field(None, description="Container image; pin it by digest.")
    pip: list[Text] | None = Field(None, description="Python packages to install before the program starts.")
    working_dir: Text | None = Field(None, description="Absolute folder in the container where the program starts; default: the code root.")
    env: dict[EnvName, ScalarText] | None = Field(None, description="Environment variables; values arrive as typed.")
    env_secret: dict[EnvName, SecretRef] | None = Field(None, description="NAME: SECRET:KEY, from the workspace's secrets.")
    python: Text | None = Field(None, description="Python interpreter in the image; default python3 (python on Ray images).")
    security: Security | None = Field(None, description="How tightly the containers are held.")


class HeadSize(Section):
    """Size of the Ray head, which only controls."""

    cpus: CpuQuantity | None = Field(None, description="CPUs of the head; default 2.")
    memory: MemoryQuantity | None = Field(None, description="Memory of the head; default 8Gi.")
    cpu_limit: CpuQuantity | None = Field(None, description="CPU limit of the head; default: none.")
    memory_limit: MemoryQuantity | None = Field(None, description="Memory limit of the head; default: the request.")


class Rdma(Section):
    """InfiniBand or RoCE devices."""

    enabled: bool | None = Field(None, description="Ask for RDMA devices.")
    resource: Text | None = Field(None, description="Extended resource, e.g. rdma/ib; default from the profile.")
    count: PositiveCount | None = Field(None, description="Devices per container; default 1.")


class ComputeSection(Section):
    """Shape of each worker (the Ray head is apart)."""

    workers: PositiveCount | None = Field(None, description="Ray workers, without the head; default 1.")
    gpus: Count | None = Field(None, description="GPUs per worker or node; 0 for a CPU run.")
    gpu_class: Text | None = Field(None, description="GPU class, e.g. h100-80gb; any for whatever the queue has.")
    cpus: CpuQuantity | None = Field(None, description="CPUs requested by each worker.")
    memory: MemoryQuantity | None = Field(None, description="Memory requested by each worker.")
    cpu_limit: CpuQuantity | None = Field(None, description="CPU limit; default: none.")
    memory_limit: MemoryQuantity | None = Field(None, description="Memory limit; default: the request.")
    shm_size: MemoryQuantity | None = Field(None, description="Size of /dev/shm; counts against memory.")
    disk: MemoryQuantity | None = Field(None, description="Ephemeral storage requested by each worker.")
    head: HeadSize | None = Field(None, description="Size of the Ray head.")
    mig_profile: Text | None = Field(None, description="MIG slice, e.g. 1g.10gb: gpus counts slices.")
    rdma: Rdma | None = Field(None, description="InfiniBand or RoCE devices.")


class NodeAffinityTerm(Section):
    """One wish about node labels, all of which must hold."""

    key: Text = Field(description="Label of the nodes.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"] = Field("In", description="How the label is compared.")
    values: list[ScalarText] | None = Field(None, description="What it is compared with, as typed.")


TOPOLOGIES = ("unconstrained", "same-host", "same-accelerator-domain", "same-network-domain", "same-site")
Topology = Literal["unconstrained", "same-host", "same-accelerator-domain", "same-network-domain", "same-site"]


class PolicySection(Section):
    """Where the run may go."""

    profile: Text | None = Field(None, description="A profile of the workspace.")
    queue: Text | None = Field(None, description="A LocalQueue of the workspace; auto: its default.")
    priority: Text | None = Field(None, description="A priority tier.")
    team: Text | None = Field(None, description="Team label, and a key of profile applicability.")
    lane: Text | None = Field(None, description="Lane label (eval, training, large-memory, elastic), and a key of profile applicability.")
    topology: Topology | None = Field(None, description="How close the pods must be.")
    preferred_topology: Topology | None = Field(None, description="How close the pods should be.")
    namespace: Text | None = Field(None, description="Only to repeat the workspace's namespace.")
    cluster: Text | None = Field(None, description="The cluster, where the workspace has several.")
    node_affinity: list[NodeAffinityTerm] | None = Field(None, description="Required node labels, beside those of the flavor.")


class Mount(Section):
    """A storage of the workspace at a path."""

    name: Name = Field(description="Name of the volume.")
    storage: Text = Field(description="A Storage of the workspace.")
    path: Text = Field(description="Absolute path in the container.")
    read_only: bool | None = Field(None, description="Whether the run may only read it; default: as the Storage says.")


class ImageAsset(Section):
    """Files copied out of an image before the program starts."""

    name: Name = Field(description="Name of the asset.")
    image: ImageRef = Field(description="Image that holds the files, pinned by digest.")
    source_path: Text = Field(description="Absolute folder or file in that image.")
    mount_path: Text = Field(description="Absolute path in the container.")


class DataSection(Section):
    """Storages that the run sees: what policy has defaults for."""

    data: Text | None = Field(None, description="The workspace's Storage that is mounted at its path, as TAU_DATA_DIR.")
    output: Text | None = Field(None, description="Absolute folder for results, below a mounted storage: TAU_OUTPUT_DIR.")
    mounts: list[Mount] | None = Field(None, description="Further storages, each at a path.")


class StorageSection(DataSection):
    """Which data the run sees."""

    image_assets: list[ImageAsset] | None = Field(None, max_length=8, description="Files copied out of images before the program starts.")


class CheckpointSection(Section):
    """Where checkpoints are and how a run resumes."""

    path: Text | None = Field(
        None, description="Folder below a mounted storage, absolute or relative to storage.output: TAU_CHECKPOINT_DIR."
    )
    every: Duration | None = Field(None, description="How often the program should save: TAU_CHECKPOINT_EVERY.")
    keep: PositiveCount | None = Field(None, description="How many to keep: TAU_CHECKPOINT_KEEP.")
    resume: Text | None = Field(
        None, description="auto (newest complete checkpoint of this run), never, or workspace/name/digest8 of another run."
    )


class ExecutionSection(Section):
    """How processes are started."""

    launcher: Literal["python", "torchrun", "ray-train", "ray-tune"] | None = Field(
        None, description="What starts the program; default: python, or by the first line of the file."
    )
    nodes: PositiveCount | None = Field(None, description="Nodes of a torchrun gang; default 1.")
    processes_per_node: PositiveCount | None = Field(None, description="Processes per node; torchrun default: the GPUs.")
    configs: Tree | None = Field(None, description="Flags (python, torchrun), sections (ray-train) or the search space (ray-tune).")
    metric: Text | None = Field(None, description="ray-tune: the metric to optimise.")
    mode: Literal["min", "max"] | None = Field(None, description="ray-tune: direction of the metric; default min.")
    num_samples: PositiveCount | None = Field(None, description="ray-tune: samples; default 1.")
    max_concurrent_trials: PositiveCount | None = Field(None, description="ray-tune: trials at once; default 1.")
    allow_nccl_override: bool | None = Field(None, description="Permit NCCL_* in runtime.env.")


RETRY_REASONS = ("Preempted", "Evicted", "OOMKilled", "NodeFailure", "Error")


class ResilienceSection(Section):
    """When a failed attempt is followed by another."""

    max_retries: Annotated[int, Field(ge=0, le=998)] | None = Field(None, description="Failures that another attempt follows; default 0.")
    retry_on: Annotated[list[Literal["Preempted", "Evicted", "OOMKilled", "NodeFailure", "Error"]], AsSet] | None = Field(
        None, description="Which failures are tried again; default Preempted and Evicted."
    )
    fatal_exit_codes: Annotated[list[Annotated[int, Field(ge=1, le=255)]], AsSet] | None = Field(
        None, description="Exit codes that are never tried again."
    )
    backoff_initial: Duration | None = Field(None, description="Time before the second attempt, doubled for each further one; default 30s.")
    backoff_max: Duration | None = Field(None, description="Longest time between two attempts; default 5m.")


class Offload(Section):
    """TauGrid's metrics upload; here the collector reads `metrics.history` itself."""

    enabled: bool | None = Field(None, description="No effect: the collector always reads metrics.history.")
    image: Text | None = Field(None, description="No effect.")
    out: Text | None = Field(None, description="No effect.")


class MetricsSection(Section):
    """What is kept as evidence beside the logs."""

    history: list[Text] | None = Field(None, description="JSONL files or globs under the output folder.")
    prometheus: Annotated[dict[Text, Text], Sorted] | None = Field(None, description="NAME: PromQL, recorded at the end.")
    offload: Offload | None = Field(None, description="TauGrid's metrics upload; no effect here.")


class ExperimentSection(Section):
    """What the run belongs to."""

    project: Text | None = Field(None, description="Project that the run counts for.")
    name: Text | None = Field(None, description="Experiment that the run belongs to.")
    group: Text | None = Field(None, description="Group of runs within the experiment.")
    hyperparameters: Tree | None = Field(None, description="Settings to record with the run, as typed.")
    seed: Annotated[int, Field(ge=0, le=2**64 - 1)] | None = Field(None, description="Seed to record with the run.")


class ModelSection(Section):
    """What the run makes, for the model registry; kept in state and evidence."""

    name: Text | None = Field(None, description="Name of the model that the run makes.")
    base: Text | None = Field(None, description="The model that it starts from.")
    task: Text | None = Field(None, description="What the model does, e.g. text-generation.")
    tags: Annotated[list[Text], AsSet] | None = Field(None, description="Words to find it by.")
    primary_metric: Text | None = Field(None, description="The metric that says which model is better.")
    metric_direction: Literal["lower", "higher"] | None = Field(None, description="Which values of primary_metric are better.")


class WorkflowSection(Section):
    """Files beside the code."""

    extra_scripts: list[Text] | None = Field(
        None, description="Files to deliver beside the entrypoint: SRC or SRC:NAME, SRC relative to this file."
    )


class RunSpec(Section):
    """A run: what one tau.yaml document asks for."""

    schema_version: Literal[1] | None = Field(None, description="1: TauGrid's managed dialect, unless an engine is set.")
    name: Text | None = Field(None, description="Name of the run in its workspace.")
    description: Text | None = Field(None, description="For people; never part of the digest.")
    labels: dict[Text, ScalarText] | None = Field(None, description="Labels of the objects; values as typed.")
    generation: PositiveCount | None = Field(None, description="Bump it to run the same document, or its changed code, again; default 1.")
    cancelled: bool | None = Field(None, description="true cancels the live run.")
    on_edit: Literal["wait", "replace", "beside"] | None = Field(
        None, description="What an edited document does while its older run lives."
    )
    workspace: Text | None = Field(None, description="Only to repeat the folder's name.")
    run: RunSection | None = Field(None, description="What runs.")
    code: CodeSection | None = Field(None, description="Which files travel with the run, and how.")
    runtime: RuntimeSection | None = Field(None, description="What the containers are made of.")
    compute: ComputeSection | None = Field(None, description="Shape of each worker.")
    policy: PolicySection | None = Field(None, description="Where the run may go.")
    storage: StorageSection | None = Field(None, description="Which data the run sees.")
    checkpoint: CheckpointSection | None = Field(None, description="Where checkpoints are and how a run resumes.")
    execution: ExecutionSection | None = Field(None, description="How processes are started.")
    resilience: ResilienceSection | None = Field(None, description="When a failed attempt is followed by another.")
    metrics: MetricsSection | None = Field(None, description="What is kept as evidence beside the logs.")
    experiment: ExperimentSection | None = Field(None, description="What the run belongs to.")
    model: ModelSection | None = Field(None, description="What the run makes, for the model registry.")
    workflow: WorkflowSection | None = Field(None, description="Files beside the code.")
