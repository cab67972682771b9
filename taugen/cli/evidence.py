"""`taugen evidence`: what is proved by the evidence branch, and other forms of it. Each subcommand is a module of its own."""

from importlib import import_module

import click

COMMANDS = {
    "verify": "Prove that nothing was changed and that everything is whose it claims to be.",
    "fsck": "Look for what records point to: checkpoints, whole logs, inputs.",
    "export": "Write evidence in the forms of MLflow, OpenLineage, in-toto and RO-Crate.",
}


class Commands(click.Group):
    """A group whose commands are modules, named `evidence_<command>`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they are listed above."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"taugen.cli.evidence_{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group("evidence", cls=Commands)
def command() -> None:
    """Prove and export evidence."""
