"""Weights stand where fair sharing is on.

Kueue reads the weight of a queue or cohort only when fair sharing is enabled in its own configuration, which the Platform document
describes.

Breaks:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing:
        fairSharing: {enable: false}

Mends:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing:
        fairSharing: {enable: true}

Source: Kueue configuration_types.go (FairSharing.enable)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy

ID = "fair-sharing-off"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    sharing = policy.platform.spec.queueing.fairSharing if policy.platform is not None else None
    if policy.lost("Platform") or (sharing is not None and sharing.enable):
        return
    for kind in ("Queue", "Cohort"):
        for _, item in sorted(policy.of(kind).items()):
            if item.spec.fairSharing is not None and item.spec.fairSharing.weight != "1":
                message = f"the weight of {item.label} does nothing while Kueue's fair sharing is off"
                hint = "write queueing: {fairSharing: {enable: true}} in the Platform if it is on"
                yield item.finding(ID, ("fairSharing",), message, hint=hint, severity=Severity.NOTE, key=True)
