"""Collects evidence from a cluster: what `taugen collect` does.

In: a project or a configuration file, a cluster's name. Out: commits on the evidence branch. What must never happen: a write to the
cluster, evidence on the deploy branch.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from taugen.collect import api
from taugen.collect.clock import Clock
from taugen.collect.config import Settings, read
from taugen.collect.deploy import Deploy
from taugen.collect.loop import Collector
from taugen.diag import Refused
from taugen.evidence.sink import Sink, SinkError
from taugen.load import git
from taugen.load.cache import cache_folder
from taugen.pipeline.project import open_project


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for. `config` takes the place of the project; `folder` is where the collector keeps its clone; `mounts` maps claims
    (``CLAIM`` or ``NAMESPACE/CLAIM``) to folders."""

    directory: Path
    cluster: str
    config: Path | None = None
    folder: Path | None = None
    kubeconfig: Path | None = None
    context: str | None = None
    evidence: str | None = None
    deploy: str | None = None
    mounts: Mapping[str, Path] = field(default_factory=dict)


def collect(request: Request, *, once: bool, clock: Clock, say: Callable[[str], None]) -> str:
    """Look once, and return the commit (empty: there is no news); or follow the cluster until the clock is stopped. Raises `Refused`."""
    settings = _settings(request)
    folder = request.folder or cache_folder() / "collect" / settings.cluster
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"the state folder {folder} can't be made: {error.strerror}", code=2) from None
    try:
        server = api.connect(request.kubeconfig, request.context, streams=8 * (len(settings.namespaces) + 1))
    except api.ApiError as error:
        raise Refused(str(error), hint="name a kubeconfig with --kubeconfig and a context with --context", code=2) from None
    try:
        sink = _sink(settings, folder, clock)
    except SinkError as error:
        raise Refused(f"the state folder {folder} can't be used: {error}", code=2) from None
    collector = Collector(settings, server, sink, _deploy(settings, folder), clock, say)
    if once:
        return collector.once()
    collector.run()
    return ""


def _settings(request: Request) -> Settings:
    settings = read(request.config, request.cluster) if request.config is not None else _of_project(request)
    return replace(
        settings,
        evidence_url=request.evidence or settings.evidence_url,
        deploy_url=request.deploy or settings.deploy_url,
        mounts={**settings.mounts, **request.mounts},
    )


def _of_project(request: Request) -> Settings:
    """The settings that policy gives, as seen from this repository. Raises `Refused`."""
    project = open_project(request.directory)
    policy = project.policy
    if request.cluster not in policy.clusters:
        known = ", ".join(sorted(policy.clusters)) or "none"
        raise Refused(f"there is no cluster {request.cluster}", hint=f"clusters of this project: {known}", code=2)
    spec, item = policy.project.spec, policy.clusters[request.cluster]
    present = [policy.workspaces[name] for name in policy.workspaces if request.cluster in policy.clusters_of(name)]
    if not present:
        raise Refused(f"no workspace is on cluster {request.cluster}", code=2)
    metrics = item.spec.metrics
    return Settings(
        cluster=request.cluster,
        project=project.name,
        namespaces={workspace.spec.namespace: workspace.name for workspace in present},
        evidence_url=spec.evidence.url,
        evidence_branch=spec.evidence.branch,
        deploy_url=spec.output.url,
        deploy_branch=spec.output.branch,
        repo=git.toplevel(project.root) or project.root,
        prometheus=metrics.prometheus if metrics is not None else None,
        queries=dict(metrics.queries) if metrics is not None else {},
        prices=dict(policy.platform.spec.pricing) if policy.platform is not None else {},
    )


def _sink(settings: Settings, folder: Path, clock: Clock) -> Sink:
    """The writer of the evidence branch: of the project's own repository where no URL is named."""
    repo, url = _place(settings, settings.evidence_url, folder)
    author = f"taugen collector {settings.cluster}"
    return Sink(folder, url or str(repo), settings.evidence_branch, author, sign=settings.signing_key, clock=clock.now)


def _deploy(settings: Settings, folder: Path) -> Deploy:
    """The deploy branch: of the project's own repository where no URL is named."""
    repo, url = _place(settings, settings.deploy_url, folder / "deploy.git")
    return Deploy(repo, settings.deploy_branch, settings.project, settings.cluster, url)


def _place(settings: Settings, url: str | None, clone: Path) -> tuple[Path, str | None]:
    """(repository, URL to fetch from): the URL may be a path relative to the project."""
    local = (settings.repo or Path()) / url if url else settings.repo
    if local is not None and "://" not in (url or "") and local.is_dir():
        return local, None
    if url is None:
        raise Refused("there is neither a repository nor the URL of one", hint="name one with --deploy and --evidence", code=2)
    return clone, url
