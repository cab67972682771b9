"""How large the containers are.

In: the document, the profile, the workspace's defaults. Out: `Resources` in canonical quantities. Requests and limits of memory are equal where nobody says
otherwise; a limit of CPU is set only where it is typed.

Built-in sizes (TauGrid's, so that its files keep their meaning):

| pod | CPU | memory |
|---|---|---|
| with GPUs, any kind | 8 | 64Gi |
| Ray worker without | 2 | 8Gi (managed dialect: 1, 4Gi) |
| Job or JobSet without | 1 | 2Gi |
| Ray head (control only) | 2 | 8Gi |

/dev/shm is 16Gi (32Gi with RDMA) for GPU and Ray pods, but never more than half of the memory limit, since it counts against it; other pods get none.
"""

import re

from taugen.policy.model import Profile
from taugen.policy.set import Item
from taugen.resolve.context import WorkspaceContext
from taugen.resolve.report import Report
from taugen.resolve.run import Resources
from taugen.spec.model import ComputeSection, HeadSize
from taugen.words import Path, quantity

GPU_WORKER = ("8", "64Gi")
RAY_WORKER = ("2", "8Gi")
MANAGED_RAY_WORKER = ("1", "4Gi")
CPU_POD = ("1", "2Gi")
HEAD = ("2", "8Gi")
SHM, SHM_RDMA = "16Gi", "32Gi"
RDMA_RESOURCE = "rdma/rdma_shared_device_a"
"""TauGrid's name, where neither document nor profile has one."""

_NO_HEAD = HeadSize()
_MIG = re.compile(r"[1-9][0-9]*g\.[1-9][0-9]*gb(?:\.me)?(?:\+me)?")


def builtin(kind: str, gpus: int, dialect: str) -> tuple[str, str]:
    """CPU and memory of a worker of which nobody says anything."""
    if gpus:
        return GPU_WORKER
    if kind != "rayjob":
        return CPU_POD
    return MANAGED_RAY_WORKER if dialect == "managed" else RAY_WORKER


def worker(
    report: Report, compute: ComputeSection, workspace: WorkspaceContext, profile: Item[Profile] | None, kind: str, gpus: int
) -> tuple[str, str, str | None, str]:
    """CPU, memory, CPU limit and memory limit of each worker."""
    spec = profile.spec if profile is not None else None
    defaults = workspace.compute
    fallback = builtin(kind, gpus, report.doc.dialect)
    cpu = compute.cpus
    if cpu is None and spec is not None and spec.cpuPerGpu is not None and gpus:
        cpu = quantity.multiply(spec.cpuPerGpu, gpus)
    if cpu is None:
        cpu = compute.cpu_limit or defaults.cpus or fallback[0]
    memory = compute.memory
    if memory is None and spec is not None and spec.memoryPerGpu is not None and gpus:
        memory = quantity.multiply(spec.memoryPerGpu, gpus)
    if memory is None:
        memory = compute.memory_limit or defaults.memory or fallback[1]
    cpu_limit = compute.cpu_limit or defaults.cpu_limit
    memory_limit = compute.memory_limit or defaults.memory_limit or memory
    _not_below(report, ("compute", "cpu_limit"), cpu, cpu_limit, "CPU", typed=compute.cpu_limit is not None)
    _not_below(report, ("compute", "memory_limit"), memory, memory_limit, "memory", typed=compute.memory_limit is not None)
    for path, text in (
        (("compute", "memory"), compute.memory),
        (("compute", "memory_limit"), compute.memory_limit),
        (("compute", "shm_size"), compute.shm_size),
    ):
        if text is not None:
            without_unit(report, path, text)
    return cpu, memory, _at_least(cpu_limit, cpu), _at_least(memory_limit, memory) or memory


def head(report: Report, compute: ComputeSection, workspace: WorkspaceContext) -> Resources:
    """The Ray head, which only controls."""
    own, default = compute.head or _NO_HEAD, workspace.compute.head or _NO_HEAD
    cpu = own.cpus or own.cpu_limit or default.cpus or HEAD[0]
    memory = own.memory or own.memory_limit or default.memory or HEAD[1]
    cpu_limit, memory_limit = own.cpu_limit or default.cpu_limit, own.memory_limit or default.memory_limit or memory
    _not_below(report, ("compute", "head", "cpu_limit"), cpu, cpu_limit, "CPU", typed=own.cpu_limit is not None)
    _not_below(report, ("compute", "head", "memory_limit"), memory, memory_limit, "memory", typed=own.memory_limit is not None)
    if own.memory is not None:
        without_unit(report, ("compute", "head", "memory"), own.memory)
    return Resources(cpu, memory, _at_least(cpu_limit, cpu), _at_least(memory_limit, memory) or memory)


def shm(
    compute: ComputeSection,
    workspace: WorkspaceContext,
    profile: Item[Profile] | None,
    kind: str,
    gpus: int,
    memory_limit: str,
    *,
    rdma: bool,
) -> str | None:
    """Size of /dev/shm. What the document does not say itself is cut to half of the memory."""
    if compute.shm_size is not None:
        return compute.shm_size
    wanted = profile.spec.shm if profile is not None else None
    wanted = wanted or workspace.compute.shm_size
    if wanted is None:
        if not gpus and kind != "rayjob":
            return None
        wanted = SHM_RDMA if rdma else SHM
    if quantity.compare(quantity.multiply(wanted, 2), memory_limit) <= 0:
        return wanted
    mebibytes = int(quantity.parse(memory_limit)) // 2 // 2**20
    return quantity.canonical(f"{mebibytes}Mi", unit="memory") if mebibytes else None


def rdma(report: Report, compute: ComputeSection, workspace: WorkspaceContext, profile: Item[Profile] | None) -> tuple[str, int] | None:
    """The RDMA devices of each worker: what the document or, unless it says no, the profile asks for."""
    own = compute.rdma or workspace.compute.rdma
    given = profile.spec.rdma if profile is not None else None
    if own is not None and own.enabled is False:
        return None
    if own is None or not (own.enabled or own.resource or own.count):
        return (given.resource, given.count) if given is not None else None
    if given is not None and profile is not None:
        for field, typed, fixed in (("resource", own.resource, given.resource), ("count", own.count, given.count)):
            if typed is not None and typed != fixed:
                text = f"{field} {typed} is not allowed: it is fixed at {fixed} by profile {profile.name}"
                report.error(
                    "profile-limit", ("compute", "rdma", field), text, hint="leave it out", origin=profile.span(("rdma", field), key=True)
                )
        return given.resource, given.count
    return own.resource or RDMA_RESOURCE, own.count or 1


def mig(report: Report, compute: ComputeSection, workspace: WorkspaceContext, gpus: int) -> str | None:
    """The MIG profile whose slices `gpus` counts."""
    profile = compute.mig_profile or workspace.compute.mig_profile
    if profile is None or (not gpus and compute.mig_profile is None):
        return None
    if not _MIG.fullmatch(profile):
        report.error(
            "mig-profile", ("compute", "mig_profile"), f"{profile} is not a MIG profile", hint="write slices and memory, such as 1g.10gb"
        )
        return None
    if not gpus:
        report.error(
            "mig-profile",
            ("compute", "mig_profile"),
            "a MIG profile stands beside 0 GPUs",
            hint="write how many slices each worker gets: compute.gpus",
        )
        return None
    return profile


def without_unit(report: Report, path: Path, text: str) -> None:
    """Warn of a memory amount so small that its unit was surely forgotten."""
    if quantity.looks_like_bytes(text):
        report.warn("memory-without-unit", path, f"{text} means {text} bytes", hint=f"write {text}Gi for gibibytes")


def _not_below(report: Report, path: Path, request: str, limit: str | None, what: str, *, typed: bool) -> None:
    if typed and limit is not None and quantity.compare(limit, request) < 0:
        text = f"the {what} limit {limit} is below the request {request}"
        report.error("limit-below-request", path, text, hint=f"write {request} or more, or leave the limit out")


def _at_least(limit: str | None, request: str) -> str | None:
    """A default limit never cuts a request that somebody typed."""
    return request if limit is not None and quantity.compare(limit, request) < 0 else limit
