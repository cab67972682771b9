"""`taugen init`: a working GitOps repository in a folder."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from taugen.pipeline.init import Engine


@click.command("init")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", help="Name of the project; default: that of the folder.")
@click.option(
    "--engine",
    type=click.Choice(["argocd", "flux"]),
    default="argocd",
    show_default=True,
    help="What applies the manifests in the cluster.",
)
@click.option("--url", metavar="URL", help="Where the cluster will find the repository; can be written into policy/cluster.yaml later.")
def command(folder: Path, name: str | None, engine: "Engine", url: str | None) -> int:
    """Make a GitOps repository in DIR, a new or an empty folder.

    It holds policy for one cluster, a queue with a CPU and a GPU flavor, a workspace, a run that works, CI workflows and a README,
    explained line by line, as its first commit.
    """
    from taugen.cli.output import say
    from taugen.pipeline.init import FALLBACK, init

    made = init(folder, name=name, engine=engine, url=url)
    for path in made.files:
        click.echo(path)
    shown = os.path.relpath(made.folder)
    say(f"\n{shown}: {len(made.files)} files, commit {made.commit[:12]} on branch main")
    if made.fallback:
        person = f"{FALLBACK['user.name']} <{FALLBACK['user.email']}>"
        say(f"git knows no name here, so the commit is by {person}; set yours with: git config --global user.name NAME (and user.email)")
    say(f"\nNext:\n  cd {shown}\n  taugen check\n  taugen publish\nREADME.md tells the rest; lines marked CHANGE hold what only you know.")
    return 0
