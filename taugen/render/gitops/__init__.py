"""What makes Argo CD or Flux apply a cluster's deploy tree.

In: a policy and a cluster. Out: objects of `<cluster>/gitops/`, the one folder that the platform team's root Application or Kustomization
points at.
"""

from collections.abc import Iterator

from taugen.policy.set import Policy
from taugen.render.gitops import argocd, flux
from taugen.render.types import Rendered


def gitops_objects(policy: Policy, cluster: str) -> Iterator[Rendered]:
    """The objects that sync a cluster, by the engine it names."""
    engine = argocd if policy.clusters[cluster].spec.gitops.engine == "argocd" else flux
    yield from engine.objects(policy, cluster)
