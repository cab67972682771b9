"""Evidence in the forms of others: MLflow, OpenLineage, in-toto with SLSA provenance, Workflow Run RO-Crate.

In: attempts that have their record. Out: files by path, made of records and events alone: equal evidence gives equal bytes. One module a
form, each with ``files(sources)``. What must never happen: a fact that the evidence does not hold, one declared passed off as verified.
"""

from collections.abc import Callable, Sequence
from importlib import import_module

from taugen.evidence.export.source import Source

FORMS = {"mlflow": "mlflow", "openlineage": "openlineage", "intoto": "intoto", "rocrate": "rocrate"}
"""Names of forms and the modules that write them."""


def files(form: str, sources: Sequence[Source]) -> dict[str, bytes]:
    """The files of a form, by path below the folder that is asked for; a path that ends in ``/`` is a folder."""
    write: Callable[[Sequence[Source]], dict[str, bytes]] = import_module(f"taugen.evidence.export.{FORMS[form]}").files
    return write(sorted(sources, key=lambda one: one.attempt))
