"""A storage and its workspaces name each other.

Data is shared only where both sides say so: the Storage, whose keepers decide who gets it, and the workspace, whose runs mount it.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch}
      storage: [audio]

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

from taugen.diag import Diagnostic, Severity
from taugen.policy import model
from taugen.policy.set import Item, Policy
from taugen.words import names, suggest

ID = "storage-one-sided"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule: an error where a workspace takes what it was not given, a warning where it was given what it does not list."""
    for item in policy.each("Workspace"):
        if not names.is_dns1123_label(item.name):
            continue  # which is told already: it was meant to be another
        for at, name in enumerate(item.spec.storage):
            storage = policy.storages.get(name)
            if storage is not None and item.name not in storage.spec.workspaces:
                message = f"{storage.label} is not for workspace {item.name}: it is for {', '.join(storage.spec.workspaces)}"
                origin = storage.span(("workspaces",), key=True)
                hint = f"its keepers have to add {item.name} to its workspaces"
                yield item.finding(ID, ("storage", at), message, hint=hint, origin=origin)
    for _, storage in sorted(policy.storages.items()):
        for at, name in enumerate(storage.spec.workspaces):
            workspace = policy.workspaces.get(name)
            if workspace is not None and storage.name not in workspace.spec.storage and not _misspelt(policy, workspace, storage.name):
                message = f"{workspace.label} does not list {storage.name}, so its runs can't mount it"
                hint = f"add {storage.name} to storage of the workspace, or remove it here"
                origin = workspace.span(("storage",), key=True)
                yield storage.finding(ID, ("workspaces", at), message, hint=hint, severity=Severity.WARNING, origin=origin)


def _misspelt(policy: Policy, workspace: Item[model.Workspace], name: str) -> bool:
    """Whether the workspace lists a storage of nearly that name, which is not there: unknown-name says so."""
    return suggest.closest(name, [one for one in workspace.spec.storage if one not in policy.storages]) is not None
