"""What a plain scalar means: the core schema of YAML 1.2, and where YAML 1.1 would have meant something else.

In: the text of an unquoted scalar. Out: its value, or the name of the trap. Nothing is converted that the conversion would change.
"""


from taugen.words import Json
from taugen.words.regex import regex

_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_INT = regex(r"[-+]?(?:0|[1-9][0-9]*)\Z|0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = regex(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z|[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
_WORDS = frozenset(("yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF"))
"""YAML 1.1 also has y and n, but next to no reader ever took them for more than letters."""
_OCTAL = regex(r"[-+]?0[0-9_]+\Z")
_BASE_60 = regex(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z")
_DATE = regex(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?\Z")
_LONGEST_INT = 40
MAY_RESOLVE = frozenset("+-.0123456789tTfF~nNyYoO")
"""First characters of the plain scalars that may be more than text; all others are text."""


def plain(value: str) -> Json:
    """The value of a plain scalar. Numbers of more than 40 digits stay text: no field holds one, and converting thousands of digits is
    slow."""
    if not value:
        return None
    first = value[0]
    if first in "+-.0123456789":
        if _INT.match(value):
            if len(value) > _LONGEST_INT:
                return value
            return int(value, 0) if value[:2] in ("0o", "0x") else int(value)
        if _FLOAT.match(value):
            return float(value.lower().replace(".inf", "inf").replace(".nan", "nan"))
        return value
    if first in "tTfF" and value in _BOOLS:
        return _BOOLS[value]
    if first in "~nN" and value in _NULLS:
        return None
    return value


def trap(value: str) -> str | None:
    """What a YAML 1.1 reader makes of the plain scalar, if that is neither the text nor what `plain` makes of it."""
    if not value or value[0] not in "yYnNoO+-0123456789":
        return None
    if value in _WORDS:
        return "true or false"
    if value[0] in "yYnNoO":
        return None
    if _OCTAL.match(value):
        return "an octal number"
    if ":" in value and _BASE_60.match(value):
        return "a number in base 60"
    return "a date" if "-" in value and _DATE.match(value) else None
