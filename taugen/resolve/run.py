"""A run with every value decided: what `render` needs, and where each value came from.

In: `resolve.resolve`. Out: frozen values; `render` reads nothing else about a run. No field is optional because something was forgotten:
None always means that the object has no such part.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from taugen.load.code import CodeTree
from taugen.spec.rundoc import RunDoc
from taugen.words import Json

Kind = Literal["job", "jobset", "rayjob"]
Launcher = Literal["python", "shell", "command", "torchrun", "ray", "ray-train", "ray-tune"]


class EnvVar(Struct, frozen=True):
    """An environment variable: a literal as typed, or a key of a Secret."""

    name: str
    value: str = ""
    secret: str | None = None
    key: str | None = None


class Resources(Struct, frozen=True):
    """What one container asks for: canonical quantities. `extended` are whole numbers of extended resources (GPUs, MIG slices, RDMA
    devices).
    """

    cpu: str
    memory: str
    cpu_limit: str | None
    memory_limit: str
    disk: str | None = None
    extended: Mapping[str, int] = field(default_factory=dict)


class VolumeMount(Struct, frozen=True):
    """A claim at a path."""

    name: str
    claim: str
    path: str
    read_only: bool
    storage: str


class ImageCopy(Struct, frozen=True):
    """Files copied out of an image by an init container before the program starts: `source_path` of `image` to `mount_path`."""

    name: str
    image: str
    source_path: str
    mount_path: str


class Code(Struct, frozen=True):
    """How the code arrives.

    configmap: `tree`, mounted read-only at `root` below its own paths; git: `url` at `commit`, checked out to `root` by an init
    container; image: nothing to deliver (or `ImageCopy` for run.source). `base` is the folder below `root` where the program starts;
    `reason` says why `auto` chose this.
    """

    delivery: Literal["configmap", "git", "image"]
    reason: str
    root: str = "/tau/code"
    base: str = ""
    tree: CodeTree | None = None
    url: str | None = None
    commit: str | None = None
    secret: tuple[str, str] | None = None
    path: str = ""


class Program(Struct, frozen=True):
    """What is executed: `file` relative to `base` of the code (python or by its shebang) or `argv` as a command."""

    launcher: Launcher
    file: str | None = None
    argv: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    python: str = "python3"
    setup: str | None = None
    pip: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """Launcher flags (torchrun) or program flags (python) that come from execution.configs, in sorted order."""
    configs: Mapping[str, Json] = field(default_factory=dict)
    """ray-train sections or the ray-tune search space."""
    tune: Mapping[str, Json] = field(default_factory=dict)
    """metric, mode, num_samples, max_concurrent_trials."""


class Placement(Struct, frozen=True):
    """Where Kueue may put the pods."""

    queue: str
    cluster_queue: str
    tier: str | None
    flavors: tuple[str, ...]
    """Flavors of the ClusterQueue on this cluster that the GPU pods (or, on a CPU run, the pods) may get."""
    tolerations: tuple[Mapping[str, Json], ...]
    """For GPU pods only: one for each taint of `flavors`."""
    topology: tuple[Literal["required", "preferred", "unconstrained"], str] | None
    """Annotation kind and node label ("true" for unconstrained); None where no flavor of the queue has a topology, and on CPU pods."""
    affinity: Mapping[str, Json] | None


class Checkpoint(Struct, frozen=True):
    """The checkpoint contract with the program."""

    path: str
    every: str | None
    keep: int | None
    resume: str


class ResolvedRun(Struct, frozen=True):
    """A run that can be rendered."""

    doc: RunDoc
    cluster: str
    engine: Literal["argocd", "flux"]
    namespace: str
    kind: Kind
    image: str
    program: Program
    code: Code
    worker: Resources
    nodes: int
    """Pods of a gang (job, jobset) or Ray workers."""
    processes: int
    """Processes on each node (1 unless torchrun)."""
    placement: Placement
    env: tuple[EnvVar, ...]
    """User, profile (NCCL) and workspace variables in sorted order; the TAU_* and launcher variables are added by `render`."""
    head: Resources | None = None
    ray_version: str | None = None
    shm: str | None = None
    mounts: tuple[VolumeMount, ...] = ()
    copies: tuple[ImageCopy, ...] = ()
    data_dir: str | None = None
    output: str | None = None
    working_dir: str | None = None
    checkpoint: Checkpoint | None = None
    service_account: str | None = None
    azure_identity: bool = False
    """Whether the account stands for an identity of Azure, whose webhook looks only at pods that say so."""
    token: bool = False
    restricted: bool = False
    rdma: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    profile: str | None = None
    gpu_class: str | None = None
    max_duration: int | None = None
    grace_period: int = 600
    managed_by: str | None = None
    """`kueue.x-k8s.io/multikueue` for a queue of MultiKueue, else None."""
    resilience: Mapping[str, Json] = field(default_factory=dict)
    metrics: Mapping[str, Json] = field(default_factory=dict)
    experiment: Mapping[str, Json] = field(default_factory=dict)
    model: Mapping[str, Json] = field(default_factory=dict)
    """What the run makes, for the model registry."""
    policy_digest: str = ""

    @property
    def gpus(self) -> int:
        """GPUs (or MIG slices) of each worker."""
        return sum(n for key, n in self.worker.extended.items() if key.endswith("/gpu") or "/mig-" in key)

    @property
    def world_size(self) -> int:
        """Workers x GPUs on Ray (workers on CPU); nodes x processes of a gang."""
        if self.kind == "rayjob":
            return self.nodes * (self.gpus or 1)
        return self.nodes * self.processes
