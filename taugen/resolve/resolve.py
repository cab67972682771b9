"""A document and policy become a run with every value decided.

In: a `RunDoc`, a `Policy`, the gathered code. Out: a `ResolvedRun` and findings, all of them: nothing here stops at the first. What must
never happen: a file read, a value that depends on anything but the three inputs, a run that is refused without a finding.
"""

from collections.abc import Mapping
from typing import Any

from taugen.diag import Diagnostic, Span, has_errors
from taugen.policy.model import Profile
from taugen.policy.set import Item, Policy
from taugen.policy.tenancy import AZURE_CLIENT
from taugen.resolve import delivery, images, place, profiles, program, sizes, storage
from taugen.resolve.case import Case, case
from taugen.resolve.code import CodeInput
from taugen.resolve.context import Context, WorkspaceContext
from taugen.resolve.env import variables
from taugen.resolve.labels import labels
from taugen.resolve.limits import limit_of_workspace, max_duration, restricted
from taugen.resolve.queues import queues
from taugen.resolve.report import Report
from taugen.resolve.run import ResolvedRun, Resources
from taugen.spec.model import Section
from taugen.spec.rundoc import RunDoc
from taugen.words import Json, Path, durations, suggest

GPUS: Path = ("compute", "gpus")
_last: Context | None = None


def resolve(doc: RunDoc, policy: Policy, code: CodeInput) -> tuple[ResolvedRun | None, list[Diagnostic]]:
    """Decide every value of a run. The findings of gathering its code are among those returned; the run is None if one of them is an
    error.
    """
    report = Report(doc, list(code.findings), bool(code.findings) and has_errors(code.findings))
    context = context_of(policy)
    if policy.platform is None and policy.lost("Platform"):
        return None, report.found  # its defaults and bounds are unknown, and its own findings say so
    workspace = context.workspace(doc.workspace)
    if workspace is None:
        _unknown_workspace(report, policy)
        return None, report.found
    return _decide(case(report, context, workspace, code)), report.found


def context_of(policy: Policy) -> Context:
    """The lookups of a policy; the last policy's are kept, since a compilation has one."""
    global _last  # noqa: PLW0603 - a cache of one, keyed by identity
    if _last is None or _last.policy is not policy:
        _last = Context(policy)
    return _last


def _unknown_workspace(report: Report, policy: Policy) -> None:
    name = report.doc.workspace
    report.refused = True
    if policy.unread("Workspace", name):
        return
    near = suggest.closest(name, policy.workspaces)
    if not name:
        text, hint = f"{report.doc.file} lies in no workspace", "move it below workspaces/<workspace>/"
    else:
        text = f"policy has no workspace {name}: it has {', '.join(sorted(policy.workspaces)) or 'none'}"
        hint = f"move the file below workspaces/{near}/" if near else f"add a Workspace {name} to policy, or move the file"
    report.found.append(Diagnostic("workspace-unknown", text, Span(report.doc.file), hint=hint))


def _decide(case: Case) -> ResolvedRun | None:
    """All decisions in the order in which they depend on each other; each function reports for itself."""
    doc, workspace = case.doc, case.workspace
    if not doc.spec.name:
        case.report.error("missing-name", ("name",), "the run has no name", hint="write name: NAME, unique in the workspace")
    queue = queues(case)
    profile, profile_decided = profiles.choose(case, queue)
    gpus = _gpus(case, profile, profile_decided=profile_decided)
    image = images.image(case, profile, profile_decided=profile_decided)
    made = program.program(case)
    nodes = program.nodes(case, profile, made.launcher)
    size = sizes.worker(case, profile, gpus or 0)
    head = sizes.head(case) if case.kind == "rayjob" else None
    rdma, mig = sizes.rdma(case, profile, gpus or 0), sizes.mig(case, gpus or 0) if gpus is not None else None
    stored = storage.store(case)
    code, copies = delivery.deliver(case)
    bound = restricted(case, rdma)
    tier = place.tier(case, profile)
    limit_of_workspace(case, gpus or 0, nodes)
    if gpus is None or not profile_decided or not case.kind_known:
        case.report.refused = True
        return None
    placed = place.place(case, profile, queue, place.Shape(gpus, mig, nodes, size, head), tier)
    ray = images.checked_ray_version(case, image) if case.kind == "rayjob" else None
    if placed is None or case.report.refused:
        return None
    identity = workspace.item.spec.identity
    return ResolvedRun(
        doc=doc,
        cluster=placed.cluster,
        engine=case.context.policy.clusters[placed.cluster].spec.gitops.engine,
        namespace=workspace.item.spec.namespace,
        kind=case.kind,
        image=image,
        program=made,
        code=code,
        worker=Resources(*size, case.compute.disk or workspace.compute.disk, _extended(placed, gpus, rdma)),
        nodes=nodes,
        processes=program.processes(case, made.launcher, gpus),
        placement=placed.placement,
        env=variables(case, profile),
        head=head,
        ray_version=ray,
        shm=sizes.shm(case, profile, gpus, size.memory_limit, rdma=rdma is not None),
        mounts=stored.mounts,
        copies=copies + stored.copies,
        data_dir=stored.data_dir,
        output=stored.output,
        working_dir=case.runtime.working_dir or workspace.runtime.working_dir,
        checkpoint=stored.checkpoint,
        service_account=identity.serviceAccount if identity is not None else None,
        azure_identity=identity is not None and AZURE_CLIENT in identity.annotations,
        token=identity is not None and identity.token,
        restricted=bound,
        rdma=rdma is not None,
        labels=labels(case),
        profile=profile.name if profile is not None else None,
        gpu_class=placed.gpu_class,
        max_duration=max_duration(case, profile),
        grace_period=durations.parse(case.run.grace_period) if case.run.grace_period else workspace.grace_period,
        resilience=_resilience(doc, workspace),
        metrics=_written(doc.spec.metrics),
        experiment=_written(doc.spec.experiment),
        model=_written(doc.spec.model),
        policy_digest=case.context.policy.digest,
    )


def _gpus(case: Case, profile: Item[Profile] | None, *, profile_decided: bool) -> int | None:
    """GPUs of each worker; None, with a finding unless something else already says it, where nobody does."""
    if case.compute.gpus is not None:
        return case.compute.gpus
    if profile is not None and profile.spec.gpus is not None:
        return profile.spec.gpus
    if case.workspace.compute.gpus is not None:
        return case.workspace.compute.gpus
    if not profile_decided or not case.kind_known or case.doc.lost(GPUS):
        return None
    says_nothing = "the run does not say how many GPUs it wants"
    if case.doc.dialect == "managed":
        case.report.warn("gpus-assumed", GPUS, f"{says_nothing}, so each worker gets 0", hint="write compute: {gpus: 0}")
        return 0
    if case.kind == "rayjob":
        case.report.note("gpus-assumed", GPUS, f"{says_nothing}, so each worker gets 1", hint="write compute: {gpus: 1}")
        return 1
    who = f"and profile {profile.name} does not say it either" if profile is not None else "and it has no profile that does"
    case.report.error("missing-gpus", GPUS, f"{says_nothing}, {who}", hint="write compute: {gpus: N}, 0 for a CPU run")
    return None


def _extended(placed: place.Placed, gpus: int, rdma: tuple[str, int] | None) -> Mapping[str, int]:
    found = {placed.gpu_resource: gpus} if gpus else {}
    if rdma is not None:
        found[rdma[0]] = rdma[1]
    return found


def _written(section: Section | None) -> Mapping[str, Json]:
    return {} if section is None else section.written()


def _resilience(doc: RunDoc, workspace: WorkspaceContext) -> Mapping[str, Json]:
    """Retry settings; TauGrid's defaults once there are retries at all."""
    section = doc.spec.resilience
    if section is None and not workspace.resilience:
        return {}
    found: dict[str, Any] = {**workspace.resilience, **_written(section)}
    if found.get("max_retries"):
        found.setdefault("retry_on", ["Preempted", "Evicted"])
        found.setdefault("backoff_initial", "30s")
        found.setdefault("backoff_max", "5m")
    return found
