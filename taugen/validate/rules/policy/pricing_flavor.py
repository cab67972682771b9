"""Prices are prices of flavors.

A price is of a GPU hour of a flavor, of a CPU hour where the flavor has no GPUs. One for anything else is never used.

Breaks:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      pricing: {cpu: 0.05, l40s: 1.2, h20: 4.5}

Mends:

    kind: Platform
    metadata: {name: tern}
    spec:
      queueing: {fairSharing: {enable: true}}
      pricing: {cpu: 0.05, l40s: 1.2, h200: 4.5}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.words import suggest

ID = "pricing-flavor"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for platform in policy.each("Platform"):
        for name in platform.spec.pricing:
            if not policy.exists("Flavor", name):
                near = suggest.closest(name, sorted(policy.flavors))
                hint = f"did you mean {near}?" if near else f"the flavors are {', '.join(sorted(policy.flavors)) or 'none'}"
                message = f"there is no Flavor {name}, so its price is never used"
                yield platform.finding(ID, ("pricing", name), message, hint=hint, severity=Severity.WARNING, key=True)
