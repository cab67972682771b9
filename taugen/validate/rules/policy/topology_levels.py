"""The levels of a topology go from the widest to the narrowest, each once.

Kueue refuses a label twice and kubernetes.io/hostname anywhere but at the end. Runs wish for a domain, so that each domain stands for one
level, in the order same-site, same-network-domain, same-accelerator-domain, same-host.

Breaks:

    kind: Topology
    metadata: {name: spare}
    spec:
      levels:
        - {label: kubernetes.io/hostname, domain: same-host}
        - {label: tern.example/block, domain: same-network-domain}

Mends:

    kind: Topology
    metadata: {name: spare}
    spec:
      levels:
        - {label: tern.example/block, domain: same-network-domain}
        - {label: kubernetes.io/hostname, domain: same-host}

Source: Kueue topology_types.go (levels: unique labels, hostname last)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy import model
from taugen.policy.set import HOSTNAME, Item, Policy

ID = "topology-levels"

_ORDER = ("same-site", "same-network-domain", "same-accelerator-domain", "same-host")


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, at most one for each level."""
    for item in policy.each("Topology"):
        for at in range(len(item.spec.levels)):
            found = _fault(item, at)
            if found is not None:
                yield found


def _fault(item: Item[model.TopologySpec], at: int) -> Diagnostic | None:
    levels = item.spec.levels
    level, before = levels[at], levels[:at]
    labels, domains = [other.label for other in before], [other.domain for other in before]
    if level.label in labels:
        origin = item.span(("levels", labels.index(level.label), "label"))
        hint = "name another node label, or remove the level"
        return item.finding(ID, ("levels", at, "label"), f"{level.label} is a level already", hint=hint, origin=origin)
    if level.label == HOSTNAME and at != len(levels) - 1:
        return item.finding(
            ID, ("levels", at, "label"), f"{HOSTNAME} is not the last level", hint="move it to the end: nothing is narrower than a host"
        )
    if level.label == HOSTNAME and level.domain != "same-host":
        return item.finding(ID, ("levels", at, "domain"), f"{HOSTNAME} is {level.domain}", hint="write domain: same-host")
    if level.domain in domains:
        origin = item.span(("levels", domains.index(level.domain), "domain"))
        hint = "a run could not say which of the two it means: keep one"
        return item.finding(ID, ("levels", at, "domain"), f"{level.domain} is a level already", hint=hint, origin=origin)
    if before and before[-1].label != HOSTNAME and _ORDER.index(level.domain) < _ORDER.index(domains[-1]):
        origin = item.span(("levels", at - 1, "domain"))
        message = f"{level.domain} is wider than {domains[-1]} before it"
        return item.finding(ID, ("levels", at, "domain"), message, hint=f"the order is {', '.join(_ORDER)}", origin=origin)
    return None
