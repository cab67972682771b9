"""A document and policy become a run with every value decided.

In: a `RunDoc`, a `Policy`, the gathered code. Out: a `ResolvedRun` and findings, all of them: no function here stops at the first. What must never happen: a file
read, a value that depends on anything but the three inputs, a run that is refused without a finding.
"""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel

from taugen.diag import Diagnostic, Span, has_errors
from taugen.policy.model import Profile
from taugen.policy.set import Item, Policy
from taugen.resolve import delivery, images, profiles, program, sizes, storage
from taugen.resolve.code import CodeInput
from taugen.resolve.context import Context, WorkspaceContext
from taugen.resolve.env import variables
from taugen.resolve.explain import Origins
from taugen.resolve.labels import labels
from taugen.resolve.place import Shape, place
from taugen.resolve.queues import Queues, queues
from taugen.resolve.report import Report
from taugen.resolve.run import Kind, ResolvedRun, Resources
from taugen.spec.model import ComputeSection, ExecutionSection, PolicySection, RunSection, RuntimeSection
from taugen.spec.rundoc import RunDoc
from taugen.words import Json, Path, durations, suggest

_NO_COMPUTE = ComputeSection()
_NO_POLICY = PolicySection()
_NO_RUN = RunSection()
_NO_RUNTIME = RuntimeSection()
_last: Context | None = None


def resolve(doc: RunDoc, policy: Policy, code: CodeInput) -> tuple[ResolvedRun | None, list[Diagnostic]]:
    """Decide every value of a run. The findings of gathering its code are among those returned; the run is None if one of them is an error."""
    report = Report(doc, list(code.findings), refused=has_errors(code.findings))
    workspace = _workspace(report, policy)
    if workspace is None:
        return None, report.found
    run = _Resolving(report, policy, workspace, code).run()
    return (None if report.refused or run is None else run), report.found


def context(policy: Policy) -> Context:
    """The lookups of a policy; the last policy's are kept, since a compilation has one."""
    global _last  # noqa: PLW0603
    if _last is None or _last.policy is not policy:
        _last = Context(policy)
    return _last


def _workspace(report: Report, policy: Policy) -> WorkspaceContext | None:
    name = report.doc.workspace
    found = context(policy).workspace(name)
    if found is not None or ("Workspace", name) in policy.broken:
        return found
    near = suggest.closest(name, policy.workspaces)
    if not name:
        text, hint = f"{report.doc.file} lies in no workspace", "move it below workspaces/<workspace>/"
    else:
        text = f"policy has no workspace {name}, only {', '.join(sorted(policy.workspaces)) or 'none at all'}"
        hint = f"move the file below workspaces/{near}/" if near else f"add a Workspace {name} to policy, or move the file"
    report.found.append(Diagnostic("workspace-unknown", text, Span(report.doc.file), hint=hint))
    return None


class _Resolving:
    """One document on its way; each method decides one subject."""

    def __init__(self, report: Report, policy: Policy, workspace: WorkspaceContext, code: CodeInput) -> None:
        self.report, self.policy, self.workspace, self.code = report, policy, workspace, code
        self.doc = report.doc
        spec = report.doc.spec
        self.kind: Kind = report.doc.kind
        self.compute = spec.compute or _NO_COMPUTE
        self.wishes = spec.policy or _NO_POLICY
        self.section = spec.run or _NO_RUN
        self.runtime = spec.runtime or _NO_RUNTIME

    def run(self) -> ResolvedRun | None:
        """All decisions in the order in which they depend on each other."""
        report, doc, workspace = self.report, self.doc, self.workspace
        if not doc.spec.name:
            report.error("missing-name", ("name",), "the run has no name", hint="write name: NAME, unique in the workspace")
        queue = queues(report, workspace)
        chosen = self.profile(queue)
        profile = chosen.profile
        gpus = self.gpus(chosen)
        image = images.image(report, workspace, profile, self.kind, profile_decided=chosen.decided)
        made = program.program(report, workspace, self.code, self.kind)
        nodes = program.nodes(report, profile, self.kind, made.launcher)
        processes = program.processes(doc.spec.execution, made.launcher, gpus or 0)
        cpu, memory, cpu_limit, memory_limit = sizes.worker(report, self.compute, workspace, profile, self.kind, gpus or 0)
        rdma = sizes.rdma(report, self.compute, workspace, profile)
        mig = sizes.mig(report, self.compute, workspace, gpus or 0)
        head = sizes.head(report, self.compute, workspace) if self.kind == "rayjob" else None
        stored = storage.store(report, workspace)
        code, copies = delivery.deliver(report, self.code)
        restricted = self.restricted(rdma)
        tier = self.tier(profile)
        self.limit_of_workspace(gpus or 0, nodes)
        if gpus is None or not chosen.decided:
            report.refused = True
            return None
        shape = Shape(self.kind, gpus, mig, nodes, cpu, memory, head)
        placed = place(report, context(self.policy), workspace, profile, queue, shape, tier)
        if placed is None or report.refused:
            report.refused = True
            return None
        extended = {placed.gpu_resource: gpus} if gpus else {}
        if rdma is not None:
            extended[rdma[0]] = rdma[1]
        disk = self.compute.disk or workspace.compute.disk
        cluster = self.policy.clusters[placed.cluster]
        identity = workspace.item.spec.identity
        return ResolvedRun(
            doc=doc,
            cluster=placed.cluster,
            engine=cluster.spec.gitops.engine,
            namespace=workspace.item.spec.namespace,
            kind=self.kind,
            image=image,
            program=made,
            code=code,
            worker=Resources(cpu, memory, cpu_limit, memory_limit, disk, extended),
            nodes=nodes,
            processes=processes,
            placement=placed.placement,
            env=variables(doc, workspace, profile),
            head=head,
            ray_version=images.checked_ray_version(report, image) if self.kind == "rayjob" else None,
            shm=sizes.shm(self.compute, workspace, profile, self.kind, gpus, memory_limit, rdma=rdma is not None),
            mounts=stored.mounts,
            copies=copies + stored.copies,
            data_dir=stored.data_dir,
            output=stored.output,
            working_dir=self.runtime.working_dir or workspace.runtime.working_dir,
            checkpoint=stored.checkpoint,
            service_account=identity.serviceAccount if identity is not None else None,
            token=identity.token if identity is not None else False,
            restricted=restricted,
            rdma=rdma is not None,
            labels=labels(report, workspace),
            profile=profile.name if profile is not None else None,
            gpu_class=placed.gpu_class,
            max_duration=durations.parse(self.section.max_duration) if self.section.max_duration else workspace.max_duration,
            grace_period=durations.parse(self.section.grace_period) if self.section.grace_period else workspace.grace_period,
            resilience=_resilience(doc, workspace),
            metrics=_dump(doc.spec.metrics),
            experiment=_dump(doc.spec.experiment),
            origins=Origins(self.policy, workspace, profile, doc),
            policy_digest=self.policy.digest,
        )

    def profile(self, queue: Queues) -> profiles.Choice:
        """The run's profile, with what the document says against it."""
        compute, wishes, execution = self.compute, self.wishes, self.doc.spec.execution or ExecutionSection()
        if not self.workspace.item.spec.profiles and wishes.profile is None:
            return profiles.Choice(None, decided=True)
        workers, path = (compute.workers, ("compute", "workers")) if self.kind == "rayjob" else (execution.nodes, ("execution", "nodes"))
        preferred = wishes.topology is None and wishes.preferred_topology is not None
        typed = profiles.Typed(
            kind=self.kind,
            gpus=compute.gpus,
            workers=workers,
            workers_path=cast("Path", path),
            cpus=compute.cpus,
            memory=compute.memory,
            shm=compute.shm_size,
            gpu_class=compute.gpu_class,
            topology=wishes.preferred_topology if preferred else wishes.topology,
            topology_path=("policy", "preferred_topology" if preferred else "topology"),
            image=self.runtime.image,
            queue=queue.typed,
            priority=wishes.priority,
            max_duration=self.section.max_duration,
        )
        return profiles.choose(self.report, self.workspace, typed, wishes.team, wishes.lane)

    def gpus(self, chosen: profiles.Choice) -> int | None:
        """GPUs of each worker; None, with a finding unless something else already says it, where nobody does."""
        if self.compute.gpus is not None:
            return self.compute.gpus
        if chosen.profile is not None and chosen.profile.spec.gpus is not None:
            return chosen.profile.spec.gpus
        if self.workspace.compute.gpus is not None:
            return self.workspace.compute.gpus
        path: Path = ("compute", "gpus")
        if not chosen.decided or self.report.unread(path):
            return None
        if self.doc.dialect == "managed":
            self.report.warn(
                "gpus-assumed", path, "the run does not say how many GPUs it wants, so each worker gets 0", hint="write compute: {gpus: 0}"
            )
            return 0
        if self.kind == "rayjob":
            self.report.note(
                "gpus-assumed", path, "the run does not say how many GPUs it wants, so each worker gets 1", hint="write compute: {gpus: 1}"
            )
            return 1
        who = f"and profile {chosen.profile.name} does not say it either" if chosen.profile is not None else "and no profile says it"
        text = f"the run does not say how many GPUs it wants, {who}"
        self.report.error("missing-gpus", path, text, hint="write compute: {gpus: N}; 0 for a CPU run")
        return None

    def restricted(self, rdma: tuple[str, int] | None) -> bool:
        """Whether the pods must meet the restricted Pod Security Standard."""
        typed = self.runtime.security is not None and self.runtime.security.mode == "restricted"
        if not typed and not self.workspace.restricted:
            return False
        if rdma is not None:
            item = self.workspace.item
            why = "runtime.security.mode" if typed else f"workspace {item.name}"
            origin = None if typed else item.span(("podSecurity",), key=True)
            where: Path = ("runtime", "security", "mode") if typed else ("compute", "rdma")
            text = f"RDMA needs the capability IPC_LOCK, which {why} forbids"
            self.report.error("rdma-restricted", where, text, hint="run without RDMA, or where pods need not be restricted", origin=origin)
        return True

    def tier(self, profile: Item[Profile] | None) -> str | None:
        """The priority tier: the run's, else the profile's, the workspace's, the platform's, else none."""
        name = self.wishes.priority
        if name is None:
            return (profile.spec.priority if profile is not None else None) or self.workspace.priority
        if name not in self.policy.tiers and ("PriorityTier", name) not in self.policy.broken:
            near = suggest.closest(name, self.policy.tiers)
            text = f"there is no priority tier {name}, only {', '.join(sorted(self.policy.tiers)) or 'none'}"
            self.report.error(
                "priority-unknown", ("policy", "priority"), text, hint=f"write {near}" if near else "leave it out for the default"
            )
        return name

    def limit_of_workspace(self, gpus: int, nodes: int) -> None:
        """Workspace.limits.gpusPerRun."""
        item = self.workspace.item
        most = item.spec.limits.gpusPerRun
        if most is None or gpus * nodes <= most:
            return
        path: Path = ("compute", "gpus")
        text = f"the run asks for {gpus * nodes} GPUs ({nodes} x {gpus}), and workspace {item.name} allows {most} in a run"
        self.report.error(
            "workspace-limit", path, text, hint=f"ask for {most} or less", origin=item.span(("limits", "gpusPerRun"), key=True)
        )


def _dump(section: BaseModel | None) -> Mapping[str, Json]:
    return {} if section is None else cast("dict[str, Json]", section.model_dump(exclude_none=True))


def _resilience(doc: RunDoc, workspace: WorkspaceContext) -> Mapping[str, Json]:
    """Retry settings; TauGrid's defaults once there are retries at all."""
    section = doc.spec.resilience
    if section is None and not workspace.resilience:
        return {}
    found: dict[str, Any] = {**workspace.resilience, **_dump(section)}
    if found.get("max_retries"):
        found.setdefault("retry_on", ["Preempted", "Evicted"])
        found.setdefault("backoff_initial", "30s")
        found.setdefault("backoff_max", "5m")
    return found
