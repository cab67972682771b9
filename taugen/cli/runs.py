"""`taugen runs`: every run and where it stands."""

from pathlib import Path

import click

from taugen.cli import params

_MOST = 50
_FORMS = click.Choice(["table", "json", "yaml"])


@click.command("runs")
@params.directory
@params.source
@params.fetch
@click.option("-w", "--workspace", "workspaces", multiple=True, metavar="NAME", help="Only runs of this workspace. Repeatable.")
@click.option("--cluster", "clusters", multiple=True, metavar="NAME", help="Only runs on this cluster. Repeatable.")
@click.option("--state", "states", multiple=True, metavar="STATE", help="Only runs in this state, e.g. running or failed. Repeatable.")
@click.option("--name", metavar="PATTERN", default="", help="Only runs of this name; * and ? stand for other characters.")
@click.option("--since", "--age", metavar="TIME", help="Only runs with a change since then: 24h, 7d, or a date such as 2026-05-31.")
@click.option("-n", "--limit", type=click.IntRange(min=0), help=f"How many; 0 is all. Default: {_MOST} in a table, else all.")
@click.option("-o", "--output", "form", type=_FORMS, default="table", show_default=True, help="How they are written to stdout.")
@params.no_color
def command(
    directory: Path,
    source: str | None,
    fetch: bool,
    workspaces: tuple[str, ...],
    clusters: tuple[str, ...],
    states: tuple[str, ...],
    name: str,
    since: str | None,
    limit: int | None,
    form: str,
    color: bool | None,
) -> int:
    """List runs with their state, newest change first: what is published, live and waiting, from the deploy branch, and what became of it,
    from evidence."""
    from taugen.cli import clock
    from taugen.cli.output import colored, say
    from taugen.outputs import runs as out
    from taugen.pipeline import runs, view

    now = clock.now()
    most = limit if limit is not None else _MOST if form == "table" else 0
    wanted = runs.Wanted(
        frozenset(workspaces), frozenset(clusters), runs.known_states(states), name, runs.earliest(since, now) if since else "", most
    )
    seen = view.of(directory, source, fetch=fetch)
    found = runs.listing(seen, wanted, now)
    for note in (*seen.notes, *found.notes):
        say(note)
    color = colored(color)
    click.echo(out.write(found, seen, form, now, color=color), nl=False, color=color)
    return 0
