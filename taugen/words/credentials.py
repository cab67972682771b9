"""Texts that look like credentials.

In: a text, or a name with its value. Out: what kind of credential it looks like, never the credential. Wrong alarms cost trust: a name
alone is never enough, a value under a telling name must also look like one, and a placeholder never does.

`hidden` is what findings repeat a text through.
"""

import math
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

from taugen.words.regex import regex

# Each begins where no longer text of its characters can begin, or with something that can't stand in it: a line of 200,000 characters
# is looked at once, not once for each of them.
_SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("a URL with a password", ("://",), r"(?<![a-zA-Z0-9+.-])[a-zA-Z0-9+.-]+://[^/\s:@]*:(?![$<{*])[^/\s@]+@"),
    ("a private key", ("-----BEGIN",), r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY[\s\S]*"),
    ("an AWS access key", ("AKIA", "ASIA"), r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    (
        "a GitHub token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})",
    ),
    ("a GitLab token", ("glpat-", "gldt-", "glrt-"), r"\bgl(?:pat|dt|rt)-[A-Za-z0-9_-]{18,}"),
    ("a Hugging Face token", ("hf_",), r"\bhf_[A-Za-z0-9]{20,}"),
    ("a Slack token", ("xox",), r"\bxox[abeprs]-[A-Za-z0-9-]{10,}"),
    ("a Slack webhook", ("hooks.slack.com",), r"hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/\w{10,}"),
    ("an API key", ("sk-",), r"(?<![A-Za-z0-9_-])sk-(?=[A-Za-z0-9_-]*[0-9])(?=[A-Za-z0-9_-]*[A-Z])[A-Za-z0-9_-]{20,}"),
    ("a Google API key", ("AIza",), r"\bAIza[0-9A-Za-z_-]{35}"),
    ("a Google token", ("ya29.",), r"\bya29\.[0-9A-Za-z_-]{20,}"),
    ("a JSON Web Token", ("eyJ",), r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}"),
    ("an Azure key", ("AccountKey=", "SharedAccessKey="), r"(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{20,}={0,2}"),
    ("a signed Azure URL", ("sig=",), r"[?&]sig=[A-Za-z0-9%/+]{20,}"),
    ("a signed AWS URL", ("X-Amz-Signature=",), r"X-Amz-Signature=[0-9a-f]{32,}"),
    ("a PyPI token", ("pypi-",), r"\bpypi-AgE[A-Za-z0-9_-]{30,}"),
    ("an npm token", ("npm_",), r"\bnpm_[A-Za-z0-9]{30,}"),
    ("an NVIDIA API key", ("nvapi-",), r"\bnvapi-[A-Za-z0-9_-]{30,}"),
    ("a Docker token", ("dckr_",), r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    ("a Databricks token", ("dapi",), r"\bdapi[0-9a-f]{32}"),
    ("a Stripe key", ("_live_",), r"\b[rs]k_live_[A-Za-z0-9]{16,}"),
    ("a bearer token", ("earer ",), r"\b[Bb]earer (?![$<{])[A-Za-z0-9._~+/-]{16,}=*"),
)
_DOTS = "•••"
_MARK = regex("|".join(re.escape(mark) for _, marks, _ in _SHAPES for mark in marks))
"""What every text of a known shape has in it."""
_PASSWORD = regex(r"(?:^|_)(?:PASSWORD|PASSWD|PASSPHRASE|PWD)$")
_TOKEN = regex(r"(?:^|_)(?:TOKEN|SECRET|CREDENTIALS?|APIKEY|KEY|SAS|AUTH)$")
_TOKEN_URL = regex(r"(?<![a-z])[a-z]+://([^/\s:@]{16,})@")
_PLACEHOLDER = regex(r"[$<{*]|\w+://|[./~]|(?:true|false|none|null|yes|no|on|off|auto|default|change-?me|todo|xxx+)$", re.IGNORECASE)
_ALPHABET = regex(r"[A-Za-z0-9+/_=.~:!@#%^&-]+")
_HEX = frozenset("0123456789abcdefABCDEF")
_OPTION = regex(r"""(?<![\w-])(?:-{0,2}([A-Za-z_][\w.-]{0,80})=|--([A-Za-z_][\w.-]{0,80})[ \t]{1,8})["']?([^\s"',;{}\[\]]+)""")
_SHELL = regex(r"""(?:^|[\s;&])(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(["']?)([^\s"';&]+)""")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Where texts of a known shape stand: start and end, in no order, some perhaps one in another."""
    if _MARK.search(text) is not None:
        for _, marks, pattern in _SHAPES:
            if any(mark in text for mark in marks):
                yield from (found.span() for found in _compiled(pattern).finditer(text))


def hidden(text: str) -> str:
    """The text with every credential of a known shape replaced by dots."""
    if _MARK.search(text) is None:
        return text
    for _, marks, pattern in _SHAPES:
        if any(mark in text for mark in marks):
            text = _compiled(pattern).sub(_DOTS, text)
    return _TOKEN_URL.sub(lambda found: _DOTS if looks_random(found[1]) else found[0], text) if "://" in text else text


@lru_cache(maxsize=4)
def may_hold(text: str) -> bool:
    """Whether any text of a known shape could be in `text`: a quick look before `shape`, once for all documents of a file."""
    return _MARK.search(text) is not None


def shape(text: str) -> str | None:
    """What a text of a known shape is, wherever in `text` it stands; None: nothing known."""
    for what, marks, pattern in _SHAPES:
        if any(mark in text for mark in marks) and _compiled(pattern).search(text):
            return what
    if "://" in text and (found := _TOKEN_URL.search(text)) is not None and looks_random(found[1]):
        return "a URL with a token"
    return None


def named(name: str, value: str) -> str | None:
    """What the value under a telling name is: a password, or a token, secret or key that looks random."""
    upper = name.upper().replace("-", "_").replace(".", "_")
    if _PLACEHOLDER.match(value):
        return None
    if _PASSWORD.search(upper) and len(value) >= 4:
        return "a password"
    if _TOKEN.search(upper) and looks_random(value):
        return "a token or key"
    return None


def in_shell(text: str) -> str | None:
    """What an assignment in shell lines gives away."""
    for found in _SHELL.finditer(text):
        if (what := named(found[1], found[3])) is not None:
            return what
    return None


def in_line(text: str) -> bool:
    """Whether a line of a document gives something away as an assignment or as an option of a command, wherever it stands."""
    return any(named(found[1] or found[2], found[3]) for found in _OPTION.finditer(text))


def looks_random(text: str) -> bool:
    """Long, mixed and even: the texts of generators, not of people."""
    if len(text) < 16 or not _ALPHABET.fullmatch(text):
        return False
    letters = sum(map(str.isalpha, text))
    digits = sum(map(str.isdigit, text))
    if not letters or not digits or letters + digits < 0.7 * len(text):
        return False
    if set(text) <= _HEX:
        return len(text) >= 32 and _bits(text) >= 3.0
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(text) if a.isalnum() and b.isalnum()) / len(text)
    mixed = any(c.islower() for c in text) and any(c.isupper() for c in text)
    return _bits(text) >= 3.3 and (mixed or changes > 0.25)


def _bits(text: str) -> float:
    """Shannon's entropy of the characters, in bits for each."""
    counts = (text.count(c) / len(text) for c in set(text))
    return -sum(share * math.log2(share) for share in counts)
