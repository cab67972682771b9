"""The upper bounds of a profile can be reached.

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
from taugen.validate.profile_shapes import obstacle, smallest, upper

ID = "profile-largest"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule, for profiles whose smallest run is possible."""
    clusters = sorted(policy.clusters)
    for _, profile in sorted(policy.profiles.items()):
        small = smallest(policy, profile)
        if not clusters or (small is not None and obstacle(policy, small, clusters) is not None):
            continue
        for shape in upper(policy, profile):
            found = obstacle(policy, shape, clusters) if shape.queues else None
            if found is not None:
                message = f"{profile.label} permits {shape.text}, which can't start: {found.text} (cluster {found.cluster})"
                path = shape.causes.get(found.path, ())
                yield profile.finding(ID, path, message, hint="lower the upper bound", severity=Severity.WARNING, key=True)
