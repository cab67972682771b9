"""Worker groups of a RayJob are few, fixed in size and named apart from Kueue's own pod sets.

Kueue counts head, submitter and each group as a pod set, at most 18 in all, and calls two of them `head` and `submitter`. A size that can
change would leave quota and pods apart.

Breaks:

    target: {kind: RayJob}
    patch:
      - {op: replace, path: /spec/rayClusterSpec/workerGroupSpecs/0/maxReplicas, value: 4}

Mends:

    target: {kind: RayJob}
    patch:
      - {op: add, path: /spec/rayClusterSpec/workerGroupSpecs/0/labels, value: {zone: a}}

Source: Kueue raycluster/common.go and jobframework/constants.go, KubeRay validation.go (ValidateRayClusterSpec)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Object, Rendered
from taugen.validate.rules.objects import _pods
from taugen.words import Path

ID = "ray-groups"
MOST_GROUPS = 16
TAKEN = ("head", "submitter")
GROUPS: Path = ("spec", "rayClusterSpec", "workerGroupSpecs")
SIZES = ("minReplicas", "maxReplicas")


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in _pods.runs(objects):
        if item.kind != "RayJob":
            continue
        groups = _pods.sequence(_pods.mapping(_pods.spec_of(item).get("rayClusterSpec")).get("workerGroupSpecs"))
        if len(groups) > MOST_GROUPS:
            yield _pods.finding(ID, item, GROUPS, f"{len(groups)} worker groups are more than the {MOST_GROUPS} that Kueue takes")
        names: set[str] = set()
        for at, value in enumerate(groups):
            group = _pods.mapping(value)
            name = str(group.get("groupName"))
            if name in TAKEN or name in names:
                yield _pods.finding(ID, item, (*GROUPS, at, "groupName"), f"the name {name} of a worker group is taken")
            names.add(name)
            yield from _size(item, (*GROUPS, at), group)


def _size(item: Rendered, path: Path, group: Object) -> Iterator[Diagnostic]:
    replicas = group.get("replicas")
    if not isinstance(replicas, int) or replicas < 1:
        yield _pods.finding(ID, item, (*path, "replicas"), f"replicas is {replicas}: KubeRay takes a missing number for 0")
    for field in SIZES:
        if group.get(field) != replicas:
            yield _pods.finding(ID, item, (*path, field), f"{field} is {group.get(field)}, and replicas {replicas}: a group has one size")
    if "numOfHosts" not in group:
        yield _pods.finding(ID, item, (*path, "numOfHosts"), "numOfHosts is not written, and Argo CD would see a difference for ever")
