"""The spellings of a known secret.

In: a value that must not be seen. Out: the texts that give it away: as it is, escaped for URLs, JSON, HTML and shells, in hex, in base64
wherever it stands in what was encoded. What must never happen: an ordinary word masked everywhere because somebody's secret is one.
"""

import base64
import html
import json
import shlex
from urllib.parse import quote, quote_plus

_SHORTEST = 6
_WORD = 10
"""Characters below which a value of letters alone may be an ordinary word, and one of digits alone an ordinary number."""


def distinct(value: str) -> bool:
    """Whether a value can be looked for in ordinary text: `train`, `8080` or `true` would be found all over."""
    return len(value) >= _SHORTEST and not (len(value) < _WORD and (value.isalpha() or value.isdecimal()))


def spellings(value: str) -> set[str]:
    """The texts to look for literally; {} for a value that is no different from ordinary words. A value of several lines is also looked
    for line by line."""
    out: set[str] = set()
    for part in {value, value.strip(), *value.splitlines()}:
        if distinct(part):
            out |= _plain(part) | _encoded(part)
    return {text for text in out if len(text) >= _SHORTEST}


def _plain(value: str) -> set[str]:
    urls = {quote(value, safe=""), quote(value), quote_plus(value)}
    escaped = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], html.escape(value), repr(value)[1:-1]}
    escaped |= {text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e") for text in (value, json.dumps(value)[1:-1])}
    shell = shlex.quote(value)
    return {value, *urls, *(_lower(url) for url in urls), *escaped, shell[1:-1] if shell.startswith("'") else shell}


def _lower(url: str) -> str:
    """With lower-case escapes."""
    first, *rest = url.split("%")
    return "%".join([first, *(part[:2].lower() + part[2:] for part in rest)])


def _encoded(value: str) -> set[str]:
    raw = value.encode("utf-8", "surrogatepass")
    out = {raw.hex(), raw.hex().upper(), raw.hex(" "), raw.hex(":")}
    twice = base64.b64encode(base64.b64encode(raw))
    for text in (*_base64(raw), *_base64(base64.b64encode(raw)), twice.decode("ascii").rstrip("=")):
        out |= {text, text.replace("+", "-").replace("/", "_"), quote(text, safe="")}
    return out


def _base64(raw: bytes) -> set[str]:
    """What base64 of any text that holds `raw` has in it, for each of the three places at which it can begin: the characters that only
    `raw` decides."""
    out = set()
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + raw).decode("ascii")
        start, end = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
        if end - start >= _SHORTEST + 2:
            out.add(whole[start:end])
    return out
