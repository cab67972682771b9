"""What `advance` tells people: what it did to which run and why, what waits until when, whose evidence it refused."""

from functools import partial

from taugen.advance.decide import Retry
from taugen.outputs import entries, text
from taugen.pipeline.advance import Outcome

_LISTED = 20
"""Runs that are listed; the rest is counted."""


def write(outcome: Outcome, *, dry_run: bool = False, color: bool = False) -> str:
    """The report, without a final newline: refusals, one line for each run that is concerned, the verdict last."""
    listed = partial(entries.listed, limit=_LISTED, color=color)
    out: list[str] = []
    if outcome.refused:
        out.append(text.findings(outcome.refused, lambda _file, _line: None, color=color))
    retried = [f"{state.run_id}  {action.why}" for state, action in outcome.done if isinstance(action, Retry)]
    retired = [f"{state.run_id}  {action.why}" for state, action in outcome.done if not isinstance(action, Retry)]
    out += listed("retry", retried)
    out += listed("retire", retired)
    out += listed("wait", [f"{state.run_id}  {action.why}" for state, action in outcome.waiting])
    return "\n".join([*out, _verdict(outcome, len(retried), len(retired), dry_run=dry_run)])


def _verdict(outcome: Outcome, retried: int, retired: int, *, dry_run: bool) -> str:
    counts = ((retried, "retried"), (retired, "retired"))
    done = ", ".join(f"{count} run{'s' * (count != 1)} {verb}" for count, verb in counts if count)
    refused = f"; {len(outcome.refused)} refusal{'s' * (len(outcome.refused) != 1)}" if outcome.refused else ""
    if dry_run:
        return f"dry run: {outcome.where}: {done or 'nothing'}{refused}"
    if outcome.commit is None:
        waiting = f", {len(outcome.waiting)} waiting" if outcome.waiting else ""
        return f"nothing to advance on {outcome.where}: {outcome.live} live run{'s' * (outcome.live != 1)}{waiting}{refused}"
    return f"advanced {outcome.where}: {done} (commit {outcome.commit[:12]}){refused}"
