"""`taugen schema`: JSON Schemas of the documents; CRDs for the validation of what is rendered."""

from pathlib import Path

import click

from taugen.cli import params


@click.command("schema", options_metavar="[OPTIONS]")
@click.argument("kind", required=False, metavar="[KIND | import]")
@click.argument("files", nargs=-1, metavar="[FILE]…", type=click.Path(path_type=Path))
@click.option(
    "--write",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write all schemas (or that of KIND) into DIR.",
)
@click.option("--check", "only_check", is_flag=True, help="With --write: write nothing; exit 1 if a file differs.")
@params.directory
def command(kind: str | None, files: tuple[Path, ...], folder: Path | None, only_check: bool, directory: Path) -> int:
    """Print the JSON Schema of KIND; without KIND, list the kinds.

    `taugen schema import FILE…` adds CustomResourceDefinitions: every object of their kinds that is rendered or patched in is then checked
    against them. The
    result is kept in .taugen/schemas of the repository: commit it.
    """
    if kind == "import":
        return _import(files, directory)
    if files or (only_check and folder is None):
        raise click.UsageError("FILE goes with `taugen schema import`, --check with --write")
    return _print(kind, folder, only_check)


def _print(kind: str | None, folder: Path | None, only_check: bool) -> int:
    from taugen.cli.output import say
    from taugen.pipeline import schemas

    known = schemas.kinds()
    if kind is not None and kind not in known:
        from taugen.words.suggest import closest

        near = closest(kind, known)
        raise click.UsageError(f"no document kind {kind!r}" + (f"; did you mean {near}?" if near else f"; there are {', '.join(known)}"))
    wanted = (kind,) if kind else tuple(known)
    if folder is not None and only_check:
        stale = schemas.stale(folder, wanted)
        for path in stale:
            click.echo(path.as_posix())
        say(
            f"{len(stale)} of {len(wanted)} schemas differ: run taugen schema --write {folder}"
            if stale
            else f"{folder} is current: {len(wanted)} schemas"
        )
        return int(bool(stale))
    if folder is not None:
        changed = schemas.write(folder, wanted)
        say(f"{folder}: {len(changed)} schemas written, {len(wanted) - len(changed)} unchanged")
    elif kind is not None:
        click.echo(schemas.text(kind), nl=False)
    else:
        width = max(map(len, known))
        for name, about in known.items():
            click.echo(f"{name:<{width}}  {about}")
    return 0


def _import(files: tuple[Path, ...], directory: Path) -> int:
    from taugen.cli.output import say
    from taugen.pipeline.project import find_root
    from taugen.validate.importing import import_crds

    if not files:
        raise click.UsageError("name the files: taugen schema import FILE…")
    into = find_root(directory) / ".taugen" / "schemas"
    made = import_crds(files, into)
    for api_version, kind in made:
        click.echo(f"{api_version} {kind}")
    say(f"{len(made)} schemas in {into}: commit them")
    return 0
