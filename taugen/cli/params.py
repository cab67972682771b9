"""Options that several commands share, each defined once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _directory(context: click.Context, _param: click.Parameter, value: Path | None) -> Path:
    """`-C` of the command, else the one before the command, else the current folder."""
    return value or context.find_root().params.get("start") or Path()


def project_folder(directory: Path) -> Path | None:
    """The nearest folder upwards that holds taugen.yaml, found before anything of weight is loaded."""
    start = directory.resolve()
    return next((folder for folder in (start, *start.parents) if (folder / "taugen.yaml").is_file()), None)


directory = click.option(
    "-C",
    "directory",
    metavar="DIR",
    type=click.Path(path_type=Path),
    callback=_directory,
    help="Start looking for taugen.yaml in DIR (and upwards); also before the command.",
)
ref = click.option("--ref", metavar="REF", help="Read a commit instead of the working tree.")
trusted = click.option(
    "--trusted",
    metavar="REF",
    help="Judge by the policy of this commit: only the runs and their code are those of the working tree. For pull requests.",
)
strict = click.option("--strict", is_flag=True, help="Warnings fail too.")
no_color = click.option("--color/--no-color", "color", default=None, help="Colour; default: on a terminal.")
source = click.option("--from", "source", metavar="URL", help="Read a GitOps repository by its URL instead of the clone around you.")
fetch = click.option("--fetch/--no-fetch", default=True, help="Ask the remote for what is new; default: yes.")
