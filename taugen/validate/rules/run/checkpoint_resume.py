"""What a run resumes from is a run of its own workspace.

Another workspace's checkpoints are not mounted here, and a name without its digest could mean any of several runs.

Breaks:

    checkpoint: {resume: last-week}

Mends:

    checkpoint: {resume: speech/finetune/0a1b2c3d}

Source: the form workspace/name/digest8 of a run's id.
"""

from collections.abc import Iterator

from taugen.diag import Diagnostic
from taugen.policy.set import Policy
from taugen.resolve.run import ResolvedRun
from taugen.words import Path, suggest
from taugen.words.errors import shown
from taugen.words.regex import regex

ID = "checkpoint-resume"

_RUN_ID = regex(r"([^/\s]+)/[^/\s]+/[0-9a-f]{8}")


def check(run: ResolvedRun, policy: Policy) -> Iterator[Diagnostic]:
    """`checkpoint.resume`."""
    del policy
    typed = run.checkpoint.resume if run.checkpoint is not None else "auto"
    if typed in {"auto", "never"}:
        return
    path: Path = ("checkpoint", "resume")
    found = _RUN_ID.fullmatch(typed)
    if found is None:
        near = suggest.closest(typed, ("auto", "never"))
        hint = f"write {near}" if near else "write auto, never, or a run as WORKSPACE/NAME/DIGEST8"
        yield run.doc.finding(ID, path, f"{shown(typed)} is neither auto, never nor a run", hint=hint)
    elif found[1] != run.doc.workspace:
        text = f"{typed} is a run of workspace {found[1]}, and this one is of {run.doc.workspace}"
        yield run.doc.finding(ID, path, text, hint=f"resume a run of {run.doc.workspace}")
