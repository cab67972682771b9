"""The collector's image is allowed, and pinned as the platform asks.

It holds the key that writes evidence: who can change what the image's name stands for could write any history.

Breaks:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops: {engine: flux, url: 'https://git.tern.example/platform/fleet.git'}
      collector: {image: 'quay.io/someone/taugen@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Mends:

    kind: Cluster
    metadata: {name: cove}
    spec:
      gitops: {engine: flux, url: 'https://git.tern.example/platform/fleet.git'}
      collector: {image: 'registry.tern.example/base/taugen@sha256:1111111111111111111111111111111111111111111111111111111111111111'}

Source: distribution reference grammar
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.validate.rules.policy import _images

ID = "collector-image"

_UNPINNED = {"required": Severity.ERROR, "warn": Severity.WARNING}


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("Cluster"):
        if item.spec.collector is not None:
            yield from _images.judged(policy, item, ("collector", "image"), item.spec.collector.image, rule=ID, unpinned=_UNPINNED)
