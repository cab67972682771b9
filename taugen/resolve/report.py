"""Where the deciding functions put what they find.

In: findings at canonical paths of one document. Out: `found`, and whether the run can still be made. A finding about something that was
written but could not be read is an echo of the one that reading made: it is dropped, but the run stays refused.
"""

from msgspec import Struct, field

from taugen.diag import Diagnostic, Severity, Span
from taugen.spec.rundoc import RunDoc
from taugen.words import Path


class Report(Struct):
    """Collects the findings of one document."""

    doc: RunDoc
    found: list[Diagnostic] = field(default_factory=list)
    refused: bool = False

    def error(self, rule: str, path: Path, message: str, *, hint: str = "", origin: Span | None = None) -> None:
        """The run can't be made because of what stands (or is missing) at `path`."""
        self.refused = True
        self.add(rule, path, message, hint=hint, origin=origin)

    def warn(self, rule: str, path: Path, message: str, *, hint: str = "", origin: Span | None = None) -> None:
        """Something is probably not meant so."""
        self.add(rule, path, message, hint=hint, origin=origin, severity=Severity.WARNING)

    def note(self, rule: str, path: Path, message: str, *, hint: str = "", origin: Span | None = None) -> None:
        """Something that the reader may want to know."""
        self.add(rule, path, message, hint=hint, origin=origin, severity=Severity.NOTE)

    def add(self, rule: str, path: Path, message: str, *, hint: str, origin: Span | None, severity: Severity = Severity.ERROR) -> None:
        """A finding, unless it would be an echo."""
        if not self.doc.lost(path):
            self.found.append(self.doc.finding(rule, path, message, hint=hint, origin=origin, severity=severity))
