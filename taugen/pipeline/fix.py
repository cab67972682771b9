"""Writes the older spellings of run documents as canonical ones, comments kept.

In: the run documents of a project, as they stand on disk. Out: `Fixed`: new texts, what is spelt anew, what is left to people and why. What
must never happen: another run. A new text is read again: it has the same digest, the same fields and every comment, or it is not taken.
"""

import difflib
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml
from msgspec import Struct
from ruamel.yaml.error import YAMLError

from taugen.diag import Diagnostic, Severity, has_errors
from taugen.load import nodes, whole
from taugen.load.tree import Unreadable
from taugen.pipeline.check import selected
from taugen.pipeline.compile import DOCUMENT_LIMIT, Compiler
from taugen.pipeline.project import Project
from taugen.spec.dialect import dialect_of, draft_of
from taugen.spec.draft import Draft
from taugen.spec.read import read_document
from taugen.spec.rewrite import rewritten
from taugen.spec.rundoc import RunDoc
from taugen.words import Json

_MARK = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:#.*)?$")
RULES = frozenset({"older-spelling", "spelling-overridden"})
"""What is mended: a field under an older name, and one that another spelling of it overrides."""


class Left(Struct, frozen=True):
    """A document that is left to people: where its older spellings stand, and why."""

    findings: tuple[Diagnostic, ...]
    why: str


class Fixed(Struct, frozen=True):
    """A file. `before` and `after` are its texts, the same where nothing could be done."""

    file: str
    before: str
    after: str
    done: tuple[Diagnostic, ...] = ()
    left: tuple[Left, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after

    def diff(self) -> str:
        """What changes, as `diff -u` has it."""
        lines = difflib.unified_diff(_lines(self.before), _lines(self.after), f"a/{self.file}", f"b/{self.file}")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def fixes(project: Project, paths: Sequence[Path]) -> Iterator[Fixed]:
    """The files in or below `paths` (all for none) that have older spellings. Raises `Refused` for a path that holds no run document."""
    compiler = Compiler(project)
    for file in selected(project, paths):
        docs, _ = compiler.read(file)
        if any(_older(doc) for doc in docs):
            try:
                yield _fixed(file, project.tree.read(file, DOCUMENT_LIMIT), docs)
            except Unreadable:  # its finding says why
                continue


def write(project: Project, fixed: Fixed) -> None:
    """Put the new text in the file's place. Raises `OSError`."""
    target = project.root / fixed.file
    whole.write(target, fixed.after.encode(), target.stat().st_mode & 0o7777)


def _older(doc: RunDoc) -> list[Diagnostic]:
    return [one for one in doc.findings if one.rule in RULES and one.severity is not Severity.ERROR]


def _fixed(file: str, raw: bytes, docs: Sequence[RunDoc]) -> Fixed:
    text = raw.decode("utf-8-sig")
    mark = "\ufeff" if raw.startswith(b"\xef\xbb\xbf") else ""
    ends = "\r\n" if "\r\n" in text and "\n" not in text.replace("\r\n", "") else "\n"
    plain = text.replace("\r\n", "\n") if ends == "\r\n" else text
    parts = _parts(plain)
    done: list[Diagnostic] = []
    left: list[Left] = []
    at = [number for number, part in enumerate(parts) if _holds(part)]
    for number, doc in zip(at, docs, strict=False):
        found = _older(doc)
        if not found:
            continue
        new, why = _document(file, parts[number], doc) if len(at) == len(docs) else ("", "its documents can't be told apart")
        if why:
            left.append(Left(tuple(found), why))
        else:
            parts[number] = new
            done += found
    return Fixed(file, mark + text, mark + "".join(parts).replace("\n", ends), tuple(done), tuple(left))


def _parts(text: str) -> list[str]:
    """The documents of a file, and the lines between them."""
    parts = [""]
    for line in io.StringIO(text):  # which ends lines where YAML does, and keeps their ends
        if _MARK.match(line.rstrip("\n")):
            parts += [line, ""]
        else:
            parts[-1] += line
    return parts


def _holds(part: str) -> bool:
    """Whether a part is a document, and not a line between two or nothing but comments."""
    return not _MARK.match(part.rstrip("\n")) and any(line.strip() and not line.lstrip().startswith("#") for line in part.split("\n"))


def _document(file: str, text: str, doc: RunDoc) -> tuple[str, str]:
    """The document's new text, or why there is none."""
    if has_errors(doc.findings):
        return "", "the document has errors: mend them first"
    (document, *others), faults = nodes.parse(file, text.encode())
    if others or faults:
        return "", "its documents can't be told apart"
    draft = draft_of(document)
    if doc.dialect == "direct" and dialect_of(draft.data) == "managed":
        # Without the older name of its kind it would be taken for one of the managed dialect.
        del draft.data["schema_version"]
    try:
        tries = rewritten(text, draft)
    except YAMLError:
        return "", "it can't be edited in place: spell it by hand"
    why = ""
    for new in tries:
        why = _wrong(file, text, new, doc, draft)
        if not why:
            return new, ""
    return "", f"{why}: spell it by hand"


def _wrong(file: str, text: str, new: str, doc: RunDoc, draft: Draft) -> str:
    """What is lost or changed in a new text; "" if nothing is."""
    again, faults = nodes.parse(file, new.encode())
    if faults or len(again) != 1 or _said(draft_of(again[0])) != _said(draft):
        return "it can't be edited in place"
    if read_document(again[0], doc.workspace).digest != doc.digest:
        return "it would be another run"
    return "a comment has no place in the new spelling" if _comments(text) - _comments(new) else ""


def _said(draft: Draft) -> str:
    """What is said at all, for comparison: a section without anything in it says nothing."""
    return json.dumps(_pruned(draft.data), sort_keys=True)


def _pruned(data: Json) -> Json:
    if not isinstance(data, dict):
        return data
    return {key: said for key, value in data.items() if (said := _pruned(value)) is not None and said != {}}


def _comments(text: str) -> Counter[str]:
    """The comments in a document: what begins with # outside of every scalar."""
    tokens = yaml.scan(text, Loader=yaml.SafeLoader)
    scalars = [(token.start_mark.index, token.end_mark.index) for token in tokens if isinstance(token, yaml.ScalarToken)]
    out: Counter[str] = Counter()
    at = 0
    for start, end in [*scalars, (len(text), len(text))]:
        out.update(found[1].strip() for found in re.finditer(r"(?:^|(?<=\s))(#[^\n]*)", text[at:start]))
        at = end
    return out
