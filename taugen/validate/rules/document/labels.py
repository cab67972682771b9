"""Labels have names that Kubernetes takes and that belong to nobody else.

A label of Kueue, Kubernetes or taugen on a run's objects would send it to another queue, or hide it from what looks for it.

Breaks:

    labels: {"kueue.x-k8s.io/queue-name": other}

Mends:

    labels: {team: vision}

Source: Kubernetes apimachinery validation (IsQualifiedName, IsValidLabelValue); well-known labels.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic, Severity
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.words import confusables, names
from taugen.words.errors import shown

ID = "labels"

_OWNERS = ("kubernetes.io", "k8s.io", "x-k8s.io", "taugen.dev", "tau.azure.com", "ray.io", "fluxcd.io", "argoproj.io")
_OWNED = ("job-name", "controller-uid")


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """Keys are errors, values that must be rewritten warnings."""
    del policy
    for key, value in (doc.spec.labels or {}).items():
        prefix, slash, _ = key.rpartition("/")
        owner = next((o for o in _OWNERS if prefix == o or prefix.endswith("." + o)), None) if slash else None
        if not names.is_label_key(key):
            odd = confusables.confusable(key)
            text = f"{shown(key)} is no label key" + (f": it has {odd}" if odd else "")
            yield doc.finding(ID, ("labels", key), text, hint="write letters, digits, -, _ and ., such as cost-center", key=True)
        elif owner is not None or key in _OWNED:
            text = f"the label {key} belongs to {owner or 'Kubernetes'}"
            yield doc.finding(ID, ("labels", key), text, hint="choose a name of your own, such as cost-center", key=True)
        elif not names.is_label_value(value):
            text = f"{shown(value)} is no label value: the objects carry {names.label_value(value)}"
            hint = "write at most 63 letters, digits, -, _ and ., with a letter or digit at both ends"
            yield doc.finding(ID, ("labels", key), text, hint=hint, severity=Severity.WARNING)
