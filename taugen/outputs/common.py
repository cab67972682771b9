"""What the writers for machines share.

In: findings and names. Out: their order of weight, their stable fingerprints, their paths from the top of the repository, JSON that no
terminal and no CI runner acts on.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from taugen.diag import Diagnostic, Severity
from taugen.words import Json
from taugen.words.regex import regex

_WEIGHT = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}
_ESCAPED = regex(r"##(?=\w*\[)|[^\x20-\x7e\n]")
_SHIPPED = "taugen/overlays/"


def by_weight(findings: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Errors first, then warnings, then notes; each in the order in which they came: what a limit cuts off weighs least."""
    return sorted(findings, key=lambda d: _WEIGHT[d.severity])


def fingerprints(findings: Sequence[Diagnostic]) -> list[str]:
    """A hex digest for each finding that outlives edits elsewhere in the file: of the rule, the file, the field and, where these are equal,
    which of them it is. The line takes no part."""
    seen: Counter[tuple[str, str, str]] = Counter()
    out = []
    for d in findings:
        key = (d.rule, d.span.file, d.path)
        text = "\0".join([*key, str(seen[key])])
        seen[key] += 1
        out.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
    return out


def located(file: str, prefix: str) -> str:
    """A file from the top of the repository: `prefix` is where taugen.yaml stands in it. Files of other repositories (their label holds
    ``//``) and shipped ones stay as they are."""
    return file if not prefix or "//" in file or file.startswith(_SHIPPED) else f"{prefix}/{file}"


def dumps(value: Json) -> str:
    """JSON with two-space indent and a final newline. Every character that a terminal acts on or hides is escaped, and so is what starts a
    command of a CI runner; the values stay the same."""
    try:
        text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    except (UnicodeEncodeError, OverflowError):  # halves of characters, and numbers of more than 64 bits: both are JSON
        text = json.dumps(value, indent=2, ensure_ascii=False)
    # Most texts have nothing of the kind, and looking for each is much quicker than the pattern.
    harmless = text.isascii() and "##" not in text and "\x7f" not in text
    return (text if harmless else _ESCAPED.sub(_escape, text)) + "\n"


def _escape(found: re.Match[str]) -> str:
    text = found[0]
    if text == "##":
        return "#\\u0023"
    return text if text.isprintable() else json.dumps(text)[1:-1]
