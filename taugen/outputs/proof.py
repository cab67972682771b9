"""What `evidence verify` and `evidence fsck` tell: for people, or as one JSON object."""

from collections import Counter
from collections.abc import Sequence

from taugen.diag import Severity
from taugen.evidence.fsck import Fate, Found
from taugen.evidence.verify import Proof
from taugen.outputs import text
from taugen.outputs.common import dumps
from taugen.outputs.json import finding
from taugen.words import Json
from taugen.words.counts import counted
from taugen.words.names import printable

_LISTED = 50
"""Objects that are listed for people; JSON has all."""


def proof(found: Proof, name: str, tip: str | None, *, color: bool = False) -> str:
    """Findings, then a line that says what was proven."""
    out = [text.findings(found.findings, lambda _file, _line: None, color=color)] if found.findings else []
    if found.more:
        out.append(f"and {counted(found.more, 'finding')} more")
    looked = f"{counted(found.commits, 'commit')}, {counted(found.files, 'file')}, {counted(found.records, 'record')}"
    looked += f", {counted(found.signed, 'commit')} signed by keys of policy" if found.signed else ""
    errors = _errors(found)
    verdict = counted(errors, "error") if errors else "nothing was changed, and everything is whose it claims to be"
    where = printable(f"{name} at {tip[:12]}" if tip else f"{name}, which is not there")
    return "\n".join([*out, f"{where}: {looked}: {verdict}"]) + "\n"


def proof_json(found: Proof, name: str, tip: str | None) -> str:
    """`{"findings": […], "summary": {…}}`, the findings as in `check --format json`."""
    summary: dict[str, Json] = {"branch": name, "tip": tip, "commits": found.commits, "files": found.files, "records": found.records}
    summary |= {"signed": found.signed, "errors": _errors(found), "omitted": found.more}
    listed: list[Json] = [finding(one) for one in found.findings]
    return dumps({"findings": listed, "summary": summary})


def _errors(found: Proof) -> int:
    return sum(one.severity is Severity.ERROR for one in found.findings) + found.more


def objects(found: Sequence[Found], name: str) -> str:
    """What is not there, then the counts."""
    missing = [one for one in found if one.fate is not Fate.THERE]
    out = [printable(f"{one.fate:<10}  {one.pointer.what} {one.pointer.uri} of {_attempt(one)}: {one.why}") for one in missing[:_LISTED]]
    if len(missing) > _LISTED:
        out.append(f"and {len(missing) - _LISTED:,} more")
    counts = Counter(one.fate for one in found)
    told = ", ".join(f"{counts[fate]:,} {fate}" for fate in Fate if counts[fate]) or "no record names any"
    return "\n".join([*out, f"{printable(name)}: {counted(len(found), 'object')}: {told}"]) + "\n"


def objects_json(found: Sequence[Found]) -> str:
    """`{"objects": [{"attempt", "what", "uri", "fate", "why"}], "summary": {fate: count}}`."""
    listed: list[Json] = [
        {"attempt": _attempt(one), "what": one.pointer.what, "uri": one.pointer.uri, "fate": str(one.fate), "why": one.why} for one in found
    ]
    counts = Counter(one.fate for one in found)
    return dumps({"objects": listed, "summary": {str(fate): counts[fate] for fate in Fate}})


def _attempt(one: Found) -> str:
    return f"{one.pointer.attempt.of.cluster}/{one.pointer.attempt.of.workspace}/{one.pointer.attempt.object}"
