"""`taugen evidence fsck`: whether what records point to can still be read."""

from pathlib import Path

import click

from taugen.cli import params


@click.command("fsck")
@click.option(
    "--storage", "mounts", metavar="PATH=DIR", multiple=True, help="Folder DIR of this machine is PATH in the runs' containers. Repeatable."
)
@click.option("--contents", is_flag=True, help="Read files whose digest is recorded, and compare.")
@click.option("--branch", metavar="NAME", help="Branch of the evidence; default: spec.evidence.branch of taugen.yaml.")
@params.directory
@params.source
@params.fetch
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How it is written.")
def command(
    mounts: tuple[str, ...], contents: bool, branch: str | None, directory: Path, source: str | None, fetch: bool, form: str
) -> int:
    """Look for the checkpoints, whole logs and inputs that records name, in storage and in object stores. One that is gone is a fact, not
    an error: evidence outlives what it is about. Object stores need `pip install taugen[store]` and credentials in the environment."""
    from taugen.outputs import proof as out
    from taugen.pipeline import audit

    storage = {}
    for mount in mounts:
        path, equals, folder = mount.partition("=")
        if not equals or not path.startswith("/") or not folder:
            raise click.UsageError(f"--storage {mount}: write the path in the containers and a folder, such as /data=/mnt/speech")
        if not Path(folder).is_dir():
            raise click.UsageError(f"--storage {mount}: there is no folder {folder}")
        storage[path] = Path(folder)
    opened = audit.opened(directory, source, branch, fetch=fetch)
    found = audit.look(opened, storage, contents=contents)
    click.echo(out.objects_json(found) if form == "json" else out.objects(found, opened.name), nl=False)
    return 0
