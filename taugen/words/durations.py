"""Durations as people type them: Go's notation, and days.

In: ``90m``, ``1h30m``, ``72h``, ``3d``. Out: whole seconds and one canonical spelling. A number without a unit is never guessed at.
"""

import re
from fractions import Fraction
from functools import lru_cache

from taugen.words.errors import TextError, shown
from taugen.words.regex import regex

MOST_SECONDS = 2**31 - 1
"""Kueue keeps the maximum execution time as an int32 of seconds (workload_types.go)."""

_PART = regex(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([a-zA-Zµμ]+)")
_WHOLE = regex(rf"(?:{_PART.pattern})+")
_UNITS = {"d": Fraction(86400), "h": Fraction(3600), "m": Fraction(60), "s": Fraction(1), "ms": Fraction(1, 10**3)}
_UNITS |= dict.fromkeys(("us", "µs", "μs"), Fraction(1, 10**6)) | {"ns": Fraction(1, 10**9)}
_LONGEST = 64


class DurationError(TextError):
    """Not a duration in whole seconds."""


def parse(text: str | float) -> int:
    """Seconds (0 to 2147483647). Units ``d``, ``h``, ``m``, ``s``, and Go's smaller ones when the sum is whole. Raises DurationError.

    Numbers are taken only to say that they have no unit.
    """
    return _read(text.strip(" ") if isinstance(text, str) else repr(text))


@lru_cache(maxsize=4096)
def _read(text: str) -> int:
    if re.fullmatch(r"[0-9]+(\.[0-9]*)?", text) and len(text) <= _LONGEST:
        raise DurationError(f"{shown(text)} has no unit", f"write {text}s, {text}m or {text}h")
    if text.startswith("-"):
        raise DurationError(f"{shown(text)} is negative", "write a duration such as 90m")
    if len(text) > _LONGEST or not _WHOLE.fullmatch(text):
        raise DurationError(f"{shown(text)} is not a duration", "write a number and a unit, such as 90m, 1h30m, 72h or 3d")
    seconds = Fraction(0)
    for number, unit in _PART.findall(text):
        if unit not in _UNITS:
            known = f"write {text.lower()}" if unit.lower() in _UNITS else "the units are s, m, h and d, such as 1h30m"
            raise DurationError(f"{shown(text)} has the unknown unit {shown(unit)}", known)
        seconds += Fraction("0" + number.rstrip(".")) * _UNITS[unit]
    if seconds.denominator != 1:
        raise DurationError(f"{shown(text)} is not in whole seconds", f"write {write(int(seconds) + 1)}")
    if seconds > MOST_SECONDS:
        raise DurationError(f"{shown(text)} is longer than 2147483647 seconds (68 years)", "write a shorter duration, such as 72h")
    return int(seconds)


def canonical(text: str | float) -> str:
    """The one spelling: hours, minutes, seconds, none that is zero: ``60s`` -> ``1m``, ``3d`` -> ``72h``. Raises DurationError."""
    return write(parse(text))


def write(seconds: int) -> str:
    """Seconds (>= 0) in the canonical spelling."""
    parts = ((seconds // 3600, "h"), (seconds // 60 % 60, "m"), (seconds % 60, "s"))
    return "".join(f"{n}{unit}" for n, unit in parts if n) or "0s"


def write_go(seconds: int) -> str:
    """Seconds (>= 0) as Go prints them, and so as controllers store a metav1.Duration: ``10m0s``, ``1h0m0s``."""
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    if hours:
        return f"{hours}h{minutes}m{rest}s"
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
