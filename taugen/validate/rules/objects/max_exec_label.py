"""The longest time of a run is a whole number of seconds above 0.

Kueue counts it in 32 bits and refuses the object otherwise.

Breaks:

    kind: Platform
    metadata: {name: tern}
    spec:
      defaults: {max_duration: 0s}

Mends:

    kind: Platform
    metadata: {name: tern}
    spec:
      defaults: {max_duration: 96h}

Source: Kueue jobframework/validation.go (validateMaxExecTime)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects import _pods

ID = "max-exec-label"
LABEL = "kueue.x-k8s.io/max-exec-time-seconds"
MOST = 2**31 - 1


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in _pods.runs(objects):
        value = _pods.labels_of(item).get(LABEL, "1")
        text = str(value)
        if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MOST):
            hint = "write run.max_duration in the run, or another default of Platform or Workspace"
            yield _pods.finding(ID, item, ("metadata", "labels", LABEL), f"{text} is not a number of seconds from 1 to {MOST}", hint)
