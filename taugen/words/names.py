"""Names that Kubernetes accepts, and texts that a terminal can show.

In: names as people type them. Out: object names and label values that are legal, short enough, the same on every machine, and different for
different inputs. A name that had to be changed carries a hash of the original, so `Train_A` and `train-a` never meet. Only ASCII rules
are used: a newer Unicode table must not rename anything.
"""

import hashlib
import re
from functools import lru_cache

from taugen.words.regex import regex

SLUG_LIMIT = 34
MOST_ATTEMPTS = 999
RUN_LIMIT = SLUG_LIMIT + 1 + 8
ATTEMPT_LIMIT = RUN_LIMIT + 1 + 3
"""47: Kueue's Workload name and its labels still fit (Kueue issues 9872, 10098)."""

_HASH = 8
_LABEL = regex(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_DNS1035 = regex(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
_QUALIFIED = regex(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_ENV = regex(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_NOT_SLUG = regex(r"[^a-z0-9]+")
_NOT_LABEL = regex(r"[^A-Za-z0-9_.]+")
_RUNNER = regex(r"^\s*:(?=:)|##(?=\w*\[)")
_UPPER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


@lru_cache(maxsize=4096)
def slug(name: str, limit: int = SLUG_LIMIT) -> str:
    """A DNS-1035 label of at most `limit` (>= 12) characters. Good names stay; changed or cut ones end in 8 hex digits of their sha256."""
    if len(name) <= limit and _DNS1035.fullmatch(name) and "--" not in name:
        return name
    text = _NOT_SLUG.sub("-", name.translate(_UPPER)).strip("-")
    if not text[:1].isalpha():
        text = f"r-{text}" if text else "r"
    return _with_hash(text, name, limit)


def run_name(name: str, digest: str) -> str:
    """``<slug>-<digest8>`` (at most 43 characters): the name of the run and of its ConfigMap. `digest` is the intent digest in hex."""
    return f"{slug(name)}-{digest[:8]}"


def attempt_name(run: str, attempt: int) -> str:
    """``<run>-<attempt>`` (at most 47 characters): the name of the attempt's object and Service. ValueError unless attempt is 1..999."""
    if not 1 <= attempt <= MOST_ATTEMPTS or len(run) > RUN_LIMIT:
        raise ValueError(f"no attempt {attempt} of {run}")
    return f"{run}-{attempt}"


def label_value(text: str) -> str:
    """A legal label value (at most 63 characters). Legal and empty texts stay, others end in 8 hex digits of their sha256."""
    if not text or _QUALIFIED.fullmatch(text):
        return text
    return _with_hash(_NOT_LABEL.sub("-", text).strip("-_."), text, 63)


def _with_hash(text: str, original: str, limit: int) -> str:
    digest = hashlib.sha256(original.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    head = text[: limit - _HASH - 1].rstrip("-_.")
    return f"{head}-{digest}" if head else digest


def is_dns1123_label(text: str) -> bool:
    """Lower-case letters, digits and ``-``, at most 63: namespaces, most names (apimachinery IsDNS1123Label)."""
    return _LABEL.fullmatch(text) is not None


def is_dns1123_subdomain(text: str) -> bool:
    """Lower-case letters, digits, ``-`` and ``.``, at most 253 (apimachinery IsDNS1123Subdomain; parts may be longer than 63)."""
    return len(text) <= 253 and re.fullmatch(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*", text) is not None


def is_dns1035(text: str) -> bool:
    """As a DNS-1123 label, but starts with a letter: Services, and so every attempt (apimachinery IsDNS1035Label)."""
    return _DNS1035.fullmatch(text) is not None


def is_label_key(text: str) -> bool:
    """``name`` or ``prefix/name``: a label key, an annotation key, a resource name (apimachinery IsQualifiedName)."""
    prefix, slash, name = text.rpartition("/")
    return _QUALIFIED.fullmatch(name) is not None and (not slash or is_dns1123_subdomain(prefix))


def is_label_value(text: str) -> bool:
    """Empty, or at most 63 of letters, digits, ``-``, ``_``, ``.``, a letter or digit at both ends (apimachinery IsValidLabelValue)."""
    return not text or _QUALIFIED.fullmatch(text) is not None


def is_env_name(text: str) -> bool:
    """A variable's name that every Kubernetes takes: letters, digits, ``-``, ``_``, ``.``, no digit first (apimachinery IsEnvVarName)."""
    return _ENV.fullmatch(text) is not None and text != "." and not text.startswith("..")


def printable(text: str) -> str:
    """The text with all escaped that a terminal or a CI log would act on or not show: controls, ESC, line ends, bidi marks, odd spaces, and
    the words that begin a command to a CI runner (``::add-mask::`` at the start, ``##[group]`` or ``##vso[task]`` anywhere: actions/runner
    ActionCommand.cs, Azure Pipelines logging commands)."""
    if "::" in text or "##" in text:
        text = _RUNNER.sub(lambda found: f"{found[0][:-1]}\\x{ord(found[0][-1]):02x}", text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(char: str) -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    code = ord(char)
    return short or (f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}")
