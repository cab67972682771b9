"""What `publish` tells people: what was committed, what waits, what was held back and why, and what to do next."""

from functools import partial

from taugen.diag import Severity
from taugen.outputs import entries, text
from taugen.outputs.text import Lines
from taugen.pipeline.outcome import Outcome
from taugen.words.counts import counted
from taugen.words.names import printable

_LISTED = 10
"""Entries of a list that are shown; the rest is counted."""


def write(outcome: Outcome, lines: Lines, *, dry_run: bool = False, color: bool = False) -> str:
    """The report, without a final newline: findings, refusals, one line for each run that is concerned, the verdict last."""
    plan = outcome.plan
    listed = partial(entries.listed, limit=_LISTED, color=color)
    out: list[str] = []
    if outcome.findings:
        out.append(text.findings(outcome.findings, lines, color=color))
    if outcome.refused:
        out.append(text.findings(outcome.refused, lambda _file, _line: None, color=color))
    out += listed("restore", [f"{s.run_id}  ({s.phase}, attempt {s.attempt})" for s in outcome.restored])
    out += listed("add", [f"{w.run_id}  ({w.file})" for w in plan.add])
    for phase, word in (("cancelled", "cancel"), ("replaced", "replace")):
        out += listed(word, [f"{s.run_id}  ({s.cluster})" for s, why in plan.end if why == phase])
    settle = "`on_edit: replace` lets the edited one take over, `cancelled: true` or --allow-cancel ends the older one"
    out += listed("wait", [f"{w.run_id}  (until {older.run_id} has ended: {settle})" for w, older in plan.waiting])
    out += listed("held back", sorted({w.file for w in plan.held}))
    out += listed("goes on", [f"{s.run_id}  (its document can't be read)" for s in plan.unread])
    out += listed("ended", [f"{w.run_id}  (does not start again: bump `generation` in {w.file} for a new run)" for w in plan.ended_before])
    out += outcome.notes
    if outcome.older_policy:
        count = f"{outcome.older_policy} of {outcome.live} live runs"
        out.append(f"{count} stand under older policy: they stay as they were submitted, new runs follow the new one")
    if outcome.left_out:
        shown = ", ".join(printable(p) for p in outcome.left_out[:3])
        more = f" and {len(outcome.left_out) - 3} more" if len(outcome.left_out) > 3 else ""
        out.append(f"not committed, so not published: {shown}{more}")
    return "\n".join([*out, _verdict(outcome, dry_run=dry_run)])


def _verdict(outcome: Outcome, *, dry_run: bool) -> str:
    plan, source = outcome.plan, outcome.source[:12]
    counts = [
        (len(outcome.restored), "run", "restored"), (len(plan.add), "run", "added"), (len(plan.end), "run", "ended"),
        (outcome.platform, "platform file", "changed"),
    ]  # fmt: skip
    done = ", ".join(f"{count} {what}{'s' * (count != 1)} {verb}" for count, what, verb in counts if count)
    problems = _problems(outcome)
    if dry_run:
        return f"dry run: {source} would publish to {outcome.where}: {done or 'nothing'}{problems}"
    if outcome.commit is None:
        return f"nothing to publish from {source} to {outcome.where}{problems}"
    return f"published {source} to {outcome.where}: {done} (commit {outcome.commit[:12]}, {counted(outcome.files, 'file')}){problems}"


def _problems(outcome: Outcome) -> str:
    """What went otherwise, for the last line: it is the one that people read."""
    held = len({w.file for w in outcome.plan.held})
    errors = sum(d.severity is Severity.ERROR for d in outcome.findings)
    counts = [
        (errors, "error", "errors"),
        (held, "document held back", "documents held back"),
        (len(outcome.refused), "refusal", "refusals"),
    ]
    found = ", ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count)
    return f"; {found}" if found else ""
