"""The platform's side of the deploy tree, for all clusters.

In: a policy. Out: every object of `<cluster>/{gitops,platform,workspaces}/` and the constant object of each
`<cluster>/runs/<workspace>/`, in a fixed order. What a policy with errors can't say is left out; nothing is raised for it.
"""

from taugen.policy.set import Policy
from taugen.render import kueue, tenancy
from taugen.render.collector import collector_objects
from taugen.render.gitops import gitops_objects
from taugen.render.health import health_objects
from taugen.render.types import Rendered


def render_platform(policy: Policy) -> list[Rendered]:
    """The platform's objects, cluster by cluster in order of their names."""
    return [rendered for cluster in sorted(policy.clusters) for rendered in render_cluster(policy, cluster)]


def render_cluster(policy: Policy, cluster: str) -> list[Rendered]:
    """The platform's objects of one cluster."""
    out = [*gitops_objects(policy, cluster), *kueue.cluster_objects(policy, cluster)]
    out += [*collector_objects(policy, cluster), *health_objects(policy, cluster)]
    for workspace in workspaces_on(policy, cluster):
        out += tenancy.workspace_objects(policy, workspace, cluster)
        out.append(tenancy.constant(policy, workspace, cluster))
    return out


def workspaces_on(policy: Policy, cluster: str) -> list[str]:
    """The workspaces of a cluster, by name."""
    return [name for name in sorted(policy.workspaces) if cluster in policy.clusters_of(name)]
