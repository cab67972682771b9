"""Priority tiers have names of their own.

Names that start with system- are Kubernetes' own. Tiers of one value are one tier under two names, which runs can't tell apart.

Breaks:

    kind: PriorityTier
    metadata: {name: system-urgent}
    spec: {value: 9000}

Mends:

    kind: PriorityTier
    metadata: {name: very-urgent}
    spec: {value: 9000}

Source: Kubernetes scheduling validation.go (ValidatePriorityClass)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy

ID = "tier-name"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    values: dict[int, str] = {}
    for name, tier in sorted(policy.tiers.items()):
        if name.startswith("system-"):
            yield tier.finding(ID, (), f"{name} is a name of the system", hint="leave system- out")
        other = values.setdefault(tier.spec.value, name)
        if other != name:
            message = f"{tier.label} has the value of {other}: {tier.spec.value}"
            origin = policy.tiers[other].span(("value",))
            yield tier.finding(ID, ("value",), message, hint="give them different values", severity=Severity.NOTE, origin=origin)
