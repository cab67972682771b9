"""A JobSet is written as it is stored, or each re-apply changes it.

JobSet writes the object back in Go's notation, where the empty `value` of a variable disappears; the next apply puts it back. A variable
without `value` is empty too.

Breaks:

    target: {kind: JobSet}
    patch:
      - {op: add, path: /spec/replicatedJobs/0/template/spec/template/spec/containers/0/env/-, value: {name: EXTRA, value: ""}}

Mends:

    target: {kind: JobSet}
    patch:
      - {op: add, path: /spec/replicatedJobs/0/template/spec/template/spec/containers/0/env/-, value: {name: EXTRA}}

Source: JobSet 0.12 under server-side apply; Kubernetes core/v1 EnvVar (value, omitempty)
"""

from collections.abc import Iterator, Sequence

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.render.types import Rendered
from taugen.validate.rules.objects import _pods

ID = "jobset-notation"


def check(objects: Sequence[Rendered], policy: Policy) -> Iterator[Diagnostic]:  # noqa: ARG001
    """Findings of the rule."""
    for pod in _pods.pods(objects):
        if pod.item.kind != "JobSet":
            continue
        for path, container in pod.containers:
            for at, entry in enumerate(_pods.sequence(container.get("env"))):
                if _pods.mapping(entry).get("value") == "":
                    message = f"the empty value of {_pods.mapping(entry).get('name')} is not stored"
                    yield pod.finding(ID, (*path, "env", at, "value"), message, "leave value out")
