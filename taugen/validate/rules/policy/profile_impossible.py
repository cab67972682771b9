"""The smallest run of a profile can be admitted somewhere.

A profile is what its platform team promises. If no node of its queue's flavors holds even the smallest shape, or no quota ever reaches
it, every run of the profile would wait for ever.

Breaks:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 12
      gpuClass: h200-141gb
      queue: research

Mends:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 8
      gpuClass: h200-141gb
      queue: research

Source: Kueue flavorassigner.go (maximum capacity); this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.validate.profile_shapes import obstacle, smallest

ID = "profile-impossible"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, one for each profile."""
    clusters = sorted(policy.clusters)
    for _, profile in sorted(policy.profiles.items()):
        shape = smallest(policy, profile)
        if shape is None or not shape.queues or not clusters:
            continue
        found = obstacle(policy, shape, clusters)
        if found is not None:
            message = f"no run of {profile.label} can ever start: {found.text} (cluster {found.cluster})"
            hint = found.hint or "change the profile, or the queue that it names"
            yield profile.finding(ID, shape.causes.get(found.path, ()), message, hint=hint)
