"""The labels that policy gives to runs belong to nobody else.

A label of Kueue, Kubernetes or taugen itself would change where a run goes, or hide it from what looks for it.

Breaks:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      defaults:
        labels: {kueue.x-k8s.io/queue-name: batch}

Mends:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      defaults:
        labels: {tern.example/queue: batch}

Source: Kubernetes docs, well-known labels; Kueue labels
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "default-labels"

_RESERVED = ("kubernetes.io/", "k8s.io/", "x-k8s.io/", "taugen.dev/", "ray.io/", "fluxcd.io/", "argoproj.io/")


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for kind in ("Platform", "Workspace"):
        for item in policy.each(kind):
            for key in item.spec.defaults.labels or {}:
                domain = key.rpartition("/")[0]
                if key in {"job-name", "controller-uid"} or (domain and f".{domain}/".endswith(tuple(f".{r}" for r in _RESERVED))):
                    message = f"the label {key} belongs to {domain or 'Kubernetes'}"
                    hint = "write a domain of your own, such as example.com/team"
                    yield item.finding(ID, ("defaults", "labels", key), message, hint=hint, key=True)
