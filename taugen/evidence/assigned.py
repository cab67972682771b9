"""Values that stand under a telling name: assignments, JSON and YAML, headers, flags, queries, environments.

In: text of any kind, also cut off or broken. Out: where values stand that their names give away. A name is looked for by its end
(`…password`, `…token`), so that each place is looked at once and the work grows with the text. What must never happen: a value that is only
partly covered.
"""

import re
from collections.abc import Iterator

from taugen.words.credentials import looks_random

Span = tuple[int, int]

_SITE = re.compile(
    r"(?P<end>passwords?|passwd|passphrase|passcode|pwd|secret|token|credentials?|api[ _-]?key|key|sas|auth|cookie|session[_-]?id|sig"
    r"|signature|authorization|pin|pass|pw|dsn|conn(?:ection)?_?str(?:ing)?)"
    r"(?P<quote>(?:\\{0,7}[\"']|%22)?)"
    r"(?P<sep>\]?[ \t]{0,24}(?:=>|:=|==?|:|%3[ADad])|[ \t]{0,4},\s{0,40}(?:-[ ])?|[ \t]{0,4}\n[ \t]{0,40}(?:-[ ])?|[ \t])[ \t]{0,24}",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"\b(?:name|key)\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?(?P<name>[A-Za-z_][\w.-]{0,80})\\{0,3}[\"']?,?"
    r"[ \t]{0,4}\n?[ \t]{0,40}\\{0,3}[\"']?val(?:ue)?\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(?P<name>[A-Za-z_][\w.-]{0,80})>(?P<value>[^<>\n]+)</", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\b(?:key|name)=\"(?P<name>[\w.-]{1,80})\"[ \t]{1,4}value=\"(?P<value>[^\"\n]+)\"", re.IGNORECASE)
_QUOTED = re.compile(r"(?:[uUbBrRfF]{1,2}(?=[\"']))?(\\{0,7})([\"'`]|%22)")
_BELOW = re.compile(r"\n[ \t]{1,40}(?P<value>[^\s:#\[{-][^\n:]{0,2000})(?=\n|$)")
_BLOCK = re.compile(r"[|>][+-]?\d?[+-]?[ \t]*\n")
_REST_OF_LINE = re.compile(r"[^\r\n]{1,2048}")
_BARE = re.compile(r"[^\s\"'`;&]{1,2048}")
_HEADER = re.compile(r"[^\r\n\"'`\\]{1,2048}")
_COMMENT = re.compile(r" #")
_HEADER_NAME = re.compile(r"authorization$|cookie$|-(?:token|key|secret|auth)$", re.IGNORECASE)
_ALWAYS_HEADER = re.compile(r"authorization$|cookie$", re.IGNORECASE)
_DOCKER = re.compile(r"[A-Za-z0-9+/]{12,}={0,2}")
"""User and password in a docker configuration."""
_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
_LONGEST_NAME = 120
_JUDGED = 128
"""Characters of a value that tell what it is."""
_LINES = 500
"""Lines of a YAML block that are looked at."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

SURE = re.compile(
    r"PASSWORDS?$|PASSWD$|PASSPHRASE$|(?:^|_)(?:PASSCODE|PWD|CREDENTIALS?|AUTHORIZATION|COOKIE|DSN|CONN(?:ECTION)?_?STR(?:ING)?"
    r"|(?:API|ACCESS|SECRET|PRIVATE|ACCOUNT|ENCRYPTION|SIGNING|MASTER|SHARED_ACCESS|SUBSCRIPTION|LICENSE|STORAGE|AUTH)_?KEY|APIKEY"
    r"|[A-Z0-9]+_SECRET|SECRET)$"
)
TOKEN = re.compile(r"(?:^|_)TOKEN$")
_MODEL_TOKEN = re.compile(
    r"(?:^|_)(?:PAD|EOS|BOS|UNK|SEP|CLS|MASK|SPECIAL|START|END|STOP|PREFIX|SUFFIX|MIDDLE|IMAGE|EOT|EOD|NEXT|FIRST|LAST|PER)_TOKEN$"
)
_LIKELY = re.compile(r"(?:^|_)(?:KEY|SAS|AUTH|SESSION_?ID|SIG|SIGNATURE|PIN)$")
PASSWORD = re.compile(r"(?:PASSWORD|PASSWD|PASSPHRASE)$")
_SHORT = re.compile(r"(?:^|_)(?:PASS|PW)$")
NOTHING = re.compile(
    r"(?:true|false|none|null|nil|undefined|yes|no|on|off|auto|default|empty|unset|not|is|was|has|must|required|missing|invalid|expired|loaded"
    r"|policy|str|string|bytes|int|optional)\b[.,:;)\]}]*$"
    r"|--[a-z][a-z-]*(?:=|$)|%[sdrqv]\W*$|\$[A-Za-z_]+\W*$|\$[{(]|<[^<>]*>?$|\{|\*{3,}|[\[<]?redacted\b|\.{3}"
    r"|(?:self|os|cls|config|cfg|args|opts|kwargs|settings|env|environ|getpass|getattr|request|secrets?)[.\[(]",
    re.IGNORECASE,
)
_PATH = re.compile(r"/[\w./-]*$")
_REFERENCE = re.compile(r"[a-z]+(?:[-./][a-z0-9]+)*$")
_CALL = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)*[(\[]")
_NUMBER = re.compile(r"[-+]?[\d.,]{1,12}[,;)\]}]*$")
_FLAG = re.compile(r"(?:^|[\s\"'\[,])-{1,2}$")


def spans(text: str) -> Iterator[Span]:
    """Where values under telling names stand: start and end, in no order, some perhaps one in another."""
    covered = 0
    for site in _SITE.finditer(text):
        # What begins inside of a value ends with it, or begins with a quote after it.
        if site.end() >= covered and (found := _assigned(text, site)):
            covered = found[1]
            yield found
    for pair in _PAIR.finditer(text):
        if found := _judged(text, pair["name"], pair.end(), whole=False, header=False):
            yield found
    for pattern in (_TAG, _ATTRIBUTE):
        for tag in pattern.finditer(text):
            if telling(tag["name"], tag["value"]):
                yield tag.span("value")


def telling(name: str, value: str) -> bool:
    """Whether a value under this name must not be seen."""
    if not value or NOTHING.match(value) or (_PATH.match(value) and not looks_random(value[:_JUDGED])):
        return False
    upper = spelled(name)
    if upper == "SECRET" and _REFERENCE.match(value):
        return False
    if SURE.search(upper):
        return value.upper() != upper
    if _MODEL_TOKEN.search(upper):
        return looks_random(value[:_JUDGED])
    if TOKEN.search(upper):
        return len(value) >= 6 and not _NUMBER.match(value) and not _CALL.match(value)
    if _SHORT.search(upper):
        return len(value) >= 6 and is_mixed(value)
    return _LIKELY.search(upper) is not None and looks_random(value.strip("\"'")[:_JUDGED])


def spelled(name: str) -> str:
    """A name as environments have it."""
    return _CAMEL.sub("_", name).upper().replace("-", "_").replace(".", "_").replace(" ", "_")


def is_mixed(value: str) -> bool:
    """Whether it has letters and digits."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def name_start(text: str, end: int) -> int:
    """Where the name begins whose ending was found."""
    start = end
    while start > 0 and end - start < _LONGEST_NAME and text[start - 1] in _NAME:
        start -= 1
    return start


def _assigned(text: str, site: re.Match[str]) -> Span | None:
    start = name_start(text, site.start())
    name = text[start : site.end("end")]
    separator = site["sep"].strip()
    dashes = len(name) - len(name.lstrip("-"))
    flag = dashes > 0 and (start == 0 or text[start - 1] in " \t\n\"'[,")
    if (not separator or separator[0] in ",-") and not flag:
        return _in_words(text, name, site)
    if start > 0 and text[start - 1] == "/" and "_auth" not in name:
        return None  # a file's name
    before = text[max(0, start - _LONGEST_NAME) : start]
    first = not before.rpartition("\n")[2].strip(" \t-\"'") and ("\n" in before or len(before) < _LONGEST_NAME)
    header = _HEADER_NAME.search(name) is not None and (":" in separator or _ALWAYS_HEADER.search(name) is not None)
    return _judged(text, name.lstrip("-."), site.end(), whole=":" in separator and first, header=header)


def _in_words(text: str, name: str, site: re.Match[str]) -> Span | None:
    """A value after its name in a sentence: only what is no word of it."""
    found = _BARE.match(text, site.end()) if site["sep"] in (" ", "\t") and not site["quote"] else None
    if found is None:
        return None
    value = found[0].rstrip(",)}].")
    upper = spelled(name)
    password = PASSWORD.search(upper) is not None and len(value) >= 8 and is_mixed(value)
    if not password and not ((SURE.search(upper) or TOKEN.search(upper)) and looks_random(value[:_JUDGED])):
        return None
    return (found.start(), found.start() + len(value)) if not NOTHING.match(value) else None


def _judged(text: str, name: str, at: int, *, whole: bool, header: bool) -> Span | None:
    """The value that begins at `at`, if it must not be seen. It may be the rest of a line of YAML (`whole`) or of a header."""
    start, end, rest = _value(text, at, whole=whole, header=header)
    value = text[start:end]
    if not telling(name, value) and not (name.lower() == "auth" and _DOCKER.fullmatch(value)):
        return None
    while rest is not None and (more := rest.match(text, end)) is not None:
        end = more.end()
    return start, end


def _value(text: str, at: int, *, whole: bool, header: bool) -> tuple[int, int, re.Pattern[str] | None]:
    """Where a value stands, and what goes on where it was only looked at in part."""
    if (quote := _QUOTED.match(text, at)) is not None:
        return (*_quoted(text, quote), None)
    if whole and (block := _BLOCK.match(text, at)) is not None:
        return block.end(), _indented(text, at, block.end()), None
    if whole and (below := _BELOW.match(text, at)) is not None:
        return *below.span("value"), None
    pattern = _HEADER if header else _REST_OF_LINE if whole else _BARE
    found = pattern.match(text, at)
    if found is None:
        return at, at, None
    if len(found[0]) >= 2048:
        return at, found.end(), pattern
    value = found[0]
    if whole and not header:
        value = _COMMENT.split(value, maxsplit=1)[0].rstrip().rstrip(",")
    return at, at + len(value.rstrip() if header or whole else value.rstrip(",)}]\\")), None


def _quoted(text: str, quote: re.Match[str]) -> Span:
    """To the same quote, with as many backslashes before it, or to the end of the line."""
    opening, start = quote[1] + quote[2], quote.end()
    if text.startswith(quote[2] * 2, start):
        close = text.find(quote[2] * 3, start + 2)
        return start + 2, close if close >= 0 else len(text)
    line = text.find("\n", start)
    line = line if line >= 0 else len(text)
    at = start
    while (found := text.find(opening, at, line)) >= 0:
        before = found
        while before > start and text[before - 1] == "\\":
            before -= 1
        if before == found:
            return start, found
        at = found + 1
    return start, line


def _indented(text: str, at: int, start: int) -> int:
    """The end of the lines of a YAML block: those that stand further in than their key."""
    line = text.rfind("\n", max(0, at - _LONGEST_NAME * 2), at) + 1
    indent = len(text[line:at]) - len(text[line:at].lstrip(" -"))
    end = start
    for _ in range(_LINES):
        stop = text.find("\n", end)
        stop = len(text) if stop < 0 else stop
        row = text[end:stop]
        if end >= len(text) or (row.strip() and len(row) - len(row.lstrip(" ")) <= indent):
            break
        end = stop + 1
    return min(end, len(text))
