"""Every flavor of a resource group has exactly the group's resources, in one order, and nothing stands in two groups.

Kueue's webhook refuses anything else, and quotas of a size that no cluster has. Policy is rendered so; an overlay that adds a resource to
one flavor breaks it.

Breaks:

    target: {kind: ClusterQueue, name: research}
    patch:
      - {op: add, path: /spec/resourceGroups/0/coveredResources/-, value: example.com/license}

Mends:

    target: {kind: ClusterQueue, name: research}
    patch:
      - op: add
        path: /spec/resourceGroups/-
        value:
          coveredResources: [example.com/license]
          flavors: [{name: license, resources: [{name: example.com/license, nominalQuota: "4"}]}]

Source: Kueue clusterqueue_webhook.go (validateResourceGroups), clusterqueue_types.go (list limits)
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects._parts import changed, finding, items, mapping, named
from taugen.words import Json, at

ID = "queue-groups"
_MOST_GROUPS, _MOST_OF_GROUP, _MOST_IN_ALL, _MOST_PAIRS = 16, 64, 256, 512


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in objects:
        if item.kind in {"ClusterQueue", "Cohort"}:
            groups = items(at(item.obj, "spec", "resourceGroups"))
            messages = [*_sizes(groups), *_orders(groups), *_twice(groups)]
            if messages and changed(item, policy):
                yield from (finding(ID, item, message) for message in messages)


def _sizes(groups: list[Json]) -> Iterator[str]:
    if len(groups) > _MOST_GROUPS:
        yield f"{len(groups)} resource groups, but Kueue takes {_MOST_GROUPS}"
    for what, key in (("resources", "coveredResources"), ("flavors", "flavors")):
        counts = [len(items(mapping(group).get(key))) for group in groups]
        if any(count > _MOST_OF_GROUP for count in counts):
            yield f"{max(counts)} {what} in one group, but Kueue takes {_MOST_OF_GROUP}"
        if sum(counts) > _MOST_IN_ALL:
            yield f"{sum(counts)} {what}, but Kueue takes {_MOST_IN_ALL}"
    pairs = [len(items(mapping(g).get("coveredResources"))) * len(items(mapping(g).get("flavors"))) for g in groups]
    if any(count > _MOST_PAIRS for count in pairs):
        yield f"{max(pairs)} pairs of flavor and resource in one group, but Kueue takes {_MOST_PAIRS}"


def _orders(groups: list[Json]) -> Iterator[str]:
    for group in groups:
        covered = items(mapping(group).get("coveredResources"))
        for name, flavor in named(mapping(group).get("flavors")):
            resources: list[Json] = [resource for resource, _ in named(flavor.get("resources"))]
            if resources != covered:
                yield f"flavor {name} has {_listed(resources)}, but its group covers {_listed(covered)}, in this order"


def _twice(groups: list[Json]) -> Iterator[str]:
    flavors = Counter(name for group in groups for name, _ in named(mapping(group).get("flavors")))
    covered = Counter(str(resource) for group in groups for resource in items(mapping(group).get("coveredResources")))
    for what, found in (("flavor", flavors), ("resource", covered)):
        for name in sorted(name for name, count in found.items() if count > 1):
            yield f"{what} {name} occurs twice"


def _listed(values: list[Json]) -> str:
    return ", ".join(map(str, values)) or "nothing"
