"""Kind and name of policy documents that can't be read.

In: a text that is no YAML, or a parsed document with a wrong head. Out: what it may be. References to it are then no mistakes: the one
mistake has been told where it stands.
"""

import re
from collections.abc import Iterable

from taugen.load.nodes import Document
from taugen.policy import model
from taugen.words import names, suggest
from taugen.words.regex import regex

Key = tuple[str, str]
"""(kind, name); in `Policy.hidden` an empty kind or name may be any."""

ANY: Key = ("", "")
_HEAD = regex(r"^kind:[ \t]*[\"']?(\w+)", re.MULTILINE)
_NAME = regex(
    r"^metadata:[ \t]*(?:\{[^}\n]*?\bname:[ \t]*|(?:#.*)?\n(?:[ \t]+.*\n|[ \t]*\n)*?[ \t]+name:[ \t]*)[\"']?([\w.-]+)", re.MULTILINE
)


def scanned(text: str) -> set[Key] | None:
    """Kinds and names in a text that is no YAML; None if a part of it names none."""
    found: set[Key] = set()
    for part in re.split(r"^---.*$", text.replace("\r\n", "\n").replace("\r", "\n"), flags=re.MULTILINE):
        if not any(line.strip() and not line.startswith("#") for line in part.splitlines()):
            continue
        kinds, found_names = _HEAD.findall(part), _NAME.findall(part + "\n")
        if len(kinds) != 1 or len(found_names) != 1:
            return None
        found.add((kinds[0], found_names[0]))
    return found


def unread(text: str, documents: Iterable[Document]) -> set[Key]:
    """What stands in a text beside the documents that could be read of it."""
    found = scanned(text)
    return {ANY} if found is None else found - {guess(document) for document in documents}


def guess(document: Document) -> Key:
    """What a document is, or was meant to be: the kind as written, else the nearest; empty for what nobody can say."""
    kind, metadata = document.data.get("kind"), document.data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    meant = suggest.closest(kind, model.KINDS) if isinstance(kind, str) else None
    return meant or "", name if isinstance(name, str) and names.is_dns1123_label(name) else ""
