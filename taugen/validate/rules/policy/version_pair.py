"""The versions of the platform work with each other and with what is written here.

taugen writes kueue.x-k8s.io/v1beta2, which Kueue serves since 0.15; Kueue of that age runs on Kubernetes 1.29 and newer, and takes
RayJobs of KubeRay 1.1 and newer.

Breaks:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      versions: {kueue: "0.13"}

Mends:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      versions: {kueue: "0.19"}

Source: Kueue CHANGELOG-0.15 (v1beta2), installation page (Kubernetes), Run a RayJob (KubeRay)
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "version-pair"


class _Pair(NamedTuple):
    product: str
    least: tuple[int, int]
    because: str


_PAIRS = (
    _Pair("kueue", (0, 15), "taugen writes kueue.x-k8s.io/v1beta2, which it does not serve"),
    _Pair("kubernetes", (1, 29), "Kueue 0.15 and newer don't run on it"),
    _Pair("kuberay", (1, 1), "Kueue can't hold its RayJobs"),
)


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for platform in policy.each("Platform"):
        for pair in _PAIRS:
            version = getattr(platform.spec.versions, pair.product)
            found = re.fullmatch(r"v?([0-9]+)\.([0-9]+)(?:\.[0-9]+)?", version) if version is not None else None
            if found is not None and (int(found[1]), int(found[2])) < pair.least:
                least = ".".join(map(str, pair.least))
                message = f"{pair.product} {version} is too old: {pair.because}"
                yield platform.finding(ID, ("versions", pair.product), message, hint=f"upgrade it to {least} or newer")
