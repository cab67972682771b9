"""A file of run documents -> `RunDoc` values with every finding of reading.

In: the bytes of one file. Out: one `RunDoc` a document; its `spec` always exists, without what could not be read. Never raises for bad
input.
"""

from msgspec.structs import replace
from pydantic import ValidationError

from taugen.diag import Diagnostic, Span, ordered
from taugen.load import nodes
from taugen.load.nodes import Document
from taugen.spec import errors, texts
from taugen.spec.dialect import dialect_of, draft_of
from taugen.spec.digest import intent_digest
from taugen.spec.draft import Draft
from taugen.spec.model import RunSpec
from taugen.spec.rundoc import RunDoc

MOST_BYTES = 256 * 1024
MOST_FINDINGS = 50
MOST_DOCUMENTS = 500
"""Documents of one file: what a file may cost to judge is bounded."""
_PASSES = 8


def read_file(file: str, raw: bytes, workspace: str) -> tuple[list[RunDoc], list[Diagnostic]]:
    """The documents of one file, and the findings that belong to none of them. A YAML fault holds back every document of its file."""
    if len(raw) > MOST_BYTES:
        message = f"the file has {len(raw)} bytes, but at most {MOST_BYTES} (256 KiB) are read"
        return [], [Diagnostic("file-size", message, Span(file), hint="move data into files beside it")]
    documents, faults = nodes.parse(file, raw)
    if len(documents) > MOST_DOCUMENTS:
        message = f"the file holds {len(documents)} documents, but at most {MOST_DOCUMENTS} are read"
        return [], [Diagnostic("file-documents", message, documents[MOST_DOCUMENTS].span(()), hint="split it into several files")]
    docs = [read_document(document, workspace) for document in documents]
    if not docs and not faults:
        return [], [
            Diagnostic(
                "file-empty",
                "the file holds no document",
                Span(file),
                hint="write at least name, run.entrypoint and runtime.image, or delete it",
            )
        ]
    if not faults:
        return docs, []
    faults = ordered(faults)
    # One more than is listed, so that the cut is seen: with all of them each document would sort the faults of all.
    first = faults[: MOST_FINDINGS + 1]
    docs = [replace(doc, findings=_capped([*first, *doc.findings], len(faults) - len(first))) for doc in docs]
    return docs, [] if docs else _listed(faults)


def read_document(document: Document, workspace: str) -> RunDoc:
    """One document: canonical names, typed texts, the model, the digest."""
    draft = draft_of(document)
    texts.restore(draft)
    spec = _model(draft)
    dialect = dialect_of(document.data)
    return RunDoc(
        document=document,
        workspace=workspace,
        spec=spec,
        digest=intent_digest(document, spec, managed=dialect == "managed"),
        dialect=dialect,
        typed=draft.typed,
        findings=_capped(draft.findings, draft.untold) if draft.findings else (),
        unread=frozenset(str(path[0]) for path in draft.gone if path),
        gone=frozenset(draft.gone),
    )


def _model(draft: Draft) -> RunSpec:
    """The model of all that can be read: what is wrong is reported and left out, and the rest is read again."""
    if draft.document.traps:
        traps = texts.traps(draft)
        draft.gone |= traps
        draft.leave_out({errors.field_of(path) for path in traps})
    for _ in range(_PASSES):
        try:
            return RunSpec.__pydantic_validator__.validate_python(draft.data)  # type: ignore[no-any-return]
        except ValidationError as error:
            draft.leave_out(errors.translate(draft, error.errors(include_url=False)))
    draft.gone.add(())
    return RunSpec()


def _capped(findings: list[Diagnostic], untold: int = 0) -> tuple[Diagnostic, ...]:
    return tuple(_listed(findings, untold))


def _listed(findings: list[Diagnostic], untold: int = 0) -> list[Diagnostic]:
    """At most 50, in order; the rest is counted, with `untold` ones that were not made."""
    found = ordered(findings)
    if len(found) <= MOST_FINDINGS:
        return found
    last = found[MOST_FINDINGS - 1]
    more = len(found) - MOST_FINDINGS + untold
    return [
        *found[:MOST_FINDINGS],
        Diagnostic("more-findings", f"and {more} more findings in this file", last.span, hint="mend the first ones and check again"),
    ]
