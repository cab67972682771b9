"""Metrics are read from the run's own files.

A pattern with `..` would take files of another run into this run's evidence.

Breaks:

    metrics: {history: ["../other/metrics.jsonl"]}

Mends:

    metrics: {history: ["metrics.jsonl"]}

Source: TauGrid's rule for metrics.history (core/runconfig).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.words.errors import shown

ID = "history-path"


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """`metrics.history`."""
    del policy
    metrics = doc.spec.metrics
    for at, pattern in enumerate((metrics.history if metrics is not None else None) or ()):
        if ".." in pattern.split("/") or "\\" in pattern or not pattern.isprintable():
            text = f"{shown(pattern)} is no plain path below the output folder"
            yield doc.finding(
                ID, ("metrics", "history", at), text, hint="write a path or pattern below storage.output, such as metrics/*.jsonl"
            )
