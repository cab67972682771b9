"""`taugen advance`: retries, resumes and retires runs, as evidence says."""

from pathlib import Path

import click

from taugen.cli import params


@click.command("advance")
@params.directory
@click.option("--branch", metavar="NAME", help="Deploy branch; default: spec.output.branch of taugen.yaml.")
@click.option("--to", metavar="REMOTE", help="URL, path or remote of the deploy branch; default: spec.output.url, else this repository.")
@click.option("--dry-run", is_flag=True, help="Say what would be committed; move no branch.")
@params.no_color
def command(directory: Path, branch: str | None, to: str | None, dry_run: bool, color: bool | None) -> int:
    """Act on evidence: a failed run gets its next attempt, a run that is over leaves the deploy tree. Needs Git alone, no cluster."""
    import sys
    from datetime import UTC, datetime

    from taugen.cli.output import colored, progress, say
    from taugen.outputs import advanced
    from taugen.pipeline.advance import Request, advance

    show = progress()
    try:
        outcome = advance(Request(directory, datetime.now(UTC), branch, to, dry_run), show)
    finally:
        show("")
    say(advanced.write(outcome, dry_run=dry_run, color=colored(color, sys.stderr)))
    if outcome.commit:
        click.echo(outcome.commit)
    return outcome.code
