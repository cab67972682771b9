"""The images of policy are ones that policy allows.

Runs get them without writing anything: a reference that the platform forbids or can't read would be the fault of nobody who could mend
it. A tag can move, a digest can't.

Breaks:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 0
      queue: batch
      image: registry.tern.example/tools:2.1

Mends:

    kind: Profile
    metadata: {name: extra}
    spec:
      gpus: 0
      queue: batch
      image: registry.tern.example/tools@sha256:3333333333333333333333333333333333333333333333333333333333333333

Source: distribution reference grammar; this project
"""

from collections.abc import Iterator
from typing import Any

from taugen.diag import Diagnostic, Severity
from taugen.policy import model
from taugen.policy.set import Item, Policy
from taugen.validate.rules.policy import _images
from taugen.words import Path

ID = "default-image"
_UNPINNED = {"required": Severity.ERROR, "warn": Severity.WARNING}


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item, path, reference in _named(policy):
        yield from _images.judged(policy, item, path, reference, rule=ID, unpinned=_UNPINNED)


def _named(policy: Policy) -> Iterator[tuple[Item[Any], Path, str]]:
    for profile in policy.each("Profile"):
        if profile.spec.image is not None:
            yield profile, ("image",), profile.spec.image
    for kind in ("Platform", "Workspace"):
        for item in policy.each(kind):
            defaults: model.Defaults = item.spec.defaults
            for workload in ("job", "jobset", "rayjob"):
                reference = getattr(defaults.images, workload) if defaults.images is not None else None
                if reference is not None:
                    yield item, ("defaults", "images", workload), reference
            if defaults.runtime is not None and defaults.runtime.image is not None:
                yield item, ("defaults", "runtime", "image"), defaults.runtime.image
