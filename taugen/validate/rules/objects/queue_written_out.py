"""Kueue's objects are of v1beta2 and have their defaults written out.

The API server fills a default that is left out, and Kueue converts an older version: both differ from Git for ever, so that Argo CD never
becomes Synced and Flux applies at each interval.

Breaks:

    target: {kind: ClusterQueue, name: research}
    patch:
      spec: {stopPolicy: null}

Mends:

    target: {kind: ClusterQueue, name: research}
    patch:
      spec: {stopPolicy: Hold}

Source: Kueue apis/kueue/v1beta2 (kubebuilder defaults)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.kueue import API_VERSION
from taugen.render.types import Rendered
from taugen.validate.rules.objects._parts import finding
from taugen.words import at

ID = "queue-written-out"
_DEFAULTED = {
    "ClusterQueue": (
        ("stopPolicy",),
        ("queueingStrategy",),
        ("flavorFungibility", "whenCanBorrow"),
        ("flavorFungibility", "whenCanPreempt"),
        ("preemption", "withinClusterQueue"),
        ("preemption", "reclaimWithinCohort"),
        ("preemption", "borrowWithinCohort", "policy"),
    ),
    "LocalQueue": (("stopPolicy",),),
}


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in objects:
        version = item.obj.get("apiVersion")
        if isinstance(version, str) and version.startswith("kueue.x-k8s.io/") and version != API_VERSION:
            yield finding(ID, item, f"{version} is not the stored version {API_VERSION}")
        for path in _DEFAULTED.get(item.kind, ()):
            if at(item.obj, "spec", *path) is None:
                yield finding(ID, item, f"spec.{'.'.join(path)} is left out, and the API server fills it")
