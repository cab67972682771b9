"""The secrets in a workspace's defaults are secrets of the workspace.

Every run would ask for a Secret that its workspace does not list.

Breaks:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch}
      secrets: [tracker]
      defaults:
        runtime: {env_secret: {TRACKER_KEY: "traker:key"}}

Mends:

    kind: Workspace
    metadata: {name: extra}
    spec:
      namespace: lab-extra
      owners: {groups: [extra-leads]}
      queues:
        - {name: cpu, queue: batch}
      secrets: [tracker]
      defaults:
        runtime: {env_secret: {TRACKER_KEY: "tracker:key"}}

Source: this project
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.words import suggest

ID = "default-secret"


def check(policy: Policy) -> Iterator[Diagnostic]:
    """Findings of the rule. The Platform can't name secrets: they are a workspace's own."""
    for item in policy.each("Workspace"):
        runtime = item.spec.defaults.runtime
        for name, reference in ((runtime.env_secret or {}) if runtime is not None else {}).items():
            secret = reference.partition(":")[0]
            if secret not in item.spec.secrets:
                near = suggest.closest(secret, item.spec.secrets)
                hint = f"did you mean {near}?" if near else f"add {secret} to secrets"
                message = f"{item.label} does not list the secret {secret}"
                yield item.finding(
                    ID, ("defaults", "runtime", "env_secret", name), message, hint=hint, origin=item.span(("secrets",), key=True)
                )
    for item in policy.each("Platform"):
        runtime = item.spec.defaults.runtime
        for name in (runtime.env_secret or {}) if runtime is not None else {}:
            message = "the Platform can't name secrets: each belongs to a workspace"
            hint = "write it into the defaults of the workspaces that have the secret"
            yield item.finding(ID, ("defaults", "runtime", "env_secret", name), message, hint=hint, key=True)
