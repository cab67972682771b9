"""The policy digest: which policy judged and shaped a run.

In: policy documents (not the Project, which shapes no run), the overlays that take part, the compiler's version. Out: 64 hex digits.
Comments, file names, the order of files and of keys don't count; a value does, also one that says what is the default anyway.
"""

from collections.abc import Iterable, Mapping

from taugen.words import Json, canonical

_WORD = "policy: v1"


def policy_digest(documents: Iterable[tuple[str, str, Json]], overlay_texts: Mapping[str, str], version: str) -> str:
    """sha256 over (kind, name, spec as typed) of all documents, the overlay files' texts by their place in the overlay, and the version."""
    listed: list[Json] = [[kind, name, _exact(spec)] for kind, name, spec in sorted(documents, key=lambda d: d[:2])]
    overlays: dict[str, Json] = dict(overlay_texts)
    return canonical.digest({"word": _WORD, "compiler": version, "documents": listed, "overlays": overlays})


def _exact(value: Json) -> Json:
    """The value with numbers that a double can't hold as text: RFC 8785 has no form for them."""
    if isinstance(value, dict):
        return {key: _exact(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_exact(inner) for inner in value]
    if isinstance(value, float) and value - value != 0:
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > canonical.MOST_INTEGER:
        return str(value)
    return value
