"""Says where each value of a run comes from.

In: a project and a run's name. Out: for each document that the name means, its fields with their origins, and its findings. A run with
errors is explained as far as it could be decided.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from taugen.diag import Diagnostic, Refused
from taugen.pipeline import catalog, naming
from taugen.pipeline.compile import Compiler
from taugen.pipeline.project import Project, find_root
from taugen.resolve import explain
from taugen.resolve.explain import ExplainLine
from taugen.spec.rundoc import RunDoc
from taugen.words.suggest import closest


class Explained(Struct, frozen=True):
    """A run: `lines` is empty if nothing could be decided."""

    doc: RunDoc
    cluster: str
    lines: tuple[ExplainLine, ...]
    findings: tuple[Diagnostic, ...]


def explained(project: Project, run: str, field: str | None = None) -> list[Explained]:
    """Explain the runs that `run` names; with `field`, that field and those below it. Raises `Refused` (exit 2) for names that mean
    nothing."""
    compiler = Compiler(project)
    docs = [doc for path in project.documents() for doc in compiler.read(path)[0]]
    out = []
    for doc in naming.matching(docs, run, project.root, tuple(catalog.entries())):
        compiled = compiler.compile(doc)
        lines = explain.explain(compiled.run, project.policy) if compiled.run is not None else []
        cluster = compiled.run.cluster if compiled.run is not None else ""
        out.append(Explained(doc, cluster, tuple(_below(lines, field)), compiled.findings))
    return out


def not_a_finding(directory: Path, subject: str) -> None:
    """Outside of a project only findings can be explained: raise `Refused` with the one that was probably meant."""
    try:
        find_root(directory)
    except Refused as refused:
        near = closest(subject, catalog.entries())
        hint = f"did you mean {near}?" if near else f"runs are explained in their repository: {refused.hint}"
        raise Refused(f"no finding is called {subject}, and {refused.message}", hint=hint, code=2) from None


def _below(lines: Sequence[ExplainLine], field: str | None) -> list[ExplainLine]:
    if field is None or not lines:
        return list(lines)
    chosen = [line for line in lines if line.field == field or line.field.startswith((f"{field}.", f"{field}["))]
    if not chosen:
        near = closest(field, [line.field for line in lines] + [line.field.rpartition(".")[2] for line in lines])
        raise Refused(
            f"the run has no field {field}", hint=f"did you mean {near}?" if near else "taugen explain RUN lists its fields", code=2
        )
    return chosen
