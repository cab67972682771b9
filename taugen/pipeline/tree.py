"""The deploy tree as files in a folder.

In: a checked project. Out: files below a folder, of which only taugen's own are touched. A file that somebody edited or that is not ours is
never overwritten: it is named.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from taugen.diag import Diagnostic, Refused, Severity, Span
from taugen.pipeline.check import Report
from taugen.pipeline.compile import Compiled
from taugen.pipeline.naming import matching
from taugen.pipeline.project import Project
from taugen.render import file
from taugen.words.counts import counted


class FolderChange(Struct):
    """What differs: `writes` and `deletes` by path relative to `folder`."""

    folder: Path
    writes: dict[str, str] = field(default_factory=dict)
    deletes: list[str] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)
    same: int = 0

    def __bool__(self) -> bool:
        return bool(self.writes or self.deletes)

    def lines(self) -> list[str]:
        """One line a difference: A added, M changed, D gone."""
        marks = {path: "M" if path in self.changed else "A" for path in self.writes} | dict.fromkeys(self.deletes, "D")
        return [f"{mark} {path}" for path, mark in sorted(marks.items())]

    def verdict(self, name: str) -> str:
        """What `--check` says."""
        if not self:
            return f"{name} is current: {counted(self.same, 'file')}"
        return f"{name} differs in {counted(len(self.writes) + len(self.deletes), 'file')}: run taugen render"

    def summary(self, name: str) -> str:
        """What was written."""
        return f"{name}: {counted(len(self.writes), 'file')} written, {len(self.deletes)} removed, {self.same} unchanged"

    def write(self) -> None:
        """Write and delete; each file appears whole or not at all."""
        for path in self.deletes:
            target = self.folder / path
            target.unlink(missing_ok=True)
            _prune(target.parent, self.folder)
        for path, text in self.writes.items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            draft = target.with_name(f".{target.name}.taugen")
            draft.write_text(text, encoding="utf-8", newline="\n")
            os.replace(draft, target)


def _prune(folder: Path, top: Path) -> None:
    while folder != top and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def texts(project: Project, report: Report) -> dict[str, str]:
    """Every file of the deploy tree: path -> text. Raises `Refused` if two objects want one path."""
    top = project.policy.project.spec.output.path.strip("/")
    out: dict[str, str] = {}
    for item in [*report.platform, *(r for one in report.compiled if not _cancelled(one) for r in one.rendered)]:
        path = f"{top}/{item.path}"
        if path in out:
            raise Refused(
                f"two objects would be written to {path}", findings=[Diagnostic("path-twice", f"{path} is wanted twice", item.span)]
            )
        out[path] = file.text(item, project.name)
    return out


def _cancelled(one: Compiled) -> bool:
    return bool(one.doc.spec.cancelled)


def compare(project: Project, wanted: Mapping[str, str], folder: Path) -> FolderChange:
    """Compare a deploy tree with a folder. Raises `Refused` (exit 4) for files that are not ours or were edited."""
    change = FolderChange(folder)
    top = folder / project.policy.project.spec.output.path.strip("/")
    there = _there(folder, top)
    trouble = []
    for path in sorted({*wanted, *there}):
        old = there.get(path)
        if old is not None and old == wanted.get(path):
            change.same += 1
            continue
        verdict = None if old is None else file.verify(old, project.name)
        if verdict == "edited":
            hint = "put the change into the source, then delete the file"
            trouble.append(Diagnostic("deploy-edited", f"{path} was edited by hand", Span(path), hint=hint))
        elif path not in wanted:
            if verdict == "ok":
                change.deletes.append(path)
        elif verdict == "foreign":
            trouble.append(Diagnostic("deploy-foreign", f"{path} is not a file of project {project.name}", Span(path), hint="move it away"))
        else:
            change.writes[path] = wanted[path]
            if old is not None:
                change.changed.add(path)
    if trouble:
        raise Refused(f"{folder} holds files that taugen must not overwrite", code=4, findings=trouble)
    return change


def _there(folder: Path, top: Path) -> dict[str, str]:
    out = {}
    for base, _, names in os.walk(top):
        for name in names:
            target = Path(base) / name
            if name.endswith(".yaml") and target.is_file() and not target.is_symlink():
                out[target.relative_to(folder).as_posix()] = target.read_text(encoding="utf-8", errors="replace")
    return out


def find(project: Project, report: Report, run: str) -> list[Compiled]:
    """The documents that RUN names: workspace/name, workspace/name/digest8, an object's name, or a path. Raises `Refused`."""
    chosen = matching([one.doc for one in report.compiled], run, project.root)
    return [one for one in report.compiled if any(one.doc is doc for doc in chosen)]


def of_run(project: Project, report: Report, run: str) -> Report:
    """The report without what was found in other runs' documents: that does not keep this one from being shown."""
    try:
        chosen = find(project, report, run)
    except Refused:
        if report.count(Severity.ERROR):
            return report  # its document may be the one that can't be read
        raise
    own = {finding for one in chosen for finding in one.findings}
    others = set(project.documents()) - {one.doc.document.file for one in chosen}
    of_others = {finding for one in report.compiled for finding in one.findings} - own
    kept = tuple(one for one in report.findings if one not in of_others and one.span.file not in others)
    return replace(report, findings=kept)


def one(project: Project, report: Report, run: str) -> str:
    """The objects of a run as one YAML stream."""
    parts = [file.text(item, project.name) for compiled in find(project, report, run) for item in compiled.rendered]
    return "---\n".join(parts)
