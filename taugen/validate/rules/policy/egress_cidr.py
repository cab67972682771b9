"""Egress goes to networks.

A NetworkPolicy knows addresses, not names: `to` is a network in CIDR form, with no bits set below its prefix.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      network:
        egress: [{to: 10.40.7.1/16}]
      queues:
        - {name: cpu, queue: batch}

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      network:
        egress: [{to: 10.40.0.0/16}]
      queues:
        - {name: cpu, queue: batch}

Source: Kubernetes networking validation.go (ValidateIPBlock)
"""

import ipaddress
from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.words.errors import shown

ID = "egress-cidr"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("Workspace"):
        for at, rule in enumerate(item.spec.network.egress or ()):
            fault = _fault(rule.to)
            if fault is not None:
                yield item.finding(ID, ("network", "egress", at, "to"), fault[0], hint=fault[1])


def _fault(text: str) -> tuple[str, str] | None:
    """What is wrong with a network, and what to write."""
    try:
        loose = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return f"{shown(text)} is no network", "write a CIDR, such as 10.20.0.0/16; names are not possible"
    if "/" not in text:
        return f"{text} is an address, not a network", f"write {loose}"
    if str(loose) != text.lower():
        return f"{text} has bits set below its prefix, or is not in its shortest form", f"write {loose}"
    return None
