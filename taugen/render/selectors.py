"""Which objects a patch is for: kustomize's `target`.

In: the fields of a target. Out: `Target`, which tells whether an object is meant. Names are regular expressions that match whole, as in
kustomize; the subset that is taken has nothing that could take exponential time, since a name to match may come from anybody.
"""

import re
from collections.abc import Mapping

from msgspec import Struct, field

from taugen.render.types import Object
from taugen.words import Json
from taugen.words.regex import regex

_MOST_REPEATS = 4
_LONGEST = 500
_ALL = regex(r".*")
_TERM = regex(r"(!?)([^\s,!=()]+)(?:\s*(==?|!=)\s*([^\s,=!()]*)|\s+(in|notin)\s*\(([^()]*)\))?")


class SelectorError(ValueError):
    """A pattern or selector that can't be read; the text says why, and what is taken."""


def pattern(text: str) -> re.Pattern[str]:
    """A regular expression for a whole name. Raises SelectorError."""
    bare = re.sub(r"\\.|\[[^\]]*\]", "x", text)
    if len(text) > _LONGEST:
        raise SelectorError(f"the pattern has more than {_LONGEST} characters")
    if "(?" in bare:
        raise SelectorError("(?...) is not taken in patterns")
    if re.search(r"\)[*+{?]", bare) or "{" in bare or len(re.findall(r"[*+]", bare)) > _MOST_REPEATS:
        raise SelectorError(f"a pattern has at most {_MOST_REPEATS} of * and +, none after a bracket, and no counts")
    if re.search(r"\\[0-9A-Za-z]", text.replace("\\d", "").replace("\\w", "")):
        raise SelectorError("of the escapes with letters, \\d and \\w are taken")
    try:
        return re.compile(text, re.ASCII)
    except re.error as error:
        raise SelectorError(f"this is no regular expression: {error}") from None


class Requirement(Struct, frozen=True):
    """One term of a label selector; `negated` also holds where the key is missing."""

    key: str
    values: frozenset[str] | None
    negated: bool

    def holds(self, labels: Mapping[str, Json]) -> bool:
        """Whether labels fulfil it."""
        found = self.key in labels and (self.values is None or labels[self.key] in self.values)
        return found != self.negated


def requirements(text: str) -> tuple[Requirement, ...]:
    """A label selector in Kubernetes' notation: `a=b,c!=d,e in (f,g),h,!i`. Raises SelectorError."""
    terms: list[Requirement] = []
    rest = text.strip()
    while rest:
        found = _TERM.match(rest)
        if found is None:
            raise SelectorError(f"{rest[:40]} is no term of a selector")
        bang, key, sign, value, word, values = found.groups()
        if bang and (sign or word):
            raise SelectorError("! stands before a key alone")
        chosen = None if not sign and not word else frozenset([value] if sign else (v.strip() for v in values.split(",")))
        terms.append(Requirement(key, chosen, bool(bang) or sign == "!=" or word == "notin"))
        rest = rest[found.end() :].lstrip()
        if rest and not rest.startswith(","):
            raise SelectorError(f"a comma is missing before {rest[:40]}")
        if rest == ",":
            raise SelectorError("nothing follows the last comma")
        rest = rest[1:].lstrip()
    return tuple(terms)


class Target(Struct, frozen=True):
    """Objects by apiVersion's parts, kind, name, namespace, labels and annotations; what is left out matches all."""

    kind: re.Pattern[str] = _ALL
    group: re.Pattern[str] = _ALL
    version: re.Pattern[str] = _ALL
    name: re.Pattern[str] = _ALL
    namespace: re.Pattern[str] = _ALL
    labels: tuple[Requirement, ...] = field(default=())
    annotations: tuple[Requirement, ...] = field(default=())

    @property
    def chooses(self) -> bool:
        """Whether it means some objects of its kinds rather than all."""
        return self.name is not _ALL or self.namespace is not _ALL or bool(self.labels or self.annotations)

    def matches(self, obj: Object) -> bool:
        """Whether an object is meant; its kind is not looked at."""
        metadata = obj.get("metadata")
        meta = metadata if isinstance(metadata, dict) else {}
        group, _, version = str(obj.get("apiVersion")).rpartition("/")
        name, namespace = str(meta.get("name")), str(meta.get("namespace") or "")
        texts = ((self.group, group), (self.version, version), (self.name, name), (self.namespace, namespace))
        return (
            all(wanted is _ALL or wanted.fullmatch(text) for wanted, text in texts)
            and _hold(self.labels, meta.get("labels"))
            and _hold(self.annotations, meta.get("annotations"))
        )


def _hold(terms: tuple[Requirement, ...], found: Json) -> bool:
    labels = found if isinstance(found, dict) else {}
    return all(term.holds(labels) for term in terms)


def exactly(text: str) -> re.Pattern[str]:
    """The pattern of one name."""
    return re.compile(re.escape(text))
