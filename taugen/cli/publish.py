"""`taugen publish`: commits the deploy tree."""

from pathlib import Path

import click

from taugen.cli import complete, params


@click.command("publish")
@params.directory
@click.option("--ref", metavar="REF", default="HEAD", show_default=True, help="The commit to publish.")
@click.option("--branch", metavar="NAME", help="Deploy branch; default: spec.output.branch of taugen.yaml.")
@click.option("--to", metavar="REMOTE", help="URL, path or remote to publish to; default: spec.output.url, else this repository.")
@click.option(
    "--allow-cancel",
    "allow",
    metavar="RUN",
    multiple=True,
    shell_complete=complete.runs,
    help="Let the live RUN go, whose document is gone or was edited. Repeatable.",
)
@click.option("--full", is_flag=True, help="Read everything anew instead of what changed; the result is the same.")
@click.option("--dry-run", is_flag=True, help="Say what would be committed; move no branch.")
@click.option("--accept", metavar="SHA|none", help="Take a deploy branch that was rewritten (at SHA) or deleted (none).")
@params.no_color
def command(
    directory: Path,
    ref: str,
    branch: str | None,
    to: str | None,
    allow: tuple[str, ...],
    full: bool,
    dry_run: bool,
    accept: str | None,
    color: bool | None,
) -> int:
    """Publish a commit: new runs are added, cancelled ones leave, everything else stays as it is."""
    import sys
    from contextlib import nullcontext

    from taugen.load.status import Uncommitted

    # A look at every file takes as long as loading the rest of taugen: they run side by side.
    folder = params.project_folder(directory) if ref == "HEAD" else None
    with Uncommitted(folder) if folder is not None else nullcontext() as uncommitted:
        from taugen.cli.output import colored, progress, say, source_lines
        from taugen.outputs import published
        from taugen.pipeline.publish import Request, publish

        request = Request(directory, ref, branch, to, frozenset(allow), full, dry_run, accept)
        show = progress()
        try:
            outcome = publish(request, show, uncommitted)
        finally:
            show("")
    say(published.write(outcome, source_lines(outcome.tree), dry_run=dry_run, color=colored(color, sys.stderr)))
    if outcome.commit:
        click.echo(outcome.commit)
    return outcome.code
