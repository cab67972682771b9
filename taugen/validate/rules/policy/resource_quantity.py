"""A quantity has the unit of its resource.

CPUs are cores or thousandths of one, memory and storage are bytes, everything else is a whole number. A memory quota of `64` is 64 bytes.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 64}

Mends:

    kind: Queue
    metadata: {name: extra}
    spec:
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 4}
            memory: {nominal: 64Gi}

Source: Kubernetes core validation.go (ValidateResourceQuantityValue); apimachinery resource.Quantity
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.amounts import is_resource, resource_entries, unit
from taugen.policy.set import Policy
from taugen.words import quantity

ID = "resource-quantity"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item, path, resource, amounts in resource_entries(policy):
        for below, amount in amounts if is_resource(resource) else ():
            where = (*path, *below)
            try:
                quantity.canonical(amount, unit=unit(resource))
            except quantity.QuantityError as error:
                yield item.finding(ID, where, f"{resource}: {error.message}", hint=error.hint)
                continue
            if unit(resource) == "memory" and quantity.looks_like_bytes(amount):
                message = f"{resource}: {amount} is {amount} bytes"
                yield item.finding(ID, where, message, hint=f"write a unit: {amount}Gi")
