"""What says how to retry needs a retry.

Without `max_retries` nothing is tried again, whatever `retry_on` says. A workspace's default of retries counts.

Breaks:

    resilience: {retry_on: [Evicted]}

Mends:

    resilience: {max_retries: 2, retry_on: [Evicted]}

Source: TauGrid's default of resilience.max_retries, 0 (core/runconfig).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc

ID = "retry-unused"

_FIELDS = ("retry_on", "fatal_exit_codes", "backoff_initial", "backoff_max")


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`resilience` without `max_retries`."""
    resilience = doc.spec.resilience
    if resilience is None or resilience.max_retries or doc.lost(("resilience", "max_retries")):
        return
    if resilience.max_retries is None and _default(doc, policy):
        return
    for field in _FIELDS:
        if getattr(resilience, field) is not None:
            text = f"resilience.{field} has no effect: there are no retries"
            hint = "write resilience.max_retries, or remove it"
            yield doc.finding(ID, ("resilience", field), text, hint=hint, severity=Severity.WARNING, key=True)


def _default(doc: RunDoc, policy: Policy) -> bool:
    workspace = policy.workspaces.get(doc.workspace)
    layers = [item.spec.defaults.resilience for item in (workspace, policy.platform) if item is not None]
    return any(layer is not None and layer.max_retries for layer in layers)
