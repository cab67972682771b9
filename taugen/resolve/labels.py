"""Labels that the user and policy put on a run's objects, beside taugen's own.

In: the document's labels and the defaults. Out: legal label values; an illegal one is mended deterministically, never refused.
"""

from collections.abc import Mapping

from taugen.resolve.case import Case
from taugen.words import names


def labels(case: Case) -> Mapping[str, str]:
    """Defaults, then the document's; sorted by key."""
    typed = case.doc.spec.labels
    if not typed:
        return case.workspace.labels
    found = dict(case.workspace.labels)
    found |= {key: names.label_value(value) for key, value in typed.items()}
    return {key: found[key] for key in sorted(found)}
