"""Amounts of resources as people type them and as Kubernetes stores them.

In: a quantity from a document (``8``, ``0.5``, ``64Gi``, ``64 GB``, ``12e6``). Out: exact numbers, and the text that the Kubernetes API
server stores, so that a rendered object is never rewritten after it was applied. Nothing is ever rounded: what can't be kept is an error.

Spellings beyond Kubernetes' own, all with a ``B`` at the end and in any case: ``64GB`` is decimal (``64G``), ``64GiB`` binary (``64Gi``),
``64B`` bytes. Space may stand between number and unit. Limits: at least 0, whole thousandths, at most what an int64 of thousandths holds.
"""

from collections.abc import Iterable
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Literal, NamedTuple

from taugen.words.errors import TextError, shown
from taugen.words.regex import regex

Unit = Literal["cpu", "memory", "count"]
"""``cpu`` in cores, ``memory`` in bytes (storage too), ``count`` whole things: GPUs, pods."""

_MOST_MILLI = 2**63 - 1
_LONGEST = 64
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX = {-3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY_SUFFIX = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_NUMBER = regex(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+)| *([A-Za-z]*))")
_EXAMPLE = {"cpu": "8 or 500m", "memory": "64Gi", "count": "8"}


class QuantityError(TextError):
    """Not a quantity that Kubernetes can keep exactly; or not one that makes sense for its unit."""


class _Family(Enum):
    """Which suffixes the canonical text uses: that of the input, as in apimachinery's resource.Quantity."""

    SI = "decimal suffix"
    BINARY = "binary suffix"
    EXPONENT = "decimal exponent"


class _Amount(NamedTuple):
    milli: int
    family: _Family
    bytes_only: bool  # typed with a B: makes no sense for cores or counts


def parse(text: str | float) -> Decimal:
    """The amount in base units (cores, bytes, things), exact. Raises QuantityError."""
    milli = _read(_typed(text)).milli
    return Decimal(milli // 1000) if milli % 1000 == 0 else Decimal(milli).scaleb(-3)


def canonical(text: str | float, *, unit: Unit) -> str:
    """The canonical form of resource.Quantity (apimachinery quantity.go), which the API server keeps as it is.

    The family of the input decides the suffix: ``1000m`` -> ``1``, ``0.5`` -> ``500m``, ``1000`` -> ``1k``, ``1024Mi`` -> ``1Gi``,
    ``1.5Gi`` -> ``1536Mi``; ``1500M`` and ``12e6`` stay. Spellings that the API server happens to keep (``+5``, ``1.500``,
    ``1e03``) are mended too.
    Raises QuantityError, also for what the unit can't be: parts of a byte or of a thing, ``4Gi`` of cores.
    """
    return _canonical(_typed(text), unit)


def write(amount: Decimal | int, *, binary: bool = False) -> str:
    """The canonical text of a number in base units, with decimal or binary suffixes. Raises QuantityError."""
    exact = Decimal(amount)
    typed = _typed(int(exact)) if exact == exact.to_integral_value() else format(exact, "f")
    return _write(_read(typed).milli, _Family.BINARY if binary else _Family.SI)


def add(first: str | float, second: str | float) -> str:
    """The sum in the family of the first, or of the second when the first is zero (as Quantity.Add does). Raises QuantityError."""
    a, b = _read(_typed(first)), _read(_typed(second))
    return _write(_bounded(a.milli + b.milli), a.family if a.milli else b.family)


def total(texts: Iterable[str | float]) -> str:
    """The sum of all; ``0`` for none. Raises QuantityError."""
    out = "0"
    for text in texts:
        out = add(out, text)
    return out


def multiply(text: str | float, times: int) -> str:
    """`times` (>= 0, else ValueError) as much, in the family of the text. Raises QuantityError."""
    if times < 0:
        raise ValueError(f"{times} times a quantity")
    amount = _read(_typed(text))
    return _write(_bounded(amount.milli * times), amount.family)


def compare(first: str | float, second: str | float) -> int:
    """-1, 0 or 1 as the first is less, equal or more. Raises QuantityError."""
    a, b = _read(_typed(first)).milli, _read(_typed(second)).milli
    return (a > b) - (a < b)


def looks_like_bytes(text: str | float) -> bool:
    """Whether a memory amount has no unit and is so small (0 < it < 1Mi) that gigabytes were meant. False for what is no quantity."""
    try:
        typed = _typed(text)
        milli = _read(typed).milli
    except QuantityError:
        return False
    return not any(c.isalpha() for c in typed) and 0 < milli < 2**20 * 1000


def _typed(text: str | float) -> str:
    """The text of what YAML may have read as a number."""
    if isinstance(text, str):
        return text.strip(" ")
    if isinstance(text, bool):
        raise QuantityError(f"{str(text).lower()} is not a quantity", "write a number with a unit, such as 64Gi")
    if isinstance(text, int):
        return str(text) if abs(text) < 10 ** (_LONGEST - 1) else f"{'-' * (text < 0)}{_MOST_MILLI}"
    return format(Decimal(repr(text)), "f") if abs(text) < _MOST_MILLI else repr(text)


@lru_cache(maxsize=4096)
def _read(text: str) -> _Amount:
    found = _NUMBER.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None or not (found[2] or found[3]):
        raise QuantityError(f"{shown(text)} is not a quantity", "write a number and a unit without anything else, such as 64Gi, 500m or 8")
    sign, whole, part, power, suffix = found.groups()
    if sign == "-":
        raise QuantityError(f"{shown(text)} is negative", "write 0 or more")
    digits = int(whole + (part or ""))
    ten, two, family, bytes_only = (int(power), 0, _Family.EXPONENT, False) if power else _unit(text, suffix)
    return _Amount(_milli(text, digits << two, ten - len(part or "")), family, bytes_only)


def _unit(text: str, suffix: str) -> tuple[int, int, _Family, bool]:
    """Powers of ten and of two, the family, and whether it was typed in bytes."""
    if suffix in _DECIMAL:
        return _DECIMAL[suffix], 0, _Family.SI, False
    if suffix in _BINARY:
        return 0, _BINARY[suffix], _Family.BINARY, False
    letters = suffix.lower()
    if letters == "b":
        return 0, 0, _Family.SI, True
    if len(letters) == 2 and letters[1] == "b" and letters[0] in "kmgtpe":
        return _DECIMAL["k" if letters[0] == "k" else letters[0].upper()], 0, _Family.SI, True
    if len(letters) == 3 and letters[1:] == "ib" and letters[0] in "kmgtpe":
        return 0, _BINARY[letters[0].upper() + "i"], _Family.BINARY, True
    raise QuantityError(f"{shown(text)} has the unknown unit {shown(suffix)}", _unit_hint(text, suffix))


def _unit_hint(text: str, suffix: str) -> str:
    number = text[: -len(suffix)].rstrip(" ")
    letter = suffix[0].upper()
    if len(suffix) == 1 and letter in "KMGTPE":
        return f"write {number}{letter}i (powers of 1024) or {number}{'k' if letter == 'K' else letter} (powers of 1000)"
    if len(suffix) == 2 and suffix[1] in "iI" and letter in "KMGTPE":
        return f"write {number}{letter}i"
    return "the units are m, k, M, G, T, P, E and Ki, Mi, Gi, Ti, Pi, Ei"


def _milli(text: str, digits: int, ten: int) -> int:
    """digits * 10**ten in thousandths; the size is checked before any big number is made."""
    if digits == 0:
        return 0
    ten += 3
    if ten > 20:
        raise _too_large(text)
    if ten >= 0:
        return _bounded(digits * 10**ten, text)
    milli, rest = divmod(digits, 10**-ten) if ten > -200 else (0, 1)
    if rest:
        raise QuantityError(f"{shown(text)} is finer than a thousandth", "write at most three decimals, or whole thousandths such as 500m")
    return _bounded(milli, text)


def _bounded(milli: int, text: str = "") -> int:
    if milli > _MOST_MILLI:
        raise _too_large(text)
    return milli


def _too_large(text: str) -> QuantityError:
    return QuantityError(f"{shown(text) if text else 'the sum'} is more than any cluster has", "the most that can be counted is 8Pi")


@lru_cache(maxsize=4096)
def _canonical(text: str, unit: Unit) -> str:
    amount = _read(text)
    if unit != "memory" and (amount.bytes_only or amount.family is _Family.BINARY):
        raise QuantityError(f"{shown(text)} is an amount of bytes", f"write a plain number, such as {_EXAMPLE[unit]}")
    if unit != "cpu" and amount.milli % 1000:
        what = "whole bytes" if unit == "memory" else "a whole number"
        hint = (
            f"m means thousandths; write {text[:-1]}Mi or {text[:-1]}M"
            if unit == "memory" and text[-1] == "m"
            else f"write {_whole(amount)}"
        )
        raise QuantityError(f"{shown(text)} is not {what}", hint)
    return _write(amount.milli, amount.family)


def _whole(amount: _Amount) -> str:
    """The next whole amount; for binary texts in whole Mi or Ki where that changes little."""
    up = -(-amount.milli // 1000)
    for power in (20, 10) if amount.family is _Family.BINARY else ():
        if up >= 8 << power:
            up = -(-up >> power) << power
            break
    return _write(up * 1000, amount.family)


def _write(milli: int, family: _Family) -> str:
    if milli == 0:
        return "0"
    # Without a factor of 1024 there is no binary suffix, and what has none is read back as decimal: 3203.125Ki ends as 3280k.
    if family is _Family.BINARY and milli % 1024_000 == 0:
        return _write_binary(milli // 1000)
    ten = -3
    while milli % 1000 == 0:
        milli //= 1000
        ten += 3
    if family is not _Family.EXPONENT:
        return f"{milli}{_DECIMAL_SUFFIX[ten]}"
    return f"{milli}e{ten}" if ten else str(milli)


def _write_binary(number: int) -> str:
    step = 0
    while number % 1024 == 0:
        number //= 1024
        step += 1
    return f"{number}{_BINARY_SUFFIX[step]}"
