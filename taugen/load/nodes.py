"""YAML text -> documents whose every value has a place.

In: the bytes of one file. Out: `Document` values (plain data plus the parser's node tree) and findings. The subset is YAML 1.2's core
schema without what can make one file mean two things: duplicate keys, anchors, aliases, merge keys and tags are errors at their place; a
plain scalar that YAML 1.1 tools read as another type (`no`, `22:22`, `0755`, `2026-01-01`) is kept as text and listed in `Document.traps`,
so that the reader of the field can say "quote this". Places are computed only when a finding asks for one. Nothing here may hang, recurse
without bound or raise for bad input.
"""

import operator
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

from taugen.load import patterns  # noqa: F401 - first: it loads yaml

# isort: split
import yaml
from msgspec import Struct, field
from yaml.composer import Composer
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner

from taugen.diag import Diagnostic, Span
from taugen.load import yamlfaults
from taugen.load.scalars import MAY_RESOLVE, plain, trap
from taugen.load.yamlfaults import MANY, MAX_DEPTH
from taugen.words import Json, Path, dotted

try:
    from yaml._yaml import CParser
except ImportError:  # PyYAML without libyaml: the same events, slower; `taugen doctor` says so
    CParser = None  # type: ignore[assignment,misc]

__all__ = ["Document", "YamlNode", "parse", "plain"]

_CORE = "?"
_LARGE = 32
"""Keys of a mapping from which on its keys are looked up in an index."""


class _CoreSchema:
    """Stands in for PyYAML's YAML 1.1 resolver: scalars get their type from `plain`, by the core schema. The two hooks do nothing, in C."""

    descend_resolver = operator.is_
    ascend_resolver = int

    def resolve(self, *_: object) -> str:
        return _CORE


class PureComposer(_CoreSchema, Reader, Scanner, Parser, Composer):
    """The composer where PyYAML has no libyaml."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)


if CParser is not None:

    class _FastComposer(_CoreSchema, CParser):
        def __init__(self, text: str) -> None:
            CParser.__init__(self, text)

    _Composer: type[Any] = _FastComposer
else:
    _Composer = PureComposer


YamlNode: TypeAlias = Node


class Document(Struct):
    """One YAML document: `data` is plain JSON-shaped data with string keys, `root` the tree that knows where each value stands.

    `traps` are plain scalars that YAML 1.1 reads otherwise: (path, text, as what). `lost` are paths of which something could not be read: a
    finding says why. `source` is the text of the whole file.
    """

    file: str
    root: MappingNode
    data: dict[str, Json]
    index: int = 0
    traps: list[tuple[Path, str, str]] = field(default_factory=list)
    lost: list[Path] = field(default_factory=list)
    source: str = ""

    def node(self, path: Path) -> Node | None:
        """The node at `path`, or None."""
        node: Node | None = self.root
        for part in path:
            node = _child(node, part)
            if node is None:
                return None
        return node

    def text(self, path: Path) -> str | None:
        """The scalar at `path` exactly as typed (without its quotes), or None."""
        node = self.node(path)
        return cast("str", node.value) if isinstance(node, ScalarNode) else None

    def line_span(self, path: Path, at: int) -> Span | None:
        """Where line `at` (from 0) of the block of text at `path` stands; None where the text is not written line by line (``|``)."""
        node = self.node(path)
        if not isinstance(node, ScalarNode) or node.style != "|":
            return None
        line = int(node.start_mark.line) + 1 + at
        lines = self.source.split("\n")
        if line >= len(lines) or not (text := lines[line].rstrip("\r")).strip():
            return None
        return Span(self.file, line + 1, len(text) - len(text.lstrip()) + 1, line + 1, len(text) + 1)

    def span(self, path: Path = (), *, key: bool = False) -> Span:
        """Where the value at `path` stands (`key`: where its key stands); the nearest enclosing place if the path is not in the text."""
        node: Node = self.root
        key_node: Node | None = None
        for position, part in enumerate(path):
            child = _child(node, part)
            if child is None:
                return self._span(key_node if key_node is not None and position else node)
            key_node = _key(node, part)
            node = child
        if key and key_node is not None:
            return self._span(key_node)
        return self._span(node)

    def _span(self, node: Node) -> Span:
        start, end = node.start_mark, node.end_mark
        if isinstance(node, MappingNode) and node.value:
            first = node.value[0][0]
            start, end = first.start_mark, first.end_mark
        elif end.line > start.line:
            return Span(self.file, start.line + 1, start.column + 1, start.line + 1, start.column + 2)
        return Span(self.file, start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def _child(node: Node | None, part: str | int) -> Node | None:
    if isinstance(node, MappingNode):
        found = _entry(node, part)
        return None if found is None else found[1]
    if isinstance(node, SequenceNode) and isinstance(part, int) and part < len(node.value):
        return cast("Node", node.value[part])
    return None


def _key(node: Node, part: str | int) -> Node | None:
    found = _entry(node, part) if isinstance(node, MappingNode) else None
    return None if found is None else found[0]


def _entry(node: MappingNode, part: str | int) -> tuple[Node, Node] | None:
    """The first key of that name and its value. A large mapping is indexed at the first question: there may be one for each of its keys."""
    if len(node.value) > _LARGE:
        index: dict[object, tuple[Node, Node]] | None = getattr(node, "taugen_index", None)
        if index is None:
            index = {key.value: (key, value) for key, value in reversed(node.value) if isinstance(key, ScalarNode)}
            node.taugen_index = index  # type: ignore[attr-defined]
        return index.get(part)
    return next(((key, value) for key, value in node.value if key.value == part), None)


def parse(file: str, raw: bytes) -> tuple[list[Document], list[Diagnostic]]:
    """Read one file. Documents with a finding of this stage are still returned where their data can be trusted for other findings."""
    text, fault = yamlfaults.decode(file, raw)
    if fault is not None:
        return [], [fault]
    if "\ufeff" in text:  # the composers disagree on it
        return [], [yamlfaults.character(file, text)]
    if (fault := yamlfaults.odd_line(file, text)) is not None:
        return [], [fault]
    findings, text = yamlfaults.directives(file, text)
    aliases = yamlfaults.may_have_anchors(text)
    if aliases or yamlfaults.suspicious(text):
        more = _look(file, text)
        findings += more
        if any(f.rule == "yaml-nesting" for f in more):
            return [], findings
        aliases = any(f.rule == "yaml-alias" for f in more)
    documents: list[Document] = []
    try:
        composer = _Composer(text)
        while composer.check_node():
            built = _Builder(file, findings, aliases=aliases).build(composer.get_node(), len(documents), text)
            if built is not None:
                documents.append(built)
    except yaml.MarkedYAMLError as error:
        if not (aliases and "alias" in str(error.problem)):
            findings.append(yamlfaults.syntax(file, text, error))
    except yaml.YAMLError as error:
        findings.append(yamlfaults.character(file, text, error))
    merged = {f.span.line for f in findings if f.rule == "yaml-merge"}
    return documents, [f for f in findings if f.rule != "yaml-alias" or f.span.line not in merged]


def _look(file: str, text: str) -> list[Diagnostic]:
    """What the parser's events show before any node is made."""
    found: list[Diagnostic] = []
    try:
        for finding in yamlfaults.events(file, _events(text)):
            found.append(finding)
            if len(found) >= MANY and finding.rule != "yaml-nesting":
                break
    except yaml.YAMLError:
        pass  # the composer meets the same error and reports it
    return found


def _events(text: str) -> Iterator[Any]:
    parser = _Composer(text)
    while parser.check_event():
        yield parser.get_event()


class _OddError(Exception):
    """Something that `_quick` leaves to the builder."""


def _quick(node: Node, depth: int) -> Json:
    """What the builder makes of a document without faults and traps: most of them. Raises _OddError for anything else."""
    if node.tag != _CORE or depth > MAX_DEPTH:
        raise _OddError
    if node.__class__ is MappingNode:
        out: dict[str, Json] = {}
        for key_node, value_node in node.value:
            if key_node.__class__ is not ScalarNode or key_node.tag != _CORE:
                raise _OddError
            key = key_node.value
            if key in out or key == "<<" or not key:
                raise _OddError
            out[key] = _quick_scalar(value_node) if value_node.__class__ is ScalarNode else _quick(value_node, depth + 1)
        return out
    return [_quick_scalar(item) if item.__class__ is ScalarNode else _quick(item, depth + 1) for item in node.value]


def _quick_scalar(node: ScalarNode) -> Json:
    value: str = node.value
    if node.tag != _CORE:
        raise _OddError
    if node.style:
        if not value.isascii():
            raise _OddError
        return value
    if value and value[0] not in MAY_RESOLVE:
        return value
    if trap(value) is not None:
        raise _OddError
    return plain(value)


class _Builder:
    """Node tree -> plain data, once, with every fault of the subset on the way."""

    def __init__(self, file: str, findings: list[Diagnostic], *, aliases: bool) -> None:
        self.file = file
        self.findings = findings
        self.traps: list[tuple[Path, str, str]] = []
        self.lost: list[Path] = []
        self.seen: set[int] | None = set() if aliases else None

    def build(self, root: Node, index: int, text: str) -> Document | None:
        if isinstance(root, ScalarNode) and root.value == "" and not root.style:
            return None
        if not isinstance(root, MappingNode):
            self._add("yaml-shape", "the document is not a mapping", root, (), hint="write `key: value` lines")
            return None
        try:
            data = _quick(root, 0) if self.seen is None else self._value(root, (), 0)
        except _OddError:
            data = self._value(root, (), 0)
        return Document(self.file, root, cast("dict[str, Json]", data), index, self.traps, self.lost, text)

    def _value(self, node: Node, path: Path, depth: int) -> Json:
        if node.__class__ is ScalarNode:
            return self._scalar(node, path)
        if depth > MAX_DEPTH:
            self.findings.append(yamlfaults.nesting(self.file, node.start_mark))
            self.lost.append(path)
            return None
        if self.seen is not None:
            if id(node) in self.seen:  # an alias: what it repeats is read once only, or a few lines of them would fill the memory
                self.lost.append(path)
                return None
            self.seen.add(id(node))
        if node.tag != _CORE:
            self._tag(node, path)
        if isinstance(node, MappingNode):
            return self._mapping(node, path, depth)
        return [self._value(item, (*path, at), depth + 1) for at, item in enumerate(node.value)]

    def _mapping(self, node: MappingNode, path: Path, depth: int) -> dict[str, Json]:
        out: dict[str, Json] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            if key_node.__class__ is not ScalarNode or (key_node.value == "" and not key_node.style):
                self._add("yaml-key", "a key must be a plain word", key_node, path, hint="write `key: value`")
                continue
            key = key_node.value
            first = lines.setdefault(key, key_node.start_mark.line + 1)
            if key in out:
                hint = "keep one of the two lines"
                self._add("yaml-duplicate-key", f"{key} is set twice: first on line {first}", key_node, (*path, key), hint=hint)
                continue
            if key == "<<" and not key_node.style:
                self._add("yaml-merge", "the merge key << is not allowed", key_node, (*path, key), hint="write the merged fields out")
                self.lost.append(path)
                continue
            if key_node.tag != _CORE:
                self._tag(key_node, (*path, key))
            out[key] = self._value(value_node, (*path, key), depth + 1)
        return out

    def _scalar(self, node: ScalarNode, path: Path) -> Json:
        value: str = node.value
        if node.tag != _CORE:
            self._tag(node, path)
            return value
        if node.style:
            return value if value.isascii() else self._whole(node, path)
        if (kind := trap(value)) is not None:
            self.traps.append((path, value, kind))
            return value
        return plain(value)

    def _whole(self, node: ScalarNode, path: Path) -> Json:
        """The text, unless an escape made half a character of it: libyaml refuses that itself."""
        if not any("\ud800" <= char <= "\udfff" for char in node.value):
            return cast("str", node.value)
        hint = "write the character itself, or \\U and its eight digits"
        self._add("yaml-syntax", "this is not YAML: half a surrogate pair is no character", node, path, hint=hint)
        self.lost.append(path)
        return None

    def _tag(self, node: Node, path: Path) -> None:
        tag = node.tag.replace("tag:yaml.org,2002:", "!!")[:40]
        self._add("yaml-tag", f"the tag {tag} is not allowed", node, path, hint="remove the tag; quote the value if it is text")
        self.lost.append(path)

    def _add(self, rule: str, message: str, node: Node, path: Path, hint: str) -> None:
        start, end = node.start_mark, node.end_mark
        last = end.column if end.line == start.line else start.column + 1
        span = Span(self.file, start.line + 1, start.column + 1, start.line + 1, last + 1)
        self.findings.append(Diagnostic(rule, message, span, path=dotted(path), hint=hint))
