"""Hyperparameters are numbers and texts that a record can hold.

They are kept as JSON, which has no infinity and no not-a-number, and whose readers round integers beyond 2^53.

Breaks:

    experiment: {hyperparameters: {clip: .inf}}

Mends:

    experiment: {hyperparameters: {clip: "inf"}}

Source: RFC 8259, section 6 (numbers); RFC 7493, section 2.2 (integers).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules.document._numbers import not_exact, not_finite

ID = "hyperparameters"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`experiment.hyperparameters`, at any depth."""
    del policy
    experiment = doc.spec.experiment
    if experiment is not None and experiment.hyperparameters:
        for path in not_finite(("experiment", "hyperparameters"), experiment.hyperparameters):
            yield doc.finding(ID, path, "this number is not finite", hint="write a finite number, or quote it as text")
        for path in not_exact(("experiment", "hyperparameters"), experiment.hyperparameters):
            hint = "quote it: it arrives as the text that was typed"
            yield doc.finding(ID, path, "this integer is beyond 2^53, where JSON numbers are no longer exact", hint=hint)
