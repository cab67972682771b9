"""Of several LocalQueues exactly one is the default.

Runs that name no queue and whose profile names none go to the default. With none of them marked, each such run is an error; with two,
nobody could say which is meant.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch, default: true}
        - {name: gpu, queue: research, default: true}

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch, default: true}
        - {name: gpu, queue: research}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy

ID = "local-queue-default"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for _, item in sorted(policy.workspaces.items()):
        defaults = [at for at, queue in enumerate(item.spec.queues) if queue.default]
        for at in defaults[1:]:
            message = f"{item.label} has a default queue already: {item.spec.queues[defaults[0]].name}"
            origin = item.span(("queues", defaults[0], "default"))
            yield item.finding(ID, ("queues", at, "default"), message, hint="remove one of the two", origin=origin)
        if not defaults and len(item.spec.queues) > 1:
            names = ", ".join(queue.name for queue in item.spec.queues)
            message = f"none of the queues of {item.label} is the default ({names}): a run that names none is refused"
            hint = "add default: true to one of them"
            yield item.finding(ID, ("queues",), message, hint=hint, severity=Severity.WARNING, key=True)
