"""Wishes about node labels are ones that the scheduler takes.

A term with the wrong values is refused by the API server, after the commit.

Breaks:

    policy:
      node_affinity: [{key: acme.example/rack, operator: In}]

Mends:

    policy:
      node_affinity: [{key: acme.example/rack, operator: In, values: [r1]}]

Source: Kubernetes core validation (ValidateNodeSelectorRequirement).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.model import NodeAffinityTerm
from taugen.spec.rundoc import RunDoc
from taugen.words import Path, names
from taugen.words.errors import shown

ID = "node-affinity"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`policy.node_affinity`."""
    del policy
    wishes = doc.spec.policy
    for at, term in enumerate((wishes.node_affinity if wishes is not None else None) or ()):
        path: Path = ("policy", "node_affinity", at)
        if not names.is_label_key(term.key):
            yield doc.finding(ID, (*path, "key"), f"{shown(term.key)} is no label key", hint="write NAME or PREFIX/NAME")
        if (fault := _values(term)) is not None:
            yield doc.finding(ID, path, *fault[:1], hint=fault[1])
        for i, value in enumerate(term.values or ()):
            if term.operator in {"In", "NotIn"} and not names.is_label_value(value):
                yield doc.finding(
                    ID, (*path, "values", i), f"{shown(value)} is no label value", hint="write the label's value on the nodes"
                )


def _values(term: NodeAffinityTerm) -> tuple[str, str] | None:
    values = term.values or []
    if term.operator in {"In", "NotIn"}:
        return None if values else (f"operator {term.operator} needs values", "write values: [A, B]")
    if term.operator in {"Exists", "DoesNotExist"}:
        return (f"operator {term.operator} takes no values", "remove values") if values else None
    whole = len(values) == 1 and values[0].isascii() and values[0].removeprefix("-").isdecimal()
    return None if whole else (f"operator {term.operator} needs one whole number", "write values: [8]")
