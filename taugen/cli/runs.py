"""`taugen runs`: every run and where it stands."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
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
    color = colored(color)
    most = limit if limit is not None else _MOST if form == "table" else 0
    wanted = runs.Wanted(
        frozenset(workspaces), frozenset(clusters), runs.known_states(states), name, runs.earliest(since, now) if since else "", most
    )
    with _all_stays():
        seen = view.of(directory, source, fetch=fetch)
        found = runs.listing(seen, wanted, now)
        text = out.write(found, seen, form, now, color=color)
    for note in (*seen.notes, *found.notes):
        say(note)
    click.echo(text, nl=False, color=color)
    return 0


@contextmanager
def _all_stays() -> Iterator[None]:
    """Nothing is looked at for garbage: of the objects that many runs need none is any before the end."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
