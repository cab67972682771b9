"""What a publish is asked for, and what came of it.

In: the command line; the pipeline. Out: `Request`, `Outcome`: plain values, without what is heavy to import.
"""

from pathlib import Path

from msgspec import Struct, field

from taugen.diag import Diagnostic, has_errors
from taugen.load.root import ROOT_FILE
from taugen.load.tree import GitTree
from taugen.pipeline.opening import Opened
from taugen.publish.plan import Plan
from taugen.publish.state import RunState


class Request(Struct, frozen=True):
    """What the command line asks for. `to` is a URL, a path or a remote's name instead of Project.spec.output.url; `accept` a tip that may
    replace the one seen last, or `none`."""

    directory: Path
    ref: str = "HEAD"
    branch: str | None = None
    to: str | None = None
    allow: frozenset[str] = frozenset()
    full: bool = False
    dry_run: bool = False
    accept: str | None = None


class Outcome(Struct):
    """What happened. `commit` is None if there was nothing to commit; `older_policy` is None in an incremental pass, which does not count
    it."""

    where: str
    opened: Opened
    plan: Plan = field(default_factory=Plan)
    commit: str | None = None
    findings: tuple[Diagnostic, ...] = ()
    refused: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    files: int = 0
    platform: int = 0
    live: int = 0
    restored: list[RunState] = field(default_factory=list)
    """What evidence brought back, where the branch was lost."""
    older_policy: int | None = None
    left_out: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """The commit that was published."""
        return self.opened.commit

    @property
    def tree(self) -> GitTree:
        """The files of that commit that findings are about."""
        files = sorted({finding.span.file for finding in self.findings}) or [ROOT_FILE]
        return GitTree(self.opened.repo, self.opened.commit, self.opened.prefix, files)

    @property
    def code(self) -> int:
        """The exit code: 4 refused or vanished, 1 errors held something back, else 0."""
        return 4 if self.refused else int(has_errors(self.findings))
