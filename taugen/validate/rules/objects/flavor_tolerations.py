"""A ResourceFlavor has no tolerations.

Kueue gives a flavor's tolerations to every pod that gets the flavor: with them, CPU pods, Ray heads and submitters are let onto GPU
nodes. And a job that was admitted then differs from Git in a list that nobody may change: its next apply is refused.

Breaks:

    target: {kind: ResourceFlavor, name: h200}
    patch:
      spec: {tolerations: [{key: nvidia.com/gpu, operator: Exists}]}

Mends:

    target: {kind: ResourceFlavor, name: h200}
    patch:
      spec: {nodeTaints: [{key: nvidia.com/gpu, value: h200, effect: NoExecute}]}

Source: Kueue resourceflavor_types.go (tolerations), Kubernetes batch validation (template is immutable)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects._parts import finding
from taugen.words import at

ID = "flavor-tolerations"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for item in objects:
        if item.kind == "ResourceFlavor" and at(item.obj, "spec", "tolerations") is not None:
            hint = "leave tolerations out: GPU pods carry those of the flavors they may get"
            yield finding(ID, item, "a flavor with tolerations lets every pod onto its nodes", hint)
