"""`taugen evidence`: what is proved by the evidence branch, and other forms of it. Each subcommand is a module of its own."""

import click

from taugen.cli.group import Group

COMMANDS = {
    "verify": "Prove that nothing was changed and that everything is whose it claims to be.",
    "fsck": "Look for what records point to: checkpoints, whole logs, inputs.",
    "export": "Write evidence in the forms of MLflow, OpenLineage, in-toto and RO-Crate.",
}


@click.group("evidence", cls=Group, about=COMMANDS, prefix="evidence_")
def command() -> None:
    """Prove and export evidence."""
