"""Resource groups: which flavors of a queue or cohort Kueue looks at together.

In: quotas as policy lists them. Out: groups, in the order of their first flavor. A pod gets one flavor from each group that covers one of
its resources, so that flavors which are alternatives must share a group.
"""

from collections.abc import Sequence

from taugen.policy import model

Group = tuple[list[str], list[str]]
"""Flavors, resources; each in the order of policy."""


def resource_groups(quotas: Sequence[model.FlavorQuotas]) -> list[Group]:
    """Flavors that share a resource, directly or through others, stand in one group (Kueue takes a resource in one group only)."""
    groups: list[Group] = []
    for quota in quotas:
        touching = [group for group in groups if quota.resources.keys() & set(group[1])]
        flavors = [name for group in touching for name in group[0]] + [quota.flavor]
        resources = list(dict.fromkeys([name for group in touching for name in group[1]] + list(quota.resources)))
        position = groups.index(touching[0]) if touching else len(groups)
        groups = [group for group in groups if group not in touching]
        groups.insert(position, (flavors, resources))
    order = {quota.flavor: at for at, quota in enumerate(quotas)}
    return [(sorted(flavors, key=order.__getitem__), resources) for flavors, resources in groups]
