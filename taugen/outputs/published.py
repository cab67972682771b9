"""What `publish` tells people: what was committed, what waits, what was held back and why."""

from taugen.outputs import text
from taugen.outputs.text import Lines
from taugen.pipeline.publish import Outcome
from taugen.words.names import printable

_LISTED = 10


def write(outcome: Outcome, lines: Lines, *, dry_run: bool = False, color: bool = False) -> str:
    """The report, without a final newline."""
    plan = outcome.plan
    out: list[str] = []
    for found in (outcome.findings, outcome.refused):
        if found:
            out.append(text.findings(found, lines, color=color))
    out += _listed("add", [w.run_id for w in plan.add])
    out += _listed("end", [f"{s.run_id} ({phase})" for s, phase in plan.end])
    out += _listed("waiting", [f"{w.run_id} (for {older.run_id}; `on_edit: replace` or `cancelled: true` settle it)" for w, older in plan.waiting])
    out += _listed("held", sorted({f"{w.file}" for w in plan.held} | {f"{w.file} (name taken by {other})" for w, other in plan.twice}))
    out += _listed("ended before", [f"{w.run_id} (bump `generation` to run it again)" for w in plan.ended_before])
    out += outcome.notes
    if outcome.older_policy:
        out.append(f"{outcome.older_policy} of {outcome.live} live runs stand under older policy, unchanged")
    if outcome.left_out:
        shown = ", ".join(printable(p) for p in outcome.left_out[:3])
        more = f" and {len(outcome.left_out) - 3} more" if len(outcome.left_out) > 3 else ""
        out.append(f"not published, because not committed: {shown}{more}")
    out.append(_verdict(outcome, dry_run=dry_run))
    return "\n".join(out)


def _listed(word: str, entries: list[str]) -> list[str]:
    shown = [f"  {word:<12} {printable(entry)}" for entry in entries[:_LISTED]]
    return shown if len(entries) <= _LISTED else [*shown, f"  {word:<12} and {len(entries) - _LISTED} more"]


def _verdict(outcome: Outcome, *, dry_run: bool) -> str:
    source = outcome.source[:12]
    if dry_run:
        return f"would commit {outcome.changes} files to {outcome.where} (from {source})"
    if outcome.commit is None:
        return f"nothing to publish: {outcome.where} is up to date with {source}"
    return f"published {source} to {outcome.where}: {outcome.changes} files, commit {outcome.commit[:12]}"
