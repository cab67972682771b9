"""`taugen render`: the deploy tree that `publish` would make of the sources alone."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from taugen.cli import complete, params

if TYPE_CHECKING:
    from taugen.pipeline.check import Report
    from taugen.pipeline.project import Project
    from taugen.pipeline.tree import FolderChange


@click.command("render")
@click.argument("run", required=False, shell_complete=complete.runs)
@click.option("-o", "--output", metavar="DIR|-", required=True, help="Folder to write clusters/… into; - prints the objects of RUN.")
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit 1 if the folder differs.")
@click.option("--against", metavar="BRANCH", help="On top of a deploy branch, as publish does: its runs stay as they were published.")
@params.directory
@params.ref
@params.trusted
@params.no_color
def command(
    run: str | None,
    output: str,
    only_check: bool,
    against: str | None,
    directory: Path,
    ref: str | None,
    trusted: str | None,
    color: bool | None,
) -> int:
    """Render the deploy tree into a folder, or one RUN to stdout. Nothing is written if there is an error."""
    from taugen.pipeline import tree
    from taugen.pipeline.check import check
    from taugen.pipeline.project import open_project

    if output == "-" and (run is None or only_check or against is not None):
        raise click.UsageError("-o - prints one RUN (workspace/name, a path or an object's name) and takes no --check and no --against")
    project = open_project(directory, ref, trusted)
    report = check(project)
    if against is not None:
        return _against(project, report, against, Path(output), only_check=only_check, color=color)
    if output == "-":
        assert run is not None
        if _errors(project, tree.of_run(project, report, run), color=color):
            return 1
        click.echo(tree.one(project, report, run), nl=False)
        return 0
    if _errors(project, report, color=color):
        return 1
    change = tree.compare(project, tree.texts(project, report), Path(output))
    return _done(change, output, only_check=only_check)


def _against(project: "Project", report: "Report", ref: str, folder: Path, *, only_check: bool, color: bool | None) -> int:
    """Exits 4, as publish does, if something is refused; the rest is written."""
    import sys

    from taugen.cli.output import colored, say
    from taugen.outputs import text
    from taugen.pipeline import against, published, tree

    branch = against.known(project, ref)
    if _errors(project, published.softened(report, against.live(branch)), color=color):
        return 1
    made = against.against(project, report, branch)
    for new, older in made.waiting:
        say(f"{new} waits for {older}")
    if made.refused:
        say(text.findings(made.refused, lambda _file, _line: None, color=colored(color, sys.stderr)))
    code = _done(tree.compare(project, made.texts, folder), str(folder), only_check=only_check)
    return 4 if made.refused else code


def _errors(project: "Project", report: "Report", *, color: bool | None) -> bool:
    """Say what keeps the tree from being rendered."""
    import sys

    from taugen.cli.output import colored, say, source_lines
    from taugen.diag import Severity
    from taugen.outputs import text

    errors = [d for d in report.findings if d.severity is Severity.ERROR]
    if errors:
        say(text.findings(errors, source_lines(project.tree), color=colored(color, sys.stderr)))
        say(f"{len(errors)} error{'s' * (len(errors) > 1)}: nothing is rendered")
    return bool(errors)


def _done(change: "FolderChange", name: str, *, only_check: bool) -> int:
    from taugen.cli.output import say

    if only_check:
        for line in change.lines():
            click.echo(line)
        say(change.verdict(name))
        return int(bool(change))
    change.write()
    say(change.summary(name))
    return 0
