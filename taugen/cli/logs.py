"""`taugen logs`: what a run printed."""

from pathlib import Path

import click

from taugen.cli import complete, params


@click.command("logs")
@click.argument("run", metavar="RUN", shell_complete=complete.runs)
@params.directory
@params.source
@params.fetch
@click.option("-f", "--follow", is_flag=True, help="Go on with what comes, until the attempt has ended.")
@click.option("--attempt", type=click.IntRange(1, 999), help="Which attempt; default: the newest.")
@click.option("--pod", metavar="NAME", default="", help="Only this pod.")
@click.option("-c", "--container", metavar="NAME", default="", help="Only this container.")
@click.option("--tail", type=click.IntRange(min=0), metavar="N", help="Only the last N lines of each container.")
def command(
    run: str,
    directory: Path,
    source: str | None,
    fetch: bool,
    follow: bool,
    attempt: int | None,
    pod: str,
    container: str,
    tail: int | None,
) -> int:
    """Print the log of a run's newest attempt, as the collector committed it: redacted, the last 256 KiB of every few minutes.

    RUN is workspace/name, workspace/name/digest8, an object's name (of an attempt: that attempt), or the path of a document.
    """
    from taugen.cli import clock
    from taugen.cli.output import say
    from taugen.pipeline import logs, view, which
    from taugen.words.names import printable

    seen = view.of(directory, source, fetch=fetch)
    for note in seen.notes:
        say(note)
    named = which.named(seen, run, directory)
    key = named.runs[0]
    asked = logs.Asked(attempt if attempt is not None else named.attempt, pod, container, tail)
    if follow:
        lines = logs.followed(lambda: view.of(directory, source, fetch=fetch), key, asked, clock.wait)
    else:
        lines = logs.printed(seen, logs.attempt_of(seen, key, asked)[0], asked)
    empty = True
    for line in lines:
        click.echo(printable(line))
        empty = False
    if empty:
        say(f"no log of {key.workspace}/{key.run} is committed yet")
    return 0
