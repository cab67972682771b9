"""Bounds that workspace and profile set on a run as a whole.

In: what was decided about its size. Out: findings, the longest time in admission, whether its pods must be restricted.
"""

from taugen.policy.model import Profile
from taugen.policy.set import Item
from taugen.resolve.case import Case
from taugen.resolve.program import typed_nodes
from taugen.words import Path, durations
from taugen.words.errors import TextError


def limit_of_workspace(case: Case, gpus: int, nodes: int) -> None:
    """Workspace.limits.gpusPerRun, over all workers."""
    item = case.workspace.item
    most = item.spec.limits.gpusPerRun
    if most is None or gpus * nodes <= most:
        return
    count = typed_nodes(case)[1]
    order: tuple[Path, ...] = (count, ("compute", "gpus")) if gpus <= most else (("compute", "gpus"), count)
    path = next((p for p in order if case.doc.has(p)), ("policy", "profile"))
    how = f" ({nodes} x {gpus})" if nodes > 1 else ""
    text = f"the run asks for {gpus * nodes} GPUs{how}, and workspace {item.name} allows {most} in one run"
    origin = item.span(("limits", "gpusPerRun"), key=True)
    case.report.error("workspace-limit", path, text, hint=f"ask for {most} or less in all", origin=origin)


def max_duration(case: Case, profile: Item[Profile] | None) -> int | None:
    """Seconds: the document's, else the default, within what the profile allows; a profile with a bound bounds also what nobody limits."""
    if case.run.max_duration is not None:
        return durations.parse(case.run.max_duration)
    default = case.workspace.max_duration
    bounds = profile.spec.override.get("max_duration") if profile is not None else None
    if bounds is None or bounds.max is None:
        return default
    try:
        most = durations.parse(bounds.max)
    except TextError:
        return default  # a rule of policy says that the bound is no duration
    return most if default is None else min(default, most)


def restricted(case: Case, rdma: tuple[str, int] | None) -> bool:
    """Whether the pods must meet the restricted Pod Security Standard."""
    security = case.runtime.security
    typed = security is not None and security.mode == "restricted"
    if not typed and not case.workspace.restricted:
        return False
    if rdma is not None:
        item = case.workspace.item
        why = "runtime.security.mode" if typed else f"workspace {item.name}"
        where: Path = ("runtime", "security", "mode") if typed else ("compute", "rdma")
        path = where if case.doc.has(where) else ("policy", "profile")
        origin = None if typed else item.span(("podSecurity",), key=True)
        text = f"RDMA needs the capability IPC_LOCK, which {why} forbids"
        case.report.error("rdma-restricted", path, text, hint="run without RDMA, or where pods need not be restricted", origin=origin)
    return True
