"""A run has at most 18 kinds of pods.

Kueue keeps one pod set for each group of a JobSet, and refuses more.

Breaks:

    target: {kind: JobSet}
    patch:
      - {op: copy, from: /spec/replicatedJobs/0, path: /spec/replicatedJobs/-}

Mends:

    target: {kind: JobSet}
    patch:
      - {op: test, path: /spec/replicatedJobs/0/replicas, value: 1}

Source: Kueue jobframework/constants.go and workload_types.go (podSets, at most 18); JobSet jobset_webhook.go (unique names)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects import _pods

ID = "podset-count"
MOST = 18


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in _pods.runs(objects):
        if item.kind != "JobSet":
            continue
        names = [str(_pods.mapping(group).get("name")) for group in _pods.sequence(_pods.spec_of(item).get("replicatedJobs"))]
        path = ("spec", "replicatedJobs")
        if len(names) > MOST:
            yield _pods.finding(ID, item, path, f"{len(names)} groups of pods are more than the {MOST} that Kueue takes")
        for at, name in enumerate(names):
            if name in names[:at]:
                yield _pods.finding(ID, item, (*path, at, "name"), f"two groups of pods are named {name}")
