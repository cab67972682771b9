"""YAML text -> documents whose every value has a place.

In: the bytes of one file. Out: `Document` values (plain data plus libyaml's node tree) and findings. The subset is YAML 1.2's core schema without what can make
one file mean two things: duplicate keys, anchors, aliases, merge keys and tags are errors at their place; a plain scalar that YAML 1.1 tools read as another
type (`no`, `22:22`, `0755`, `2026-01-01`) is kept as text and listed in `Document.traps`, so that the reader of the field can say "quote this".
Places are computed only when a finding asks for one. Nothing here may hang, recurse without bound or raise for bad input.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from taugen.diag import Diagnostic, Span
from taugen.words import Json, Path, dotted

try:
    from yaml.cyaml import CParser as _Parser
except ImportError:  # PyYAML without libyaml: the same events, slower; `taugen doctor` says so
    _Parser = None  # type: ignore[assignment,misc]

MAX_DEPTH = 48
"""Deepest nesting that is read; tau.yaml and policy need 12."""
MAX_OPEN = 2000
"""More flow brackets than this in one file are refused before libyaml, whose scanner is quadratic in open brackets."""

_CORE = "?"
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NULLS = {"", "~", "null", "Null", "NULL"}
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z|0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z|[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_TRAP = re.compile(
    r"(?:y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF)\Z"
    r"|[-+]?0[0-9_]+\Z"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ]\S*)?\Z"
)

class _PlainResolver:
    """Stands in for PyYAML's YAML 1.1 resolver: scalars get their type from `_plain`, by the core schema."""

    def resolve(self, kind: type, value: str, implicit: object) -> str:
        return _CORE

    def descend_resolver(self, parent: object, index: object) -> None:
        pass

    def ascend_resolver(self) -> None:
        pass


if _Parser is not None:

    class _Composer(_PlainResolver, _Parser):
        def __init__(self, text: str) -> None:
            _Parser.__init__(self, text)

else:
    from yaml.composer import Composer
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.scanner import Scanner

    class _Composer(Reader, Scanner, Parser, Composer, _PlainResolver):  # type: ignore[no-redef]
        def __init__(self, text: str) -> None:
            Reader.__init__(self, text)
            Scanner.__init__(self)
            Parser.__init__(self)
            Composer.__init__(self)


YamlNode: TypeAlias = Node


@dataclass(slots=True)
class Document:
    """One YAML document: `data` is plain JSON-shaped data with string keys, `root` the tree that knows where each value stands."""

    file: str
    root: MappingNode
    data: dict[str, Json]
    index: int = 0
    traps: list[tuple[Path, str, str]] = field(default_factory=list)

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
        elif isinstance(node, ScalarNode | SequenceNode) and end.line > start.line:
            return Span(self.file, start.line + 1, start.column + 1, start.line + 1, start.column + 2)
        return Span(self.file, start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def _child(node: Node | None, part: str | int) -> Node | None:
    if isinstance(node, MappingNode):
        found = None
        for key, value in node.value:
            if key.value == part:
                found = value
        return found
    if isinstance(node, SequenceNode) and isinstance(part, int) and part < len(node.value):
        return cast("Node", node.value[part])
    return None


def _key(node: Node, part: str | int) -> Node | None:
    if isinstance(node, MappingNode):
        for key, _ in node.value:
            if key.value == part:
                return cast("Node", key)
    return None


def parse(file: str, raw: bytes) -> tuple[list[Document], list[Diagnostic]]:
    """Read one file. Documents with a finding of this stage are still returned where their data can be trusted for other findings."""
    text, fault = _decode(file, raw)
    if fault is not None:
        return [], [fault]
    if text.count("[") + text.count("{") > MAX_OPEN and (deep := _too_deep(file, text)) is not None:
        return [], [deep]
    if ("&" in text or "*" in text) and (special := _anchors(file, text)):
        return [], special
    documents: list[Document] = []
    findings: list[Diagnostic] = []
    try:
        composer = _Composer(text)
        while composer.check_node():
            root = composer.get_node()
            built = _Builder(file, findings).build(root, len(documents))
            if built is not None:
                documents.append(built)
    except yaml.MarkedYAMLError as error:
        findings.append(_syntax(file, text, error))
    except yaml.reader.ReaderError as error:
        findings.append(_unreadable(file, text, error))
    except RecursionError:
        findings.append(_nesting(file, 1, 1))
    return documents, findings


def _decode(file: str, raw: bytes) -> tuple[str, Diagnostic | None]:
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "", Diagnostic("yaml-encoding", "the file is UTF-16", Span(file), hint="save it as UTF-8")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8", "replace")
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        byte = raw[error.start]
        return "", Diagnostic("yaml-encoding", f"byte 0x{byte:02x} is not UTF-8", Span(file, line, column), hint="save the file as UTF-8")
    return text, None


def _too_deep(file: str, text: str) -> Diagnostic | None:
    depth = line = column = 0
    for number, content in enumerate(text.split("\n"), 1):
        for at, char in enumerate(content):
            if char in "[{":
                depth += 1
                if depth > MAX_DEPTH * 4:
                    line, column = number, at + 1
                    return _nesting(file, line, column)
            elif char in "]}" and depth:
                depth -= 1
    return None


def _nesting(file: str, line: int, column: int) -> Diagnostic:
    return Diagnostic("yaml-nesting", f"the nesting is deeper than {MAX_DEPTH} levels", Span(file, line, column), hint="no field needs that: flatten it")


def _anchors(file: str, text: str) -> list[Diagnostic]:
    """Anchors and aliases, found in the event stream: an alias node would share its target and a bomb of them would grow when it is built."""
    found: list[Diagnostic] = []
    try:
        for event in _events(text):
            anchor = getattr(event, "anchor", None)
            if not anchor:
                continue
            alias = isinstance(event, yaml.AliasEvent)
            sign, word = ("*", "alias") if alias else ("&", "anchor")
            mark = event.start_mark
            span = Span(file, mark.line + 1, mark.column + 1, mark.line + 1, mark.column + 2 + len(anchor))
            hint = "write the value out where it is used" if alias else f"remove &{anchor} and write the value out where it is used"
            found.append(Diagnostic(f"yaml-{word}", f"the {word} {sign}{anchor} is not allowed: a reader could not see what a field holds", span, hint=hint))
            if len(found) == 20:
                break
    except yaml.YAMLError:
        return found
    return found


def _events(text: str) -> Iterator[Any]:
    composer = _Composer(text)
    while composer.check_event():
        yield composer.get_event()


def _syntax(file: str, text: str, error: yaml.MarkedYAMLError) -> Diagnostic:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    lines = text.split("\n")
    content = lines[line - 1] if line <= len(lines) else ""
    problem = str(error.problem or error)
    indent = content[: len(content) - len(content.lstrip())]
    if "\t" in indent or (column <= len(content) and content[column - 1] == "\t"):
        column = content.index("\t") + 1
        span = Span(file, line, column, line, column + 1)
        return Diagnostic("yaml-tab", "a tab stands where YAML wants spaces", span, hint="indent with spaces")
    if line > len(lines) or (line == len(lines) and not content):
        line, column = max(1, len(lines) - (1 if not content else 0)), 1
    context = f" {error.context}" if error.context else ""
    hint = _syntax_hint(problem)
    return Diagnostic("yaml-syntax", f"this is not YAML: {problem}{context}", Span(file, line, column), hint=hint)


def _syntax_hint(problem: str) -> str:
    if "mapping values are not allowed" in problem:
        return "quote a value that holds ': ', or check the indentation"
    if "could not find expected ':'" in problem:
        return "write `key: value`, with a space after the colon"
    if "did not find expected" in problem:
        return "check brackets, quotes and indentation just above"
    return "check quotes, brackets and indentation"


def _unreadable(file: str, text: str, error: yaml.reader.ReaderError) -> Diagnostic:
    position = min(int(getattr(error, "position", 0) or 0), len(text))
    bad = next((i for i, c in enumerate(text) if ord(c) < 32 and c not in "\t\n\r" or ord(c) in (0x7F, 0xFFFE, 0xFFFF)), position)
    before = text[:bad]
    column = bad - (before.rfind("\n") + 1) + 1
    shown = f"U+{ord(text[bad]):04X}" if bad < len(text) else "a control character"
    return Diagnostic("yaml-character", f"{shown} is not allowed in YAML", Span(file, before.count("\n") + 1, column), hint="remove the character")


class _Builder:
    """Node tree -> plain data, once, with every fault of the subset on the way."""

    def __init__(self, file: str, findings: list[Diagnostic]) -> None:
        self.file = file
        self.findings = findings
        self.traps: list[tuple[Path, str, str]] = []

    def build(self, root: Node, index: int) -> Document | None:
        if isinstance(root, ScalarNode) and root.value == "":
            return None
        if not isinstance(root, MappingNode):
            mark = root.start_mark
            self._add("yaml-shape", "the document is not a mapping", root, (), hint="write `key: value` lines", line=mark.line)
            return None
        data = cast("dict[str, Json]", self._value(root, (), 0))
        return Document(self.file, root, data, index, self.traps)

    def _value(self, node: Node, path: Path, depth: int) -> Json:
        if node.__class__ is ScalarNode:
            return self._scalar(node, path)
        if depth > MAX_DEPTH:
            self._add("yaml-nesting", f"the nesting is deeper than {MAX_DEPTH} levels", node, path, hint="no field needs that: flatten it")
            return None
        if node.tag != _CORE and not node.tag.startswith("tag:yaml.org,2002:map") and not node.tag.startswith("tag:yaml.org,2002:seq"):
            self._tag(node, path)
        if isinstance(node, MappingNode):
            return self._mapping(node, path, depth)
        return [self._value(item, (*path, at), depth + 1) for at, item in enumerate(node.value)]

    def _mapping(self, node: MappingNode, path: Path, depth: int) -> dict[str, Json]:
        out: dict[str, Json] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self._add("yaml-key", "a key must be a plain word", key_node, path, hint="write `key: value`")
                continue
            key = key_node.value
            if key == "<<" and not key_node.style:
                self._add("yaml-merge", "the merge key << is not allowed", key_node, (*path, key), hint="write the merged fields out")
                continue
            if key in out:
                first = next(k for k, _ in node.value if k.value == key).start_mark.line + 1
                self._add(
                    "yaml-duplicate-key", f"{key} is set twice: first on line {first}", key_node, (*path, key), hint="keep one of the two lines"
                )
                continue
            out[key] = self._value(value_node, (*path, key), depth + 1)
        return out

    def _scalar(self, node: ScalarNode, path: Path) -> Json:
        value: str = node.value
        if node.tag != _CORE:
            self._tag(node, path)
            return value
        if node.style:
            return value
        if (kind := _trap(value)) is not None:
            self.traps.append((path, value, kind))
            return value
        return plain(value)

    def _tag(self, node: Node, path: Path) -> None:
        tag = node.tag.replace("tag:yaml.org,2002:", "!!")
        self._add("yaml-tag", f"the tag {tag} is not allowed", node, path, hint="remove the tag; quote the value if it is text")

    def _add(self, rule: str, message: str, node: Node, path: Path, hint: str, line: int | None = None) -> None:
        start, end = node.start_mark, node.end_mark
        last = end.column if end.line == start.line else start.column + 1
        span = Span(self.file, (start.line if line is None else line) + 1, start.column + 1, start.line + 1, last + 1)
        self.findings.append(Diagnostic(rule, message, span, path=dotted(path), hint=hint))


def plain(value: str) -> Json:
    """A plain scalar by the core schema of YAML 1.2."""
    if not value:
        return None
    first = value[0]
    if first in "+-.0123456789":
        if _INT.match(value):
            return _integer(value)
        if _FLOAT.match(value):
            return float(value.replace(".inf", "inf").replace(".Inf", "inf").replace(".INF", "inf").replace(".nan", "nan").replace(".NaN", "nan").replace(".NAN", "nan"))
        return value
    if first in "tTfF" and value in _BOOLS:
        return _BOOLS[value]
    if first in "~nN" and value in _NULLS:
        return None
    return value


def _integer(value: str) -> Json:
    if len(value) > 40:  # Python refuses to convert thousands of digits, and no field holds such a number
        return value
    return int(value, 0) if value[:2] in ("0o", "0x") else int(value)


def _trap(value: str) -> str | None:
    """What a YAML 1.1 reader makes of the plain scalar, if that is not the text itself."""
    if not value or value[0] not in "yYnNoO+-0123456789" or not _TRAP.match(value):
        return None
    if value[0] in "yYnNoO":
        return "true or false"
    if ":" in value and "-" not in value[1:]:
        return "a number in base 60"
    return "a date" if "-" in value[1:] else "an octal number"
