"""Options that several commands share, each defined once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

directory = click.option(
    "-C", "directory", metavar="DIR", default=".", type=click.Path(path_type=Path), help="Start looking for taugen.yaml in DIR (and upwards)."
)
ref = click.option("--ref", metavar="REF", help="Read a commit instead of the working tree.")
strict = click.option("--strict", is_flag=True, help="Warnings fail too.")
no_color = click.option("--color/--no-color", "color", default=None, help="Colour; default: on a terminal.")
