"""Values that stand beside a telling name and are not assigned to it: arguments, pairs, brackets, tables, sentences, the next line.

In: text of any kind. Out: where values stand that must not be seen. Here a name gives less away than before an equals sign, so that a value
counts only if it is no word: a password with letters and digits, anything else that looks random. A text in quotes that is the one argument
of a call, or the second of a pair in parentheses, needs no more than its name. What must never happen: an ordinary sentence about passwords
or tokens that can't be read any more.
"""

import re
from collections.abc import Iterator

from taugen.evidence.assigned import NOTHING, PASSWORD, SURE, TOKEN, Span, is_mixed, name_start, spelled, telling
from taugen.words.credentials import looks_random

_ENDS = r"(?P<end>passwords?|passwd|passphrase|passcode|pwd|secret|token|credentials?|api[ _-]?key|access[ _-]?key)"
_MARKS = r"(?:[ \t()\[\]{}<>|,;~#?!*:=\"'`\\]|->|\u2192|\u2014|%20|\.{2,40}|-(?=[ \t]))"
_TIME = r"(?:\d{4}-\d\d-\d\d[T ][\d:.,]{5,18}(?:Z|[+-]\d\d:?\d\d)?[ \t])?"
"""Before each line of a log, where the API server's times stand."""
_NEAR = re.compile(
    rf"{_ENDS}(?P<gap>{_MARKS}{{0,24}}(?:(?:is|was|are|be|set|to|now|equals?)\b{_MARKS}{{1,8}}){{0,4}})"
    rf"(?P<below>(?:\\?\n{_TIME}{_MARKS}{{0,40}})?)(?P<value>[^\s\"'`;|,()\[\]{{}}<>\\]{{4,2048}})(?P<after>[^\n]?)",
    re.IGNORECASE,
)
_TEXT = r"[bBrRuU]{0,2}(?P<quote>[\"'])(?P<value>[^\"'\n]{1,2048})(?P=quote)\s{0,8},?\s{0,8}\)"
_CALL = re.compile(rf"(?P<name>{_ENDS})[ \t]{{0,4}}\(\s{{0,8}}{_TEXT}", re.IGNORECASE)
_PAIR = re.compile(rf"\(\s{{0,8}}[bBrRuU]{{0,2}}[\"'](?P<name>[A-Za-z_][\w. -]{{0,80}})[\"']\s{{0,8}},\s{{0,40}}{_TEXT}", re.IGNORECASE)
_OPENS, _CLOSES = frozenset("([{<"), frozenset(")]}>")
_ENDING = frozenset(["", *"\"'`,;)]}>\\"])
"""What may follow a value that stands on a line of its own."""
_ALGORITHM = re.compile(r"(?:sha|md|aes|rsa|bcrypt|scrypt|argon|pbkdf|hmac)[\w-]*$", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"[A-Za-z_][\w.-]*[=:]")
_LONG, _SHORT, _JUDGED = 8, 6, 128
"""Characters: of a password, of one in brackets, and those that tell what a value is."""


def spans(text: str) -> Iterator[Span]:
    """Where such values stand: start and end, in no order."""
    for found in _NEAR.finditer(text):
        if (found["gap"] or found["below"]) and _is_secret(_named(text, found), found):
            yield found.span("value")
    for found in (*_CALL.finditer(text), *_PAIR.finditer(text)):
        name, value = text[name_start(text, found.start("name")) : found.end("name")], found["value"]
        sure = SURE.search(spelled(name)) or (TOKEN.search(spelled(name)) and _is_password(value, _LONG))
        if sure and telling(name, value):
            yield found.span("value")


def _named(text: str, found: re.Match[str]) -> str:
    return text[name_start(text, found.start()) : found.end("end")].lstrip("-.")


def _is_secret(name: str, found: re.Match[str]) -> bool:
    value, upper = found["value"].rstrip(".:"), spelled(name)
    if NOTHING.match(value) or _ALGORITHM.match(value):
        return False
    if found["below"] and (_ASSIGNMENT.match(value) or found["after"] not in _ENDING):
        return False  # another assignment, or the beginning of a sentence
    enclosed = found["gap"][-1:] in _OPENS and found["after"] in _CLOSES
    if PASSWORD.search(upper):
        return _is_password(value, _SHORT if enclosed else _LONG)
    token = TOKEN.search(upper) is not None and not (value.islower() or value.isupper())
    if enclosed and (token or SURE.search(upper)) and _is_password(value, _LONG) and telling(name, value):
        return True
    return (SURE.search(upper) is not None or TOKEN.search(upper) is not None) and looks_random(value[:_JUDGED])


def _is_password(value: str, least: int) -> bool:
    return len(value) >= least and is_mixed(value)
