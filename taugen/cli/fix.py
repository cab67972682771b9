"""`taugen fix`: older spellings of run documents, written as canonical ones."""

from pathlib import Path

import click

from taugen.cli import params

_PAST = {"write": "wrote", "leave": "left", "keep": "kept", "remove": "removed"}


@click.command("fix")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--check", "only_check", is_flag=True, help="Write nothing; print the changes, and exit 1 if there are any.")
@params.directory
def command(paths: tuple[Path, ...], only_check: bool, directory: Path) -> int:
    """Write the fields of run documents under their present names, comments kept; with PATHS, only in them. No run changes: what would have
    another digest is left as it is."""
    from taugen.cli.output import say
    from taugen.diag import Refused
    from taugen.pipeline.fix import fixes, write
    from taugen.pipeline.project import open_project
    from taugen.words.counts import counted

    project = open_project(directory, None, None)
    spellings = files = 0
    for fixed in fixes(project, paths):
        if only_check:
            click.echo(fixed.diff(), nl=False)
        elif fixed.changed:
            try:
                write(project, fixed)
            except OSError as error:
                raise Refused(f"{fixed.file} can't be written: {error.strerror}", hint="nothing of it was changed", code=4) from None
        for one in fixed.done:
            say(f"{one.span}: {one.message}: {one.hint if only_check else _past(one.hint)}")
        for left in fixed.left:
            say(f"{left.findings[0].span}: {counted(len(left.findings), 'older spelling')} left: {left.why}")
        spellings, files = spellings + len(fixed.done), files + fixed.changed
    if not files:
        say("nothing to change")
    else:
        verb = "would change" if only_check else "changed"
        say(f"{counted(spellings, 'spelling')} {verb} in {counted(files, 'file')}; every run stays the same")
    return int(only_check and files > 0)


def _past(hint: str) -> str:
    """A hint that was followed."""
    word, space, rest = hint.partition(" ")
    return f"{_PAST.get(word, word)}{space}{rest}"
