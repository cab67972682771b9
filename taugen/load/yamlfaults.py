"""What is wrong with a text that is no YAML, or more YAML than a document may be.

In: bytes or text of one file, errors of the parser. Out: findings with places in our own words. Every look is linear in the size of the
text.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from typing import Any

from taugen.load import patterns  # noqa: F401 - first: it loads yaml

# isort: split
import yaml

from taugen.diag import Diagnostic, Span
from taugen.words.regex import regex

MAX_DEPTH = 48
"""Deepest nesting that is read; tau.yaml and policy need 12."""
SAFE_DEPTH = 200
"""Deepest nesting that the composer may see: libyaml's wrapper recurses in C, and versions before 0.2.6 had no limit."""
MANY = 20
"""Findings of one kind in one file after which a stage stops listing them."""

_LINES = regex(r"\r\n|[\n\r]")
_ODD_LINES = regex("[\x85\u2028\u2029]")
_ANCHOR = regex(r"(?:^|[\s\[\]{},?:-])[&*][^\s\[\]{},]", re.MULTILINE)
_BARE_TAG = regex(r"(?:^|[\s\[\]{},?:-])!(?=[\s\[\]{},]|\Z)", re.MULTILINE)
_DIRECTIVE = regex(r"^%[A-Za-z]", re.MULTILINE)
_UNPRINTABLE = regex("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\ufeff")


def decode(file: str, raw: bytes) -> tuple[str, Diagnostic | None]:
    """UTF-8 text without its byte order mark, or why it is none."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff") or (b"\0" in raw[:2] and len(raw) > 1):
        return "", Diagnostic("yaml-encoding", "the file is UTF-16 or UTF-32", Span(file), hint="save it as UTF-8")
    body = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return body.decode(), None
    except UnicodeDecodeError as error:
        line, column = _place(body[: error.start].decode())
        message = f"byte 0x{body[error.start]:02x} is not UTF-8"
        return "", Diagnostic("yaml-encoding", message, Span(file, line, column, line, column + 1), hint="save the file as UTF-8")


def odd_line(file: str, text: str) -> Diagnostic | None:
    """U+0085, U+2028 and U+2029 end a line in libyaml's YAML 1.1 and are plain characters in YAML 1.2: such a text means two things."""
    found = None if text.isascii() else _ODD_LINES.search(text)
    if found is None:
        return None
    line, column = _place(text[: found.start()])
    name = f"U+{ord(found[0]):04X}"
    message = f"{name} ends a line for some YAML readers and not for others"
    hint = f'remove it, or write "\\u{ord(found[0]):04x}" in double quotes if the text needs it'
    return Diagnostic("yaml-character", message, Span(file, line, column, line, column + 1), hint=hint)


def suspicious(text: str) -> bool:
    """Whether a look at the parser's events is needed before nodes may be made: nesting that could be deep, or a bare `!`."""
    opened = sum(map(text.count, ("[", "{", "- ", "-\t", "-\n", "-\r", "? ", "?\t", "?\n", "?\r")))
    return (
        opened > SAFE_DEPTH
        or (text.count("\n") > SAFE_DEPTH and " " * SAFE_DEPTH in text)
        or ("!" in text and _BARE_TAG.search(text) is not None)
    )


def may_have_anchors(text: str) -> bool:
    """Whether something looks like an anchor or an alias."""
    return ("&" in text or "*" in text) and _ANCHOR.search(text) is not None


def directives(file: str, text: str) -> tuple[list[Diagnostic], str]:
    """`%YAML 1.1` and `%TAG` would make the text mean something else. Returns findings, and the text with these lines made comments."""
    if "%" not in text or _DIRECTIVE.search(text) is None:
        return [], text
    found: list[Diagnostic] = []
    lines = text.split("\n")
    header = True
    for at, line in enumerate(lines):
        if header and _DIRECTIVE.match(line):
            if line.split()[:2] != ["%YAML", "1.2"]:
                span = Span(file, at + 1, 1, at + 1, len(line.rstrip()) + 1)
                message = f"the directive {line.split()[0][:20]} is not allowed"
                found.append(Diagnostic("yaml-directive", message, span, hint="remove it: documents are YAML 1.2"))
            lines[at] = "#" + line[1:]
        else:
            header = line.startswith("...") or (header and (not line.strip() or line.lstrip().startswith("#")))
    return found[:MANY], "\n".join(lines)


def events(file: str, stream: Iterable[Any]) -> Iterator[Diagnostic]:
    """Anchors, aliases, bare tags and too deep nesting, from the parser's events: nothing is built, so nothing can grow."""
    depth = 0
    for event in stream:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > SAFE_DEPTH:
                yield nesting(file, event.start_mark)
                return
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        anchor = getattr(event, "anchor", None)
        if anchor:
            yield _anchor(file, event, anchor)
        if getattr(event, "tag", None) == "!":
            hint = "remove the tag; quote the value if it is text"
            yield _at("yaml-tag", file, event.start_mark, 1, message="the tag ! is not allowed", hint=hint)


def _anchor(file: str, event: Any, anchor: str) -> Diagnostic:
    if isinstance(event, yaml.AliasEvent):
        sign, word, hint = "*", "alias", "write the value out here; quote it if the text begins with *"
    else:
        sign, word, hint = "&", "anchor", f"remove &{anchor} and write the value out where it is used; quote it if the text begins with &"
    message = f"the {word} {sign}{anchor[:40]} is not allowed: a reader could not see what a field holds"
    return _at(f"yaml-{word}", file, event.start_mark, 1 + len(anchor), message=message, hint=hint)


def _at(rule: str, file: str, mark: Any, width: int, *, message: str, hint: str) -> Diagnostic:
    return Diagnostic(rule, message, Span(file, mark.line + 1, mark.column + 1, mark.line + 1, mark.column + 1 + width), hint=hint)


def nesting(file: str, mark: Any) -> Diagnostic:
    """Nesting deeper than any field needs."""
    message = f"the nesting is deeper than {MAX_DEPTH} levels"
    return _at("yaml-nesting", file, mark, 1, message=message, hint="no field needs that: flatten it")


def syntax(file: str, text: str, error: yaml.MarkedYAMLError) -> Diagnostic:
    """The parser gave up here."""
    mark = error.problem_mark or error.context_mark
    problem = str(error.problem or error.context or "it can't be read")
    if mark is None:
        return Diagnostic("yaml-syntax", f"this is not YAML: {problem}", Span(file), hint=_hint(problem))
    if "nesting" in problem:
        return nesting(file, mark)
    lines = _LINES.split(text)
    number, column = mark.line, mark.column
    content = lines[number] if number < len(lines) else ""
    tab = _tab(content, column)
    if tab is not None:
        span = Span(file, number + 1, tab + 1, number + 1, tab + 2)
        return Diagnostic("yaml-tab", "a tab stands where YAML wants spaces", span, hint="indent with spaces")
    context = error.context_mark
    if context is not None and (not content.strip() or "expected ':'" in problem):
        number, column = context.line, context.column  # where it began says more than where the parser gave up
        content = lines[number] if number < len(lines) else ""
    while number > 0 and not content.strip():
        number -= 1
        content = lines[min(number, len(lines) - 1)]
        column = max(len(content.rstrip()) - 1, 0)
    about = f" {error.context}" if error.context and error.problem else ""
    return Diagnostic("yaml-syntax", f"this is not YAML: {problem}{about}", Span(file, number + 1, column + 1), hint=_hint(problem))


def _tab(content: str, column: int) -> int | None:
    indent = content[: len(content) - len(content.lstrip())]
    if "\t" in indent:
        return content.index("\t")
    return column if column < len(content) and content[column] == "\t" else None


def _hint(problem: str) -> str:
    if "mapping values are not allowed" in problem:
        return "quote a value that holds ': ', or check the indentation"
    if "could not find expected ':'" in problem:
        return "write `key: value`, with a space after the colon"
    if "unknown escape" in problem:
        return "use single quotes for text with backslashes"
    if "cannot start any token" in problem:
        return "quote a value that begins with @, ` or %"
    if "did not find expected" in problem or "expected " in problem:
        return "check brackets, quotes and indentation just above"
    return "check quotes, brackets and indentation"


def character(file: str, text: str, error: yaml.YAMLError | None = None) -> Diagnostic:
    """A character that YAML forbids."""
    found = _UNPRINTABLE.search(text)
    position = found.start() if found is not None else min(int(getattr(error, "position", 0) or 0), max(len(text) - 1, 0))
    line, column = _place(text[:position])
    shown = f"U+{ord(text[position]):04X}" if text else "a character"
    return Diagnostic(
        "yaml-character", f"{shown} is not allowed in YAML", Span(file, line, column, line, column + 1), hint="remove the character"
    )


def _place(before: str) -> tuple[int, int]:
    """Line and column, from 1, of what follows the text."""
    lines = _LINES.split(before)
    return len(lines), len(lines[-1]) + 1
