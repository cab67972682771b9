"""The YAML writer: JSON-shaped data to the text that is committed.

In: dicts, lists, strings, numbers, booleans, None. Out: block-style YAML that every YAML 1.1 and 1.2 parser reads back as the same data,
and whose bytes depend on nothing but the data: no upgrade of a library reformats a committed file.

Layout: two spaces, lists at the indent of their key (as kubectl prints), keys in the order of the dict, nothing folded, no anchors. A
string is plain where no parser can take it for anything else; else in double quotes; in single quotes when that saves escapes (JSON in a
string, patterns with a backslash). A string of several lines is a block literal (``|``, ``|-``, ``|+``), or in double quotes when it holds
what a literal can't carry exactly (CR, control characters). Characters that a reviewer can't see (bidi marks, zero-width, odd spaces) are
always written as escapes.
"""

import re
from functools import cache
from typing import Final

from taugen.words import Json
from taugen.words.regex import regex

_LONGEST_KEY: Final = 1000
_CACHED: Final = 8192
_CACHED_LENGTH: Final = 128

# Beyond ASCII: what a reviewer can't see or a parser may take for a line end. Fixed ranges, since str.isprintable() follows the Unicode
# version of the Python that runs.
_HIDDEN = (
    r"\x80-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ud800-\uf8ff\ufeff\ufff0-\uffff"
    r"\U0001fffe-\U0001ffff\U0002fffe-\U0002ffff\U0003fffe-\U0010ffff"
)
# No possessive quantifiers: one inside of another matches wrongly before Python 3.11.5 (CPython issue 101955).
_PLAIN = regex(
    r"""(?!---|\.\.\.)(?:[^\x00- \x7f\-?:,\[\]{}#&*!|>'"%@`]|-(?=[^ ]))"""
    r"[^\x00- \x7f:#]*(?:(?::(?=[^ ])|(?<! )#| (?=[^#]))[^\x00- \x7f:#]*)*(?<! )(?<!:)"
)
_ESCAPE = regex(r'[\x00-\x1f"\\\x7f]')
_ONE_LINE = regex(r"[^\x00-\x1f\x7f]*")
_CONTROLS: Final = bytes((*range(9), *range(11, 32), 127))
_LINE_START = regex(r"\n(?=[^\n])")
_WORDS: Final = frozenset(
    ("~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "=", "<<", ".inf", "+.inf", "-.inf", ".nan", "+.nan", "-.nan")
)
_NUMBER = regex(
    r"(?:[-+]_*)?(?:0[bB][-+]?[01_]*|0[oO][-+]?[0-7_]*|0[xX][-+]?[0-9a-fA-F_]*"
    r"|[0-9][0-9_,]*(?::[0-9_]*)*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9_]*)?|\.[0-9_]+(?:[eE][-+]?[0-9_]*)?)"
    r"|[-+]_+|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?"
)
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", "\x1b": "\\e"}

# taugen's own scripts stand in many ConfigMaps: their literals are made once.
_LONG: Final = 2048
_LONGEST_KEPT: Final = 65536
_KEPT: Final = 16

_scalars: dict[str, str] = {}
_long: dict[tuple[str, str], str] = {}
_heads: dict[str, str] = {}


def emit(value: Json) -> str:
    """The YAML of one document, with a final newline.

    Raises ValueError for what YAML can't carry: a number that is not finite, half a surrogate pair, a key longer than 1000 characters.
    """
    out: list[str] = []
    if isinstance(value, dict) and value:
        _map(value, "", "", out)
    elif isinstance(value, list) and value:
        _list(value, "", "", out)
    else:
        out.append(quoted(value) if isinstance(value, str) else _other(value))
    out.append("")
    return "\n".join(out)


def quoted(text: str) -> str:
    """The text as a scalar on one line, plain where it can be."""
    seen = text.isascii() or not _hidden().search(text)
    if seen and _PLAIN.fullmatch(text) and not _reads_as_other(text):
        return text
    if seen and _ONE_LINE.fullmatch(text):
        if '"' in text or "\\" in text:
            return "'" + text.replace("'", "''") + "'"
        return f'"{text}"'
    escaped = _ESCAPE.sub(_escape, text)
    return f'"{escaped if seen else _hidden().sub(_escape, escaped)}"'


def _reads_as_other(text: str) -> bool:
    """Whether some parser takes the plain text for a boolean, null, number or date; go-yaml drops all underscores before it looks."""
    return text.lower() in _WORDS or bool(_NUMBER.fullmatch(text) or ("_" in text and _NUMBER.fullmatch(text.replace("_", ""))))


@cache
def _hidden() -> re.Pattern[str]:
    """Compiled when needed: it costs more than all other patterns together."""
    return re.compile(f"[{_HIDDEN}]")


def _map(value: dict[str, Json], first: str, pad: str, out: list[str]) -> None:
    """A map that is not empty: `first` stands before its first key, `pad` before the others."""
    known, heads = _scalars.get, _heads.get
    for key, item in value.items():
        head = first + (heads(key) or _head(key))
        first = pad
        kind = type(item)
        if kind is str:
            text = known(item)  # type: ignore[arg-type]
            out.append(f"{head} {_text(item, pad) if text is None else text}")  # type: ignore[arg-type]
        elif kind is dict and item:
            out.append(head)
            inner = pad + "  "
            _map(item, inner, inner, out)  # type: ignore[arg-type]
        elif kind is list and item:
            out.append(head)
            _list(item, pad, pad, out)  # type: ignore[arg-type]
        else:
            out.append(f"{head} {_other(item)}")


def _list(value: list[Json], first: str, pad: str, out: list[str]) -> None:
    """A list that is not empty; the dashes stand at `pad`."""
    known = _scalars.get
    inner = pad + "  "
    for item in value:
        head = first + "- "
        first = pad
        kind = type(item)
        if kind is str:
            text = known(item)  # type: ignore[arg-type]
            out.append(head + (_text(item, pad) if text is None else text))  # type: ignore[arg-type]
        elif kind is dict and item:
            _map(item, head, inner, out)  # type: ignore[arg-type]
        elif kind is list and item:
            _list(item, head, inner, out)  # type: ignore[arg-type]
        else:
            out.append(head + _other(item))


def _head(key: str) -> str:
    text = quoted(key)
    if len(text) > _LONGEST_KEY:
        raise ValueError(f"a key of {len(text)} characters is more than YAML parsers take")
    if len(_heads) >= _CACHED:
        _heads.clear()
    _heads[key] = head = text + ":"
    return head


def _text(text: str, pad: str) -> str:
    if "\n" in text and text.strip("\n \t"):
        if len(text) < _LONG:
            if _fits_a_literal(text):
                return _literal(text, pad + "  ")
        elif (known := _long.get((text, pad))) is not None:
            return known
        elif _fits_a_literal(text):
            long = _literal(text, pad + "  ")
            if len(_long) < _KEPT and len(text) < _LONGEST_KEPT:
                _long[text, pad] = long
            return long
    out = quoted(text)
    if len(text) <= _CACHED_LENGTH:
        if len(_scalars) >= _CACHED:
            _scalars.clear()
        _scalars[text] = out
    return out


def _fits_a_literal(text: str) -> bool:
    """Whether a block literal carries the text exactly, and shows all of it."""
    if text.isascii():
        raw = text.encode()
        return len(raw.translate(None, _CONTROLS)) == len(raw)
    return not _hidden().search(text) and not any(map(_CONTROLS.__contains__, text.encode("utf-8", "surrogatepass")))


def _literal(text: str, pad: str) -> str:
    # Parsers find the indent by the first line: where that starts with white space or is empty, the indent is said.
    indicator = "2" if text[0] in " \t\n" else ""
    if not text.endswith("\n"):
        chomp, body = "-", text
    else:
        body = text[:-1]
        chomp = "" if body[-1] != "\n" else "+"
    first = "\n" if body[0] == "\n" else f"\n{pad}"
    return f"|{indicator}{chomp}{first}" + _LINE_START.sub(f"\n{pad}", body)


def _other(value: Json) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return quoted(str(value))
    if not value:
        return "{}" if isinstance(value, dict) else "[]"
    raise TypeError(f"{type(value).__name__} is not JSON-shaped")


def _float(value: float) -> str:
    """YAML 1.1 takes a number with an exponent for a string unless it has a point."""
    if value - value != 0:
        raise ValueError(f"{value} is not a finite number")
    text = repr(value)
    return text if "e" not in text or "." in text else text.replace("e", ".0e")


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError("half a surrogate pair is not text")
    return _ESCAPES.get(char) or (f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}")
