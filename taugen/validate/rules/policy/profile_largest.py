"""The largest run of a profile can be admitted somewhere.

What a profile permits should be possible: a run at its upper bounds would be refused or wait for ever, although the profile says that it
may be so large.

Breaks:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 1
      gpuClass: l40s-48gb
      queue: research
      override:
        gpus: {min: 1, max: 8}

Mends:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 1
      gpuClass: l40s-48gb
      queue: research
      override:
        gpus: {min: 1, max: 4}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.resolve.placement import Placer
from taugen.validate.profile_shapes import largest, obstacle, smallest

ID = "profile-largest"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, one for each profile whose smallest run is possible."""
    placer = Placer(policy)
    clusters = sorted(policy.clusters)
    for _, profile in sorted(policy.profiles.items()):
        small, large = smallest(policy, profile), largest(policy, profile)
        if large is None or not large.queues or not clusters or (small is not None and obstacle(placer, small, clusters) is not None):
            continue
        found = obstacle(placer, large, clusters)
        if found is not None:
            message = f"the largest run of {profile.label} ({large.text}) can't start: {found.text} (cluster {found.cluster})"
            hint = "lower the upper bound"
            yield profile.finding(ID, large.causes.get(found.path, ()), message, hint=hint, severity=Severity.WARNING, key=True)
