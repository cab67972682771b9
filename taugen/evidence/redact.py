"""Takes secrets and addresses of people out of text before it is committed.

In: text of a log, an event, an argument; the secrets that somebody knows. Out: the same text with `[redacted]` in place of each, and their
number. Every look at the text only says where something stands; what overlaps is one redaction, so that no order of looks leaves a piece
over. It is repeated until nothing is found: redacting again changes nothing. Time grows with the text. What must never happen: a piece of
a secret that is left, an ordinary line that can't be read any more.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from taugen.evidence import assigned, beside
from taugen.evidence.spellings import spellings
from taugen.words import Json, credentials

MARK = "[redacted]"
Span = tuple[int, int]

_ROUNDS = 8
_ENCODED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-=%")
_TOKEN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-=%.~")
_USER = re.compile(
    r"://(?!\[redacted\])[^\s/@:\"'<>`]*:(?!\d{1,5}(?:[/?#\s\"'`<>]|$))(?:(?!://)[^\s\"'<>`@]){1,4096}(?:@[^\s/\"'<>`@]+)*(?=@)"
)
_TOKEN_USER = re.compile(r"://(?!git@|\[redacted\])([^\s/@:\"'<>`]{1,512})@")
_LOGIN = re.compile(r"(?<!\S)(?:-u|--user|--proxy-user)[ =]?[\"']?(?!\d+:\d+(?:\s|$))([^\s:\"'/]{1,100}:[^\s\"']+)")
_COMMANDS = re.compile(
    r"(?:\bsshpass[ ]+-p[ ]?|\bmysql(?:dump|admin)?\b[^\n|]{0,200}?[ ]-p|\bredis-cli\b[^\n|]{0,200}?[ ]-a[ ]"
    r"|\b(?:docker|podman|helm|skopeo)\b[^\n|]{0,200}?[ ]-p[ ]|\blogin\s{1,20}\S{1,100}\s{1,20}password[ \t]+)[\"']?(?P<value>[^\s\"']+)"
)
_WANDB = re.compile(r"\bwandb[ ]login[ ](?:--?[\w=.:/-]{1,100}[ ]){0,4}(?P<value>[A-Za-z0-9_-]{32,})")
_FLAG = re.compile(r"--?[A-Za-z][\w.-]*")
_DSN = re.compile(r"(?<![\w.-])[\w.-]{1,64}:(?P<value>[^\s\"']{3,128})@(?:tcp|udp|unix)\(")
_SCHEME = re.compile(
    r"\b(?:bearer|basic|token|negotiate|digest|apikey|ntlm|aws4-hmac-sha256)[ \t]+(?P<value>[A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE
)
_MORE = re.compile(
    r"\bgl(?:cbt|ptt|ft|soat|oas|agent|imt)-[A-Za-z0-9_-]{16,}|\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}|\b(?:SK|AC)[0-9a-f]{32}\b"
    r"|\bkey-[0-9a-f]{32}\b|\b\d{8,10}:AA[A-Za-z0-9_-]{30,}|/api/webhooks/\d+/[A-Za-z0-9_-]{20,}|\bhv[sbr]\.[A-Za-z0-9_-]{20,}"
    r"|\b(?:dop|doo|dor)_v1_[0-9a-f]{40,}|\blin_api_[A-Za-z0-9]{20,}|\bglsa_[A-Za-z0-9_]{30,}|\br8_[A-Za-z0-9]{30,}|\bgsk_[A-Za-z0-9]{30,}"
    r"|\bpul-[0-9a-f]{40}|\bGOCSPX-[A-Za-z0-9_-]{20,}|\b1//0[A-Za-z0-9_-]{30,}|\bdp\.(?:pt|st|sa)\.[A-Za-z0-9]{30,}|\bPMAK-[A-Za-z0-9-]{40,}"
    r"|\b(?:pplx|xai)-[A-Za-z0-9]{30,}|\brubygems_[0-9a-f]{40,}|\bAGE-SECRET-KEY-1[A-Z0-9]{40,}|\bAQ[A-Za-z0-9]{2}8Q~[A-Za-z0-9._~-]{30,}"
    r"|\bsk-(?:ant|proj|or|svcacct|admin)-[A-Za-z0-9_-]{20,}|\bwandb_v1_[A-Za-z0-9_]{20,}"
    r"|\bhooks\.slack\.com/(?:services|workflows)/\S{20,}|\bEAA[A-Za-z0-9]{60,}"
)
_COLOR = re.compile(r"\x1b\[[0-9;]{0,12}[A-Za-z]")
_LABEL = re.compile(r"[?&]?[A-Za-z-]{3,20}[= ]")
_QUERY = re.compile(
    r"[?&;](?:sig|signature|code|state|key|password|passwd|pwd|secret|auth|[\w.-]{0,60}?(?:token|secret|signature|credential|apikey|api_key|key-pair-id))"
    r"=(?P<value>[^\s&\"'<>`#;]+)",
    re.IGNORECASE,
)
_BEGIN = re.compile(r"-{4,5} ?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}|-{4,5} ?BEGIN SSH2 ENCRYPTED PRIVATE KEY ?-{4,5}")
_END = re.compile(r"-{4,5} ?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_BODY = re.compile(r"(?:[^\S\n]|[A-Za-z0-9+/=|:,\\\"'.-])*(?:\n|$)")
_MAIL = re.compile(
    r"(?:@|%40|&#64;|\\u0040|[ ]?[(\[](?:at|AT)[)\]][ ]?)"
    r"(?:[\w-]{1,63}(?:\.|[ ]?[(\[](?:dot|DOT)[)\]][ ]?)){1,8}[^\W\d_]{2,24}(?![\w-])"
)
_AUTHORITY = re.compile(r"://[^\s/\"']*\Z")
_LOCAL = re.compile(r"[\w.!#$&'*+/=?^`{|}~%-]")
_SLASHED = re.compile(
    r"(?<![\w./-])(?:pass(?:word|wd|phrase)|pwd|secret|token|api[_-]?key)s?/(?P<value>[^\s\"'<>`/.,;:)\]}]{8,})(?![\w./-])", re.IGNORECASE
)
"""A name and a value with a slash between, as some programs print a login; a path goes on, or has an ending."""
_RANDOM = re.compile(
    r"(?<![A-Za-z0-9+/_-])(?!(?:GPU|MIG)(?:-[0-9a-f]{4,12}){5}\b)"  # which GPU it was
    r"(?<!sha256[-:=])(?<!sha384[-:=])(?<!sha512[-:=])(?<!SHA256:)[A-Za-z0-9+/_-]{32,}={0,2}"
)
_LONGEST_KEY = 1 << 16
"""Characters within which a private key ends."""


class Redactor:
    """Redacts text. `known` are values that must not be seen, in whatever spelling; those too short or too common to be told from ordinary
    text are hidden under telling names only."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = sorted({spelled for value in known for spelled in spellings(value)}, key=lambda text: (-len(text), text))

    def text(self, text: str) -> tuple[str, int]:
        """The text without secrets, and how many were taken out."""
        count = 0
        for _ in range(_ROUNDS):
            found = _merged(text, self._spans(text))
            if not found:
                break
            count += len(found)
            text = _replaced(text, found)
        return text, count

    def tree(self, value: Json, name: str = "") -> tuple[Json, int]:
        """JSON-shaped data with every text redacted, keys too, and values by what their keys say."""
        if isinstance(value, str):
            if name and assigned.telling(name, value) and value != MARK:
                return MARK, 1
            return self.text(value)
        if isinstance(value, list):
            # An argument after the flag that names it.
            flags = ["", *(str(item).lstrip("-") if isinstance(item, str) and _FLAG.fullmatch(item) else "" for item in value)]
            items = [self.tree(item, flag or name) for item, flag in zip(value, flags, strict=False)]
            return [item for item, _ in items], sum(count for _, count in items)
        if not isinstance(value, dict):
            return value, 0
        out: dict[str, Json] = {}
        total = 0
        pair = value.get("name") if isinstance(value.get("name"), str) else ""
        for key, inner in value.items():
            shown, first = self.text(key)
            out[shown], second = self.tree(inner, str(pair) if key == "value" else key)
            total += first + second
        return out, total

    def _spans(self, text: str) -> Iterator[Span]:
        if "\x1b" in text:
            # Colours end a word; what only looks at the text may see blanks in their place.
            text = _COLOR.sub(lambda found: " " * len(found[0]), text)
        yield from _literal(text, self._known)
        yield from _keys(text)
        yield from assigned.spans(text)
        yield from beside.spans(text)
        for start, end in credentials.spans(text):
            # URLs and private keys are looked at more closely below, so that what stands around them can still be read.
            if text[end - 1] != "@" and not text.startswith("-----", start):
                named = _LABEL.match(text, start, end)
                yield (start if named is None else named.end()), _run(text, end)
        yield from (found.span("value") for found in _SLASHED.finditer(text) if _made(found["value"]))
        yield from ((found.start(), _run(text, found.end())) for found in _MORE.finditer(text))
        yield from _logins(text)
        yield from (found.span("value") for pattern in (_QUERY, _COMMANDS, _WANDB, _DSN) for found in pattern.finditer(text))
        yield from (found.span("value") for found in _SCHEME.finditer(text) if _mixed(found["value"]))
        yield from _mails(text)
        yield from (found.span() for found in _RANDOM.finditer(text) if _random(found[0]))


def _merged(text: str, spans: Iterable[Span]) -> list[Span]:
    """Overlapping places as one, without those that were redacted before."""
    out: list[Span] = []
    for start, end in sorted(spans):
        if start >= end or text[start:end] == MARK:
            continue
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def _replaced(text: str, spans: Iterable[Span]) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], MARK]
        at = end
    return "".join([*pieces, text[at:]])


def _run(text: str, end: int) -> int:
    """The end of the token that goes on at `end`."""
    while end < len(text) and text[end] in _TOKEN:
        end += 1
    return end


def _literal(text: str, known: Iterable[str]) -> Iterator[Span]:
    """Spellings of known values, with the rest of what they are encoded in."""
    for spelled in known:
        at = text.find(spelled)
        while at >= 0:
            start, end = at, at + len(spelled)
            if all(character in _ENCODED for character in spelled):
                while end < len(text) and text[end] in _ENCODED:
                    end += 1
                while start > 0 and text[start - 1] in _ENCODED and text[start - 1] not in "=%":
                    start -= 1
            yield start, end
            at = text.find(spelled, end)


def _keys(text: str) -> Iterator[Span]:
    """Private keys, whole or cut off at either end: their lines look like nothing else."""
    at = 0
    while (begin := _BEGIN.search(text, at)) is not None:
        after = _BEGIN.search(text, begin.end())
        end = _END.search(text, begin.end(), min(begin.end() + _LONGEST_KEY, after.start() if after is not None else len(text)))
        at = end.end() if end is not None else _body(text, begin.end())
        yield begin.start(), at
    first = _END.search(text)
    if first is not None and _BEGIN.search(text, 0, first.start()) is None:
        start = first.start()
        while start > 0:
            line = text.rfind("\n", 0, start - 1) + 1
            if not _key_line(text[line:start]):
                break
            start = line
        yield start, first.end()


def _body(text: str, at: int) -> int:
    """The end of the lines that could be of a key."""
    line = text.find("\n", at)
    at = len(text) if line < 0 else line + 1
    while at < len(text):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop + 1
        if not _key_line(text[at:stop]):
            break
        at = stop
    return at


def _key_line(line: str) -> bool:
    words = line.split()
    return bool(words) and _BODY.fullmatch(line) is not None and len(words[-1]) >= 20 and len(words) <= 3


def _logins(text: str) -> Iterator[Span]:
    """Users and passwords in URLs and on command lines."""
    if "://" in text:
        yield from ((found.start() + 3, found.end()) for found in _USER.finditer(text))
        yield from (found.span(1) for found in _TOKEN_USER.finditer(text))
    yield from (found.span(1) for found in _LOGIN.finditer(text))


def _mails(text: str) -> Iterator[Span]:
    last = 0
    for found in _MAIL.finditer(text):
        start = found.start()
        if start > last + 2 and text[start - 1] == '"':
            start = max(last, text.rfind('"', max(last, start - 66, text.rfind("\n", 0, start)), start - 1))
        while start > last and _LOCAL.match(text, start - 1):
            start -= 1
        local = text[start : found.start()]
        service = local == "git" and text[found.end() : found.end() + 1] in {":", "/"}
        if local and not service and _AUTHORITY.search(text, max(0, start - 512), found.start()) is None:
            yield start, found.end()
        last = found.end()


def _mixed(value: str) -> bool:
    """Whether it is no word of a sentence."""
    return any(c.isdigit() or c in "=+/_~" for c in value) or (any(c.isupper() for c in value[1:]) and any(c.islower() for c in value))


def _made(value: str) -> bool:
    """Whether a text has upper case, lower case and digits: people seldom name a file so."""
    return any(c.isdigit() for c in value) and any(c.isupper() for c in value) and any(c.islower() for c in value)


def _random(token: str) -> bool:
    """Whether a long token is of a generator: upper case, lower case and digits that change all the time. Digests in hex and names of
    people's making are not."""
    if not _made(token):
        return False
    kinds = [0 if c.islower() else 1 if c.isupper() else 2 if c.isdigit() else 3 for c in token.rstrip("=")]
    return sum(a != b for a, b in pairwise(kinds)) >= 0.45 * (len(kinds) - 1)
