"""How large the containers are.

In: the document, the profile, the workspace's defaults. Out: `Resources` in canonical quantities. Requests and limits of memory are equal
where nobody says otherwise; a limit of CPU is set only where it is typed.

Built-in sizes (TauGrid's, so that its files keep their meaning):

| pod | CPU | memory |
|---|---|---|
| with GPUs, any kind | 8 | 64Gi |
| Ray worker without | 2 | 8Gi (managed dialect: 1, 4Gi) |
| Job or JobSet without | 1 | 2Gi |
| Ray head (control only) | 2 | 8Gi |

/dev/shm is 16Gi (32Gi with RDMA) for GPU and Ray pods, but never more than half of the memory unless the document says so itself, since
it counts against it; other pods get none.
"""

from functools import lru_cache
from typing import NamedTuple

from taugen.policy.model import Profile
from taugen.policy.set import Item
from taugen.resolve.case import Case
from taugen.resolve.run import Resources
from taugen.spec.model import HeadSize, Rdma
from taugen.words import Path, quantity
from taugen.words.regex import regex

GPU_WORKER = ("8", "64Gi")
RAY_WORKER = ("2", "8Gi")
MANAGED_RAY_WORKER = ("1", "4Gi")
CPU_POD = ("1", "2Gi")
HEAD = ("2", "8Gi")
SHM, SHM_RDMA = "16Gi", "32Gi"
MOST = "9223372036854775"
"""The largest quantity that an int64 of thousandths holds."""
RDMA_RESOURCE = "rdma/rdma_shared_device_a"
"""TauGrid's name, where neither document nor profile has one."""

_HEAD = HeadSize.model_construct()
_RDMA = Rdma.model_construct()
_MIG = regex(r"[1-9][0-9]*g\.[1-9][0-9]*gb(?:\.me)?")


class Size(NamedTuple):
    """What a container asks for: canonical quantities."""

    cpu: str
    memory: str
    cpu_limit: str | None
    memory_limit: str


@lru_cache(maxsize=4096)
def times(each: str, count: int) -> str:
    """`count` times a quantity; at most what can be counted, which no node has: the run is then refused for its size."""
    try:
        return quantity.multiply(each, count)
    except quantity.QuantityError:
        return MOST


@lru_cache(maxsize=4096)
def _below(limit: str, request: str) -> bool:
    return quantity.compare(limit, request) < 0


def builtin(kind: str, gpus: int, dialect: str) -> tuple[str, str]:
    """CPU and memory of a worker of which nobody says anything."""
    if gpus:
        return GPU_WORKER
    if kind != "rayjob":
        return CPU_POD
    return MANAGED_RAY_WORKER if dialect == "managed" else RAY_WORKER


def worker(case: Case, profile: Item[Profile] | None, gpus: int) -> Size:
    """Each worker: as typed, else the profile's share of its GPUs, else the default. A limit alone is the request too, as Kubernetes has
    it.
    """
    compute, defaults, spec = case.compute, case.workspace.compute, profile.spec if profile is not None else None
    fallback = builtin(case.kind, gpus, case.doc.dialect)
    cpu, memory = compute.cpus, compute.memory
    if cpu is None and spec is not None and spec.cpuPerGpu is not None and gpus:
        cpu = times(spec.cpuPerGpu, gpus)
    if memory is None and spec is not None and spec.memoryPerGpu is not None and gpus:
        memory = times(spec.memoryPerGpu, gpus)
    cpu = cpu or compute.cpu_limit or defaults.cpus or fallback[0]
    memory = memory or compute.memory_limit or defaults.memory or fallback[1]
    if compute.memory is not None or compute.memory_limit is not None or compute.shm_size is not None:
        for field in ("memory", "memory_limit", "shm_size"):
            _without_unit(case, ("compute", field), getattr(compute, field))
    cpu_limit = _limit(case, ("compute", "cpu_limit"), cpu, compute.cpu_limit, defaults.cpu_limit)
    memory_limit = _limit(case, ("compute", "memory_limit"), memory, compute.memory_limit, defaults.memory_limit)
    return Size(cpu, memory, cpu_limit, memory_limit or memory)


def head(case: Case) -> Resources:
    """The Ray head, which only controls."""
    own, default = case.compute.head or _HEAD, case.workspace.compute.head or _HEAD
    cpu = own.cpus or own.cpu_limit or default.cpus or HEAD[0]
    memory = own.memory or own.memory_limit or default.memory or HEAD[1]
    _without_unit(case, ("compute", "head", "memory"), own.memory)
    cpu_limit = _limit(case, ("compute", "head", "cpu_limit"), cpu, own.cpu_limit, default.cpu_limit)
    memory_limit = _limit(case, ("compute", "head", "memory_limit"), memory, own.memory_limit, default.memory_limit)
    return Resources(cpu, memory, cpu_limit, memory_limit or memory)


def _limit(case: Case, path: Path, request: str, typed: str | None, default: str | None) -> str | None:
    """The limit beside a request; a default one never cuts it."""
    if typed is None:
        return request if default is not None and _below(default, request) else default
    if _below(typed, request):
        what = "memory" if "memory" in str(path[-1]) else "CPU"
        text = f"the {what} limit {typed} is below the request {request}"
        case.report.error("limit-below-request", path, text, hint=f"write {request} or more, or leave the limit out")
    return typed


def _without_unit(case: Case, path: Path, text: str | None) -> None:
    """Warn of a memory amount so small that its unit was surely forgotten."""
    if text is not None and quantity.looks_like_bytes(text):
        case.report.warn("memory-without-unit", path, f"{text} means {text} bytes", hint=f"write {text}Gi for gibibytes")


def shm(case: Case, profile: Item[Profile] | None, gpus: int, memory_limit: str, *, rdma: bool) -> str | None:
    """Size of /dev/shm. What the document does not say itself is cut to half of the memory."""
    if case.compute.shm_size is not None:
        return case.compute.shm_size
    wanted = (profile.spec.shm if profile is not None else None) or case.workspace.compute.shm_size
    if wanted is None:
        if not gpus and case.kind != "rayjob":
            return None
        wanted = SHM_RDMA if rdma else SHM
    return _at_most_half(wanted, memory_limit)


@lru_cache(maxsize=4096)
def _at_most_half(wanted: str, memory: str) -> str | None:
    if quantity.parse(wanted) * 2 <= quantity.parse(memory):
        return wanted
    mebibytes = int(quantity.parse(memory)) // 2 // 2**20
    return quantity.canonical(f"{mebibytes}Mi", unit="memory") if mebibytes else None


def rdma(case: Case, profile: Item[Profile] | None, gpus: int) -> tuple[str, int] | None:
    """The RDMA devices of each worker: what the document, unless it says no the profile, or for a run with GPUs the default asks for."""
    own, default = case.compute.rdma or _RDMA, case.workspace.compute.rdma or _RDMA
    if own.enabled is False:
        return None
    given = profile.spec.rdma if profile is not None else None
    if given is None or profile is None:
        asked = _asks(own) or (gpus > 0 and default.enabled is not False and _asks(default))
        return (own.resource or default.resource or RDMA_RESOURCE, own.count or default.count or 1) if asked else None
    for field, typed, fixed in (("resource", own.resource, given.resource), ("count", own.count, given.count)):
        if typed is not None and typed != fixed:
            text = f"{field} is {typed}, and profile {profile.name} fixes it at {fixed}"
            origin = profile.span(("rdma", field), key=True)
            case.report.error("profile-limit", ("compute", "rdma", field), text, hint=f"write {fixed}, or leave it out", origin=origin)
    return given.resource, given.count


def _asks(rdma: Rdma) -> bool:
    """Naming the devices asks for them."""
    return bool(rdma.enabled) or rdma.resource is not None or rdma.count is not None


def is_mig_profile(text: str) -> bool:
    """Whether NVIDIA's tools could mean a slice by it: compute slices and memory."""
    return _MIG.fullmatch(text) is not None


def mig(case: Case, gpus: int) -> str | None:
    """The MIG profile whose slices `gpus` counts."""
    typed = case.compute.mig_profile
    profile = typed or case.workspace.compute.mig_profile
    if profile is None or (not gpus and typed is None):
        return None
    where: Path = ("compute", "mig_profile")
    if not is_mig_profile(profile):
        case.report.error("mig-profile", where, f"{profile} is not a MIG profile", hint="write compute and memory slices, such as 1g.10gb")
        return None
    if not gpus:
        case.report.error(
            "mig-profile", where, "a MIG profile stands beside 0 GPUs", hint="write how many slices each worker gets: compute.gpus"
        )
        return None
    return profile
