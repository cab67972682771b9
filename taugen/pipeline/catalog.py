"""Every finding that taugen can make, with its documentation.

In: the rules' modules and taugen/data/findings.md. Out: `Entry` by id. A finding without an entry would be a message that nobody can look
up: a test compares this with the source.
"""

import re
from functools import cache
from pathlib import Path
from types import ModuleType

from msgspec import Struct

FILE = Path(__file__).resolve().parent.parent / "data" / "findings.md"
_SECTION = re.compile(r"^## (\S+)\n(\S.*)\n", re.MULTILINE)
_SEVERITY = re.compile(r"Severity\.(ERROR|WARNING|NOTE)\b")

_MADE = re.compile(r"\b(?:finding|Diagnostic)\(\s*ID\b")


class Entry(Struct, frozen=True):
    """A finding's documentation. `stage` is that of its rule, or empty; `severity` one word, or several where it depends; `summary` the
    first sentence of `text`."""

    id: str
    stage: str
    severity: str
    text: str

    @property
    def summary(self) -> str:
        """The first sentence."""
        return self.text.partition("\n\n")[0].partition(". ")[0].replace("\n", " ").rstrip(".")


@cache
def entries() -> dict[str, Entry]:
    """All of them, sorted by id."""
    found = [*_rules(), *_sections(FILE.read_text(encoding="utf-8"))]
    return {entry.id: entry for entry in sorted(found, key=lambda e: e.id)}


def _rules() -> list[Entry]:
    from taugen.validate.rules import document, objects, policy, run

    stages: tuple[tuple[str, tuple[ModuleType, ...]], ...] = (
        ("document", document.RULES), ("policy", policy.RULES), ("run", run.RULES), ("objects", objects.RULES),
    )  # fmt: skip
    return [Entry(rule.ID, stage, _severity(rule), (rule.__doc__ or "").strip()) for stage, rules in stages for rule in rules]


def _severity(rule: ModuleType) -> str:
    """As the rule's source names them; a finding that is made without one is an error."""
    source = Path(str(rule.__file__)).read_text(encoding="utf-8")
    plain = len(_MADE.findall(source)) > source.count("severity=")
    words = dict.fromkeys([*(["ERROR"] if plain else []), *_SEVERITY.findall(source)])
    return " or ".join(word.lower() for word in words) or "error"


def _sections(text: str) -> list[Entry]:
    marks = list(_SECTION.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return [Entry(mark[1], "", mark[2], text[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]
