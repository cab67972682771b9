"""Names in a document are made of the characters that they seem to be made of.

`lаne` with a Cyrillic a is another lane than `lane`, and nobody who reviews the change can see it. What changes the direction of text or
can't be seen has no place in a command or a variable either.

Breaks: `policy: {team: vіsion}` with a Ukrainian i.

Mends:

    policy: {team: vision}

Source: Unicode Technical Standard 39 (confusables); CVE-2021-42574 (bidirectional controls in source).
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.spec.rundoc import RunDoc
from taugen.validate.rules.document import _texts as texts
from taugen.words import Path, confusables, dotted
from taugen.words.regex import regex

ID = "look-alike"

_NAMES: tuple[tuple[str, str], ...] = (
    ("policy", "team"),
    ("policy", "lane"),
    ("experiment", "project"),
    ("experiment", "name"),
    ("experiment", "group"),
)
_PROSE: tuple[Path, ...] = (("name",), ("description",))
"""A name has a rule of its own; descriptions are for people, in any script."""
_UNSEEN = regex("[\0\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def check(doc: RunDoc, policy: Policy) -> Iterator[Diagnostic]:
    """Names of teams, lanes and experiments; characters that can't be seen, in any text but `name` and `description`."""
    del policy
    if texts.plain(doc.document):
        return
    seen: set[Path] = set()
    for section, key in _NAMES:
        part = getattr(doc.spec, section)
        odd = _twin(getattr(part, key) or "") if part is not None else None
        if odd is not None:
            seen.add(doc.as_typed((section, key)))
            yield doc.finding(ID, (section, key), f"{section}.{key} has {odd}", hint="type it with plain letters")
    for path, text in texts.of(doc.document.data):
        found = _UNSEEN.search(text)
        if found is None or path in seen or (path in _PROSE and found[0] != "\0"):
            continue
        message = f"{dotted(path)} has {confusables.describe(found[0])}"
        yield Diagnostic(ID, message, doc.document.span(path), dotted(path), "remove the character")


def _twin(text: str) -> str | None:
    """The first character that looks like an ASCII one and is none."""
    described = (confusables.describe(char) for char in text if not char.isascii())
    return next((words for words in described if "looks like" in words), None)
