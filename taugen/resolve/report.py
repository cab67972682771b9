"""Where the deciding functions put what they find.

In: findings at canonical paths of one document. Out: `found`, and whether the run can still be made. A finding below a section that could not be read is an
echo of the one that reading made: it is dropped, but the run stays refused.
"""

from dataclasses import dataclass, field

from taugen.diag import Diagnostic, Severity, Span
from taugen.spec.rundoc import RunDoc
from taugen.words import Path


@dataclass(slots=True)
class Report:
    """Collects the findings of one document."""

    doc: RunDoc
    found: list[Diagnostic] = field(default_factory=list)
    refused: bool = False

    def error(self, rule: str, path: Path, message: str, *, hint: str = "", origin: Span | None = None) -> None:
        """The run can't be made because of what stands (or is missing) at `path`."""
        self.refused = True
        if not self.unread(path):
            self.found.append(self.doc.finding(rule, path, message, hint=hint, origin=origin))

    def warn(self, rule: str, path: Path, message: str, *, hint: str = "", origin: Span | None = None) -> None:
        """Something is probably not meant so."""
        self._soft(rule, path, message, hint, origin, Severity.WARNING)

    def note(self, rule: str, path: Path, message: str, *, hint: str = "", origin: Span | None = None) -> None:
        """Something that the reader may want to know."""
        self._soft(rule, path, message, hint, origin, Severity.NOTE)

    def unread(self, path: Path) -> bool:
        """Whether something at, around or below `path` was written but could not be read."""
        return self.doc.lost(path)

    def _soft(self, rule: str, path: Path, message: str, hint: str, origin: Span | None, severity: Severity) -> None:
        if not self.unread(path):
            self.found.append(self.doc.finding(rule, path, message, hint=hint, origin=origin, severity=severity))
