"""`taugen evidence export`: evidence in the forms of others."""

from pathlib import Path

import click

from taugen.cli import complete, params

_FORMS = click.Choice(["mlflow", "openlineage", "intoto", "rocrate"])


@click.command("export")
@click.argument("run", required=False, metavar="[RUN]", shell_complete=complete.runs)
@click.option("--all", "every", is_flag=True, help="Every run that has evidence.")
@click.option("-w", "--workspace", metavar="NAME", default="", help="With --all: only runs of this workspace.")
@click.option("--as", "form", type=_FORMS, required=True, help="mlflow is a file store, the others are JSON files.")
@click.option("-o", "--output", "folder", metavar="DIR", required=True, type=click.Path(path_type=Path, file_okay=False), help="Where to.")
@params.directory
@params.source
@params.fetch
def command(run: str | None, every: bool, workspace: str, form: str, folder: Path, directory: Path, source: str | None, fetch: bool) -> int:
    """Write the attempts of RUN that have ended, or of all runs, into DIR. Equal evidence gives equal bytes.

    RUN is workspace/name, workspace/name/digest8, an object's name, or the path of a document.
    """
    from taugen.cli.output import progress, say
    from taugen.pipeline import export, view
    from taugen.words.counts import counted

    if (run is None) is not every:
        raise click.UsageError("name a RUN, or all with --all")
    if workspace and not every:
        raise click.UsageError("--workspace goes with --all")
    seen = view.of(directory, source, fetch=fetch)
    for note in seen.notes:
        say(note)
    show = progress()
    try:
        attempts = export.chosen(seen, run, workspace, directory)
        count = export.export(seen, attempts, form, folder, show)
    finally:
        show("")
    left = len(attempts) - count
    more = f"; {left:,} {'has' if left == 1 else 'have'} no record yet" if left else ""
    say(f"{counted(count, 'attempt')} {'was' if count == 1 else 'were'} written to {folder}{more}")
    return 0
