"""Where a report goes: stdout in one format, files in others.

In: a report and `[FORMAT:]FILE` as typed. Out: text on stdout, files. What must never happen: a file half written; a symbolic link of the
checkout followed to a place outside of it, since a pull request can bring one by the name of the report.
"""

import os
import stat
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click
from msgspec import Struct

if TYPE_CHECKING:
    from taugen.load.tree import SourceTree
    from taugen.pipeline.check import Report

FORMATS = ("text", "json", "github", "gitlab", "sarif", "junit", "markdown")
_EXTENSIONS = {".json": "json", ".sarif": "sarif", ".xml": "junit", ".md": "markdown", ".txt": "text"}
_GITLAB = "gl-code-quality"


class Checked(Protocol):
    """What was checked: its files, and its folder in the repository."""

    @property
    def tree(self) -> "SourceTree": ...  # noqa: D102 - as the class says

    @property
    def prefix(self) -> str: ...  # noqa: D102


class Target(Struct, frozen=True):
    """A format and a file, ``-`` for stdout."""

    form: str
    file: str


def targets(form: str | None, outputs: Sequence[str]) -> list[Target]:
    """What to write where; stdout gets `form`, or text if no output names it. Raises `click.UsageError`."""
    found = [_target(typed) for typed in outputs]
    printed = [one.form for one in found if one.file == "-"] + ([form] if form else [])
    if len(printed) > 1:
        raise click.UsageError(f"{' and '.join(printed)} can't share stdout: give all but one a file, such as --output {printed[1]}:FILE")
    twice = [one.file for at, one in enumerate(found) if one.file in [other.file for other in found[:at]]]
    if twice:
        raise click.UsageError(f"{twice[0]} is named by two --output")
    return found if "-" in [one.file for one in found] else [Target(chosen(form), "-"), *found]


def chosen(form: str | None) -> str:
    """`auto` is github where GitHub Actions runs, else text."""
    if form == "auto":
        return "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"
    return form or "text"


def _target(typed: str) -> Target:
    prefix, colon, file = typed.partition(":")
    if colon and prefix in FORMATS and file:
        return Target(prefix, file)
    name = Path(typed).name
    form = "gitlab" if name.startswith(_GITLAB) else _EXTENSIONS.get(Path(name).suffix)
    if form is None:
        raise click.UsageError(f"--output {typed}: its name tells no format; write FORMAT:FILE, with one of {', '.join(FORMATS)}")
    return Target(form, typed)


def emit(wanted: Sequence[Target], report: "Report", checked: Checked, *, color: bool) -> None:
    """Write a report everywhere. Raises `Refused` (exit 2) for a file that can't be written."""
    for one in wanted:
        shown = text(one.form, report, checked, color=color and one.file == "-")
        if one.file == "-":
            click.echo(shown, nl=False, color=color)
        else:
            save(one.file, shown)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary and any(one == Target("github", "-") for one in wanted):
        with open(summary, "a", encoding="utf-8") as file:
            file.write(text("markdown", report, checked, color=False))


def text(form: str, report: "Report", checked: Checked, *, color: bool) -> str:
    """A report in a format."""
    if form == "text":
        from taugen.cli.output import source_lines
        from taugen.outputs import text as people

        return people.write(report, source_lines(checked.tree), color=color)
    write: Callable[..., str] = import_module(f"taugen.outputs.{form}").write
    return write(report) if form == "json" else write(report, prefix=checked.prefix)


def save(file: str, content: str) -> None:
    """Write a file whole or not at all. Raises `Refused` (exit 2)."""
    from taugen.diag import Refused
    from taugen.load import whole

    target = Path(file)
    if link := _linked(target):
        raise Refused(f"{file} is not written: {link} is a symbolic link", hint="name a folder that is none", code=2)
    try:
        if target.exists() and not stat.S_ISREG(target.lstat().st_mode) and not target.is_symlink():
            target.write_text(content, encoding="utf-8")
            return
        whole.write(target, content.encode("utf-8"), 0o644)
    except OSError as error:
        raise Refused(f"{file} can't be written: {error.strerror}", hint="make its folder first", code=2) from None


def _linked(target: Path) -> str | None:
    """The first folder on the way from the current one that is a link. An absolute path was chosen by whoever wrote the command."""
    if target.is_absolute():
        return None
    folders = [folder for folder in target.parents if folder != Path()]
    return next((str(folder) for folder in reversed(folders) if folder.is_symlink()), None)
