"""`taugen show`: everything that is known of a run."""

from pathlib import Path

import click

from taugen.cli import complete, params


@click.command("show")
@click.argument("run", metavar="RUN", shell_complete=complete.runs)
@params.directory
@params.source
@params.fetch
@click.option("-o", "--output", "form", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True, help="Format.")
@params.no_color
def command(run: str, directory: Path, source: str | None, fetch: bool, form: str, color: bool | None) -> int:
    """Show a run: why it waits or failed, its attempts and what happened to each, checkpoints, usage, where logs are, what follows.

    RUN is workspace/name, workspace/name/digest8, an object's name, or the path of a document.
    """
    from taugen.cli import clock
    from taugen.cli.output import colored, say
    from taugen.outputs import shown as out
    from taugen.pipeline import shown, view, which

    now = clock.now()
    seen = view.of(directory, source, fetch=fetch)
    for note in seen.notes:
        say(note)
    key, *others = which.named(seen, run, directory).runs
    found = shown.shown(seen, key, now, others)
    color = colored(color)
    click.echo(out.write(found, seen, form, now, color=color), nl=False, color=color)
    return 0
