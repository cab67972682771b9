"""The quotas of a flavor are not more than its nodes have.

Kueue counts quota, not nodes: what is admitted beyond the nodes stays Pending and holds its quota. Quotas of all queues and cohorts of a
cluster count together, since all of them may be used at once. Clusters that autoscale list the size that they can grow to.

Breaks:

    kind: Queue
    metadata: {name: extra}
    spec:
      cohort: lab
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 60}
            memory: {nominal: 200Gi}

Mends:

    kind: Queue
    metadata: {name: extra}
    spec:
      cohort: lab
      quotas:
        - flavor: cpu
          resources:
            cpu: {nominal: 50}
            memory: {nominal: 200Gi}

Source: Kueue docs, ClusterQueue (nominalQuota is not checked against nodes)
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from taugen.diag import Diagnostic, Severity
from taugen.policy.amounts import NATIVE, is_resource
from taugen.policy.nodes import Pool, pools_of
from taugen.policy.set import Item, Policy
from taugen.resolve.flavors import amount
from taugen.words import Path, quantity

ID = "quota-over-nodes"


class _Share(NamedTuple):
    item: Item[Any]
    path: Path
    nominal: str


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule: one for each cluster, flavor and resource, at the largest quota."""
    for name in sorted(policy.clusters):
        shares: dict[tuple[str, str], list[_Share]] = {}
        for item in _on(policy, name):
            twice = set[str]()  # queue-flavor-twice tells a second entry, resource-name and resource-quantity what is no resource
            for at, quotas in enumerate(item.spec.quotas):
                if quotas.flavor in twice:
                    continue
                twice.add(quotas.flavor)
                for resource, quota in quotas.resources.items():
                    if resource == "pods" or not is_resource(resource):
                        continue
                    path = ("quotas", at, "resources", resource, "nominal")
                    shares.setdefault((quotas.flavor, resource), []).append(_Share(item, path, quota.nominal))
        flavors = policy.flavors_on(name)
        for (flavor, resource), held in sorted(shares.items()):
            pools = [p for p in pools_of(policy, flavors[flavor]) if p.cluster.name == name] if flavor in flavors else []
            sizes = [_size(pool, resource) for pool in pools]
            if pools and None not in sizes:
                yield from _judge(held, resource, flavor, pools, [s for s in sizes if s is not None])


def _on(policy: Policy, cluster: str) -> Iterator[Item[Any]]:
    yield from (policy.queues[n] for n in sorted(policy.queues) if policy.queue_flavors_on(n, cluster))
    yield from (policy.cohorts[n] for n in sorted(policy.cohorts))


def _size(pool: Pool, resource: str) -> str | None:
    """What one node has of a resource; None where policy does not say."""
    known = pool.spec.allocatable
    if resource in known:
        return known[resource]
    if resource.endswith("/gpu") and pool.spec.gpus:
        return str(pool.spec.gpus)
    return None if resource in NATIVE or not known else "0"


def _judge(held: list[_Share], resource: str, flavor: str, pools: list[Pool], sizes: list[str]) -> Iterator[Diagnostic]:
    all_wanted = sum((quantity.parse(share.nominal) for share in held), Decimal(0))
    all_there = sum((quantity.parse(size) * pool.spec.count for pool, size in zip(pools, sizes, strict=True)), Decimal(0))
    if all_wanted <= all_there:
        return
    wanted, there = amount(all_wanted, held[0].nominal), amount(all_there, sizes[0])
    largest = max(held, key=lambda share: (quantity.parse(share.nominal), share.item.label))
    parts = " + ".join(f"{pool.spec.count} x {size}" for pool, size in zip(pools, sizes, strict=True))
    has = f"the nodes of cluster {pools[0].cluster.name} have {parts} = {there}"
    if len(held) == 1:
        message = f"nominal {wanted} {resource}, but {has}"
    else:
        shares = " + ".join(f"{share.item.name} {share.nominal}" for share in held)
        message = f"the quotas of flavor {flavor} sum up to {shares} = {wanted} {resource}, but {has}"
    lower = "lower a quota" if len(held) > 1 else f"write {there} or less" if all_there else "write 0"
    hint = f"{lower}, or list the nodes that are there"
    origin = pools[0].cluster.span(("nodePools", pools[0].at, "count"))
    yield largest.item.finding(ID, largest.path, message, hint=hint, severity=Severity.WARNING, origin=origin)
