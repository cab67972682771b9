"""A run document that was read: its model, its digest and the way back to what the user typed.

In: `dialect` and `model`. Out: `RunDoc`, frozen. The digest is law 3: it may never change for a document that somebody has published.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from taugen.diag import Diagnostic, Severity, Span
from taugen.load.nodes import Document
from taugen.spec.model import RunSpec
from taugen.words import Path, dotted, names


class RunDoc(Struct, frozen=True):
    """One tau.yaml document.

    `spec` holds canonical names only, and only what was written (`spec.model_fields_set`); `typed` maps a canonical path to the path that
    the user typed where the two differ; `findings` are what reading it found (an error among them: the document is not compiled, but later
    rules still look at it).
    """

    document: Document
    workspace: str
    spec: RunSpec
    digest: str
    dialect: Literal["direct", "managed"] = "direct"
    typed: Mapping[Path, Path] = field(default_factory=dict)
    findings: tuple[Diagnostic, ...] = ()
    unread: frozenset[str] = frozenset()
    """Top-level sections of which something was written (misspelt or broken) that could not be read; `lost` knows which fields."""
    gone: frozenset[Path] = frozenset()
    """Canonical paths of what was written but could not be read; the empty path: something that nobody can place."""

    @property
    def file(self) -> str:
        """Path relative to the repository."""
        return self.document.file

    @property
    def folder(self) -> str:
        """Folder of the file, relative to the repository."""
        return self.document.file.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The user's name for the run."""
        return self.spec.name or ""

    @property
    def run(self) -> str:
        """`<slug>-<digest8>`: the name of every object of this run but for the attempt."""
        return names.run_name(self.name, self.digest)

    @property
    def run_id(self) -> str:
        """`<workspace>/<name>/<digest8>`."""
        return f"{self.workspace}/{self.name}/{self.digest[:8]}"

    @property
    def kind(self) -> Literal["job", "jobset", "rayjob"]:
        """The workload kind: as written, or TauGrid's inference (several workers or pip packages: rayjob; else job)."""
        run, compute, runtime = self.spec.run, self.spec.compute, self.spec.runtime
        if run is not None and run.workload_kind is not None:
            return run.workload_kind
        many = compute is not None and compute.workers is not None and compute.workers > 1
        return "rayjob" if many or (runtime is not None and runtime.pip) else "job"

    def lost(self, path: Path) -> bool:
        """Whether something at, around or below the canonical `path` was written but could not be read: it must not be reported as
        missing."""
        if not self.gone:
            return False
        return any(gone[: len(path)] == path[: len(gone)] for gone in self.gone)

    def as_typed(self, path: Path) -> Path:
        """The path that the user typed for the canonical `path`."""
        for length in range(len(path), 0, -1):
            if (moved := self.typed.get(path[:length])) is not None:
                return (*moved, *path[length:])
        return path

    def span(self, path: Path, *, key: bool = False) -> Span:
        """The place of the canonical `path`, or the nearest place around it."""
        return self.document.span(self.as_typed(path), key=key)

    def has(self, path: Path) -> bool:
        """Whether the user wrote the canonical `path`."""
        return self.document.node(self.as_typed(path)) is not None

    def finding(
        self,
        rule: str,
        path: Path,
        message: str,
        *,
        hint: str = "",
        severity: Severity = Severity.ERROR,
        origin: Span | None = None,
        key: bool = False,
    ) -> Diagnostic:
        """A finding at the canonical `path`, shown under the name that the user typed."""
        return Diagnostic(
            rule, message, self.span(path, key=key), path=dotted(self.as_typed(path)), hint=hint, severity=severity, origin=origin
        )
