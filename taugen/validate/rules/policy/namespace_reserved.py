"""No workspace lives in a namespace of the system.

Researchers could act on controllers there, policy would change the namespace's labels, and Kueue does not manage some of them.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: kube-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch, default: true}

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch, default: true}

Source: Kubernetes (kube- prefix is reserved); Kueue configuration (managedJobsNamespaceSelector); Argo CD and Flux defaults
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "namespace-reserved"

_SYSTEM = frozenset(
    {
        "argocd",
        "cert-manager",
        "default",
        "flux-system",
        "gpu-operator",
        "istio-system",
        "jobset-system",
        "knative-serving",
        "kuberay-operator",
        "kuberay-system",
        "kueue-system",
        "monitoring",
        "node-readiness-controller-system",
        "nvidia-gpu-operator",
        "ray-system",
        "taugen-collector",
        "taugen-health",
    }
)


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    engines = {c.spec.gitops.namespace: c for c in policy.clusters.values() if c.spec.gitops.namespace is not None}
    for item in policy.each("Workspace"):
        namespace = item.spec.namespace
        if namespace in _SYSTEM or namespace.startswith(("kube-", "openshift-")):
            message = f"namespace {namespace} belongs to the system"
            yield item.finding(ID, ("namespace",), message, hint="write a namespace of its own, such as team-" + item.name)
        elif namespace in engines:
            cluster = engines[namespace]
            message = f"namespace {namespace} belongs to what applies the deploy tree on cluster {cluster.name}"
            origin = cluster.span(("gitops", "namespace"))
            yield item.finding(ID, ("namespace",), message, hint="write a namespace of its own", origin=origin)
