"""Names and places that both engines share.

In: a cluster's `gitops` and names of clusters and workspaces. Out: object names of at most 63 characters, different for different inputs;
paths in the repository.
"""

from taugen.policy import model
from taugen.policy.set import Policy
from taugen.words.names import slug

_LIMIT = 63
"""Argo CD and Flux write these names into labels."""


def namespace(gitops: model.GitOps) -> str:
    """The namespace of the engine's objects."""
    return gitops.namespace or ("argocd" if gitops.engine == "argocd" else "flux-system")


def platform(cluster: str) -> str:
    """What syncs `<cluster>/platform/`."""
    return slug(f"taugen-{cluster}-platform", _LIMIT)


def workspace(cluster: str, name: str) -> str:
    """What syncs `<cluster>/workspaces/<name>/`."""
    return slug(f"taugen-{cluster}-workspace-{name}", _LIMIT)


def runs(cluster: str, name: str) -> str:
    """What syncs `<cluster>/runs/<name>/`."""
    return slug(f"taugen-{cluster}-runs-{name}", _LIMIT)


def applier(name: str) -> str:
    """The account that applies a workspace's runs (Flux)."""
    return slug(f"taugen-runs-{name}", _LIMIT)


def folder(policy: Policy, cluster: str) -> str:
    """The cluster's folder in the repository that the engine reads, without slashes at the ends."""
    gitops = policy.clusters[cluster].spec.gitops
    path = gitops.path if gitops.path is not None else f"{policy.project.spec.output.path}/{cluster}"
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return "/".join(parts)


def written(policy: Policy, cluster: str) -> str:
    """The folder that publish writes for the cluster."""
    return "/".join(part for part in [*policy.project.spec.output.path.split("/"), cluster] if part not in {"", "."})
