"""No LocalQueue is named default.

Kueue puts every job of a namespace that names no queue into a LocalQueue of that name: also what owners start by hand and what other
controllers make.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: default, queue: batch}

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch}

Source: Kueue jobframework (default LocalQueue)
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy

ID = "local-queue-default-name"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule."""
    for item in policy.each("Workspace"):
        for at, queue in enumerate(item.spec.queues):
            if queue.name == "default":
                message = "a LocalQueue named default would take every job of the namespace that names no queue"
                hint = "name it otherwise, and write default: true for the queue of runs that name none"
                yield item.finding(ID, ("queues", at, "name"), message, hint=hint)
