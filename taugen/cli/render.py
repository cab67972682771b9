"""`taugen render`: the deploy tree that `publish` would make of the sources alone."""

from pathlib import Path

import click

from taugen.cli import params


@click.command("render")
@click.argument("run", required=False)
@click.option("-o", "--output", metavar="DIR|-", required=True, help="Folder to write clusters/… into; - prints the objects of RUN.")
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit 1 if the folder differs.")
@params.directory
@params.ref
@params.trusted
@params.no_color
def command(
    run: str | None, output: str, only_check: bool, directory: Path, ref: str | None, trusted: str | None, color: bool | None
) -> int:
    """Render the deploy tree into a folder, or one RUN to stdout. Nothing is written if there is an error."""
    from taugen.cli.output import colored, say, source_lines
    from taugen.diag import Severity
    from taugen.outputs import text
    from taugen.pipeline import tree
    from taugen.pipeline.check import check
    from taugen.pipeline.project import open_project

    if output == "-" and (run is None or only_check):
        raise click.UsageError("-o - prints one RUN (workspace/name, a path or an object's name) and takes no --check")
    project = open_project(directory, ref, trusted)
    report = check(project)
    errors = [d for d in report.findings if d.severity is Severity.ERROR]
    if errors:
        import sys

        say(text.findings(errors, source_lines(project.tree), color=colored(color, sys.stderr)))
        say(f"{len(errors)} error{'s' * (len(errors) > 1)}: nothing is rendered")
        return 1
    if output == "-":
        assert run is not None
        click.echo(tree.one(project, report, run), nl=False)
        return 0
    change = tree.compare(project, report, Path(output))
    if only_check:
        for line in change.lines():
            click.echo(line)
        say(change.verdict(output))
        return int(bool(change))
    change.write()
    say(change.summary(output))
    return 0
