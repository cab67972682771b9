"""Canonical JSON (RFC 8785) and digests of it.

In: JSON-shaped data. Out: bytes that are the same for equal data wherever and whenever they are made. Never two texts for one value, never
one text for two values: numbers that a double can't hold are refused.
"""

import hashlib
import json
import re

import msgspec

from taugen.words import Json, Path, dotted
from taugen.words.regex import regex

MOST_INTEGER = 2**53 - 1

# RFC 8785 and json.dumps write everything alike but floats, integers beyond 2**53 and the order of keys with characters from U+D800 on
# (UTF-16 order). A number follows one of these characters; where a string holds the same, only the fast path is lost.
_ODD_NUMBER = regex(r'[:\[,](?:(?<=":)|(?<=[\[,]))-?[0-9]+(?:[.eE]|(?<=[0-9]{16}))')
_ODD_CHARACTER = regex("[\ud800-\U0010ffff]")
_FAST = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False)
_SURROGATE = regex("[\ud800-\udfff]")
_TEXT = json.JSONEncoder(ensure_ascii=False).encode


class CanonicalError(ValueError):
    """A value has no canonical form: not finite, beyond 2**53, half a surrogate pair, nested too deeply. `path` leads to it."""

    def __init__(self, message: str, path: Path = ()) -> None:
        super().__init__(message, path)
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return f"{dotted(self.path)}: {self.message}" if self.path else self.message


def jcs(value: Json) -> bytes:
    """The canonical JSON of RFC 8785 in UTF-8. Raises CanonicalError."""
    try:
        text = _FAST.encode(value)
        if isinstance(value, dict) and not _ODD_NUMBER.search(text) and (text.isascii() or not _ODD_CHARACTER.search(text)):
            return text.encode()
    except ValueError:
        pass  # not finite: the slow path names the place
    except RecursionError:
        raise CanonicalError("nested too deeply") from None
    return _slow(value)


class _OddError(ValueError):
    pass


def _odd(_number: str) -> None:
    """A number with a fraction or an exponent: `jcs` alone knows its form."""
    raise _OddError


# Both are C throughout. They agree with RFC 8785 where all characters are ASCII and all numbers are integers of fewer than 16 digits.
_READ: msgspec.json.Decoder[Json] = msgspec.json.Decoder(float_hook=_odd)
_WRITE = msgspec.json.Encoder(order="sorted").encode
_LONG_NUMBER = re.compile(rb"[:\[,]-?[0-9]{16}")
_LONG = b"0" * 16
_DIGITS = bytes(ord("0") if chr(byte).isdecimal() else ord(" ") for byte in range(256))


def read(content: bytes) -> Json:
    """What canonical JSON says. Raises ValueError for any other bytes, and RecursionError."""
    # A look for 16 digits of any kind is 10 times quicker than that for a number.
    short = _LONG not in content.translate(_DIGITS) or _LONG_NUMBER.search(content) is None
    if short and content.startswith((b"{", b"[")) and content.isascii():
        try:
            found = _READ.decode(content)
            if _WRITE(found) == content:
                return found
        except ValueError:
            pass  # a number of which the slow path knows the form; whatever is wrong is found there too
    value: Json = json.loads(content.decode())
    if jcs(value) != content:
        raise ValueError("not the canonical form")
    return value


def digest(value: Json) -> str:
    """The sha256 of the canonical JSON, 64 hex digits. Raises CanonicalError."""
    return hashlib.sha256(jcs(value)).hexdigest()


def _slow(value: Json) -> bytes:
    out: list[str] = []
    try:
        _write(value, out)
    except RecursionError:
        raise CanonicalError("nested too deeply") from None
    return "".join(out).encode()


def _write(value: Json, out: list[str]) -> None:
    if isinstance(value, str):
        out.append(_string(value))
    elif isinstance(value, dict):
        _write_map(value, out)
    elif isinstance(value, list):
        _write_list(value, out)
    elif value is None or isinstance(value, bool):
        out.append("null" if value is None else "true" if value else "false")
    elif isinstance(value, float):
        out.append(_number(value))
    elif abs(value) > MOST_INTEGER:
        raise CanonicalError("an integer beyond 2^53, where JSON numbers are no longer exact: write it in quotes")
    else:
        out.append(str(int(value)))


def _write_map(value: dict[str, Json], out: list[str]) -> None:
    mark = "{"
    for key in sorted(value) if all(map(str.isascii, value)) else sorted(value, key=_utf16):
        out.append(f"{mark}{_string(key)}:")
        mark = ","
        try:
            _write(value[key], out)
        except CanonicalError as error:
            raise CanonicalError(error.message, (key, *error.path)) from None
    out.append("}" if value else "{}")


def _write_list(value: list[Json], out: list[str]) -> None:
    mark = "["
    for position, item in enumerate(value):
        out.append(mark)
        mark = ","
        try:
            _write(item, out)
        except CanonicalError as error:
            raise CanonicalError(error.message, (position, *error.path)) from None
    out.append("]" if value else "[]")


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def _string(text: str) -> str:
    if not text.isascii() and _SURROGATE.search(text):
        raise CanonicalError("half a surrogate pair is not text")
    return _TEXT(text)


def _number(value: float) -> str:
    """A double as ECMAScript prints it: the shortest digits (as Python's repr), plain between 1e-7 and 1e21."""
    if value - value != 0:
        raise CanonicalError("not a finite number")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, power = repr(abs(value)).partition("e")
    whole, _, part = mantissa.partition(".")
    part = "" if part == "0" else part
    all_digits = (whole + part).lstrip("0")
    point = len(whole) + int(power or 0) - (len(whole + part) - len(all_digits))
    digits = all_digits.rstrip("0")
    if 0 < point <= 21:
        text = digits.ljust(point, "0") if len(digits) <= point else f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        text = digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + f"e{point - 1:+d}"
    return sign + text
