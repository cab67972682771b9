"""Quotas stay within the sizes that Kueue takes.

A ClusterQueue or Cohort has at most 16 resource groups; a group at most 64 flavors and 64 resources, with at most 512 pairs of them; all
groups together at most 256 flavors and 256 resources. Flavors that share a resource are one group.

Breaks:

    kind: Cohort
    metadata: {name: spare}
    spec:
      quotas:
        - flavor: cpu
          resources:
            ...
            tern.example/thing-62: {nominal: 1}
            tern.example/thing-63: {nominal: 1}
            tern.example/thing-64: {nominal: 1}

Mends:

    kind: Cohort
    metadata: {name: spare}
    spec:
      quotas:
        - flavor: cpu
          resources:
            ...
            tern.example/thing-61: {nominal: 1}
            tern.example/thing-62: {nominal: 1}
            tern.example/thing-63: {nominal: 1}

Source: Kueue clusterqueue_types.go and clusterqueue_webhook.go (limits of resourceGroups)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy import model
from taugen.policy.groups import resource_groups
from taugen.policy.set import Policy

ID = "quota-counts"

_MOST = 256
_MOST_GROUPS, _MOST_IN_GROUP, _MOST_PAIRS = 16, 64, 512


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, the first excess of each document."""
    for kind in ("Queue", "Cohort"):
        for item in policy.each(kind):
            if (message := _excess(item.spec.quotas)) is not None:
                yield item.finding(ID, ("quotas",), f"{item.label} has {message}", hint="split it into several queues", key=True)


def _excess(quotas: list[model.FlavorQuotas]) -> str | None:
    groups = resource_groups(quotas)
    for flavors, resources in groups:
        if len(flavors) > _MOST_IN_GROUP:
            return f"{len(flavors)} flavors that share a resource, but Kueue takes {_MOST_IN_GROUP} in a group"
        if len(resources) > _MOST_IN_GROUP:
            return f"{len(resources)} resources in one group, but Kueue takes {_MOST_IN_GROUP}"
        if len(flavors) * len(resources) > _MOST_PAIRS:
            sizes = f"{len(flavors)} flavors x {len(resources)} resources = {len(flavors) * len(resources)} quotas"
            return f"{sizes} in one group, but Kueue takes {_MOST_PAIRS}"
    if len(groups) > _MOST_GROUPS:
        return f"{len(groups)} groups of flavors that share no resource, but Kueue takes {_MOST_GROUPS}"
    for what, count in (("flavors", sum(len(f) for f, _ in groups)), ("resources", sum(len(r) for _, r in groups))):
        if count > _MOST:
            return f"{count} {what}, but Kueue takes {_MOST}"
    return None
