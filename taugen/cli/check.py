"""`taugen check`: every problem in runs and policy."""

from pathlib import Path

import click

from taugen.cli import params


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@params.directory
@params.ref
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How findings are written to stdout."
)
@params.strict
@params.no_color
def command(paths: tuple[Path, ...], directory: Path, ref: str | None, form: str, strict: bool, color: bool | None) -> int:
    """Check runs and policy; with PATHS, only the runs in them. Exits 1 if there is an error."""
    from taugen.cli.output import colored, source_lines
    from taugen.outputs import json, text
    from taugen.pipeline.check import check
    from taugen.pipeline.project import open_project

    project = open_project(directory, ref)
    report = check(project, paths)
    out = json.write(report) if form == "json" else text.write(report, source_lines(project.tree), color=colored(color))
    click.echo(out, nl=False)
    return int(report.failed(strict=strict))
