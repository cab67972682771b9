"""Each entry of `runtime.pip` is one requirement.

A blank entry or one with a line end would be another requirement than the reviewer saw.

Breaks:

    runtime: {pip: ["torch>=2.4.0", " "]}

Mends:

    runtime: {pip: ["torch>=2.4.0"]}

Source: TauGrid's rule for pip (cli/internal/manifest); pip's requirements file format.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc

ID = "pip-entry"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`runtime.pip`."""
    del policy
    runtime = doc.spec.runtime
    for at, entry in enumerate((runtime.pip if runtime is not None else None) or ()):
        if not entry.strip():
            yield doc.finding(ID, ("runtime", "pip", at), "this requirement is blank", hint="remove it")
        elif not entry.isprintable():
            yield doc.finding(ID, ("runtime", "pip", at), "this requirement has more than one line", hint="write one entry for each")
