"""What a commit of the evidence branch says about its files.

In: the files that a commit adds. Out: its trailers, which follow from them, so that `verify` can make them again. What must never happen: a
trailer that a run's name or a file's content puts there.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256

from taugen.evidence.paths import Place, parse

RUN, ATTEMPT, EVENT, RECORD = "Tau-Run", "Tau-Attempt", "Tau-Event", "Tau-Record-Digest"
INTENT, SOURCE, POLICY = "Tau-Intent-Digest", "Tau-Source-Commit", "Tau-Policy-Digest"
COLLECTOR = "Tau-Collector"
PREVIOUS = "Tau-Previous"
"""Of the root of a rotated branch: the tip of the branch before it."""
DERIVED = frozenset({RUN, ATTEMPT, EVENT, RECORD, INTENT, SOURCE, POLICY})
_INTENT = re.compile(rb"^  (digest|commit|policy): ['\"]?([0-9a-f]{8,64})['\"]?$", re.MULTILINE)
_KEYS = {b"digest": INTENT, b"commit": SOURCE, b"policy": POLICY}


def needs_content(place: Place) -> bool:
    """Whether trailers about a file follow from its content, not only from its path."""
    return place.kind in ("record", "run")


def of(files: Mapping[str, bytes | None]) -> list[tuple[str, str]]:
    """The trailers that follow from the files of a commit, sorted; contents are looked at where `needs_content` says so."""
    out: set[tuple[str, str]] = set()
    for path, content in files.items():
        place = parse(path)
        if place is None:
            continue
        run = f"{place.run.workspace}/{place.run.run}"
        out.add((RUN, run))
        if place.attempt is not None:
            out.add((ATTEMPT, f"{run} {place.attempt.number}"))
        if place.kind == "event":
            out.add((EVENT, f"{run} {path.rpartition('/')[2].removesuffix('.json')}"))
        elif place.kind == "record":
            out.add((RECORD, f"{path} {sha256(content or b'').hexdigest()}"))
        elif place.kind == "run":
            out |= {(_KEYS[key], f"{run} {value.decode('ascii')}") for key, value in _INTENT.findall(content or b"")}
    return sorted(out)


def message(subject: str, trailers: Sequence[tuple[str, str]]) -> bytes:
    """A commit message. Raises `ValueError` for a trailer that would not be one line."""
    for key, value in trailers:
        if not re.fullmatch(r"[A-Za-z][A-Za-z-]*", key) or not value.isprintable():
            raise ValueError(f"{key}: {value!r} is no trailer")
    lines = "\n".join(f"{key}: {value}" for key, value in trailers)
    return f"{' '.join(subject.split()) or 'evidence'}\n\n{lines}\n".encode("utf-8", "replace")
