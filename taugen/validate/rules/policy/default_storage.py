"""The storage in a workspace's defaults is storage of the workspace.

Every run would mount what its workspace does not have.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch}
      defaults:
        storage: {data: audio}

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.words import Path

ID = "default-storage"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule; names that don't exist at all are another one."""
    for item in policy.each("Workspace"):
        section = item.spec.defaults.storage
        if section is None:
            continue
        base: Path = ("defaults", "storage")
        named = [((*base, "mounts", at, "storage"), mount.storage) for at, mount in enumerate(section.mounts or ())]
        named += [((*base, "data"), section.data)] if section.data is not None else []
        for path, name in named:
            if name in policy.storages and name not in item.spec.storage:
                message = f"{item.label} does not list the storage {name}"
                origin = item.span(("storage",), key=True)
                yield item.finding(ID, path, message, hint=f"add {name} to storage", origin=origin)
